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

// Characters that cannot be seen, and those that turn the order of the text around: with them a
// name can look like another one. U+00A0, U+00AD, U+200B ... U+200F, U+2028 ... U+202F,
// U+2060 ... U+206F and U+FEFF. Joiners within emoji and Indic words are among them; they are rare
// in names, and stay readable.
bool is_invisible(std::string_view point) {
  if (point == "\xc2\xa0" || point == "\xc2\xad" || point == "\xef\xbb\xbf") return true;
  if (point.size() != 3 || !point.starts_with("\xe2")) return false;
  const auto second = static_cast<unsigned char>(point[1]);
  const auto third = static_cast<unsigned char>(point[2]);
  if (second == 0x80) return (third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xaf);
  return second == 0x81 && third >= 0xa0 && third <= 0xaf;
}

// The number of a code point, for a person to look it up.
unsigned number_of(std::string_view point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(point[i]); };
  if (point.size() == 1) return byte(0);
  if (point.size() == 2) return (byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu);
  return (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
}

enum class Part { text, invisible, control, invalid };

// Calls use(part, bytes) for one code point or invalid byte after the other.
template <class Use>
void take_apart(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t length = code_point(text);
    const std::string_view point = text.substr(0, length == 0 ? 1 : length);
    use(length == 0           ? Part::invalid
        : is_control(point)   ? Part::control
        : is_invisible(point) ? Part::invisible
                              : Part::text,
        point);
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
      out += part == Part::invalid ? '?' : ' ';
  });
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  take_apart(text, [&](Part part, std::string_view point) {
    if (part == Part::text || point == "\n" || point == "\t")
      out += point;
    else if (part == Part::invisible)
      out += fmt::format("\\u{:04x}", number_of(point));
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(point.back()));
  });
  return out;
}

}  // namespace ticopd
