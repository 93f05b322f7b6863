#include "ticopd/system/text.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace ticopd {
namespace {

// The length in bytes of the code point at the start of `text`; 0 if it is not valid UTF-8.
// Overlong forms and surrogates are invalid, as in every XML reader.
std::size_t code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(1);
  const bool outside = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return outside ? 0 : length;
}

// U+0080 ... U+009F are control characters too, and some terminals act on them.
bool is_control(std::string_view point) {
  const auto first = static_cast<unsigned char>(point[0]);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && static_cast<unsigned char>(point[1]) < 0xa0);
}

enum class Part { text, control, invalid };

// Calls use(part, bytes) for one code point or invalid byte after the other.
template <class Use>
void take_apart(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t length = code_point(text);
    const std::string_view point = text.substr(0, length == 0 ? 1 : length);
    use(length == 0 ? Part::invalid : is_control(point) ? Part::control : Part::text, point);
    text.remove_prefix(point.size());
  }
}

}  // namespace

bool is_utf8(std::string_view text) {
  bool valid = true;
  take_apart(text, [&](Part part, std::string_view) { valid = valid && part != Part::invalid; });
  return valid;
}

std::string plain(std::string_view text) {
  std::string out;
  take_apart(text, [&](Part part, std::string_view point) {
    if (part == Part::text)
      out += point;
    else
      out += part == Part::control ? ' ' : '?';
  });
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  take_apart(text, [&](Part part, std::string_view point) {
    if (part == Part::text || point == "\n" || point == "\t")
      out += point;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(point.back()));
  });
  return out;
}

std::string visible(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c >= ' ' && c < '\x7f')
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace ticopd
