#include "ticopd/report/text.hpp"

#include <algorithm>
#include <set>

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

// The offset in bytes of character number `n`.
std::size_t offset(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  for (; n > 0 && at < text.size(); --n) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

}  // namespace

std::string plain(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = code_point(text);
    const unsigned char first = static_cast<unsigned char>(text[0]);
    // U+0080 ... U+009F are control characters too, and some terminals act on them.
    const bool second_set =
        first == 0xc2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0;
    if (length == 0)
      out += '?';
    else if (first < 0x20 || first == 0x7f || second_set)
      out += ' ';
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

std::string shortened(std::string_view text, std::size_t width) {
  return shortened(text, width, width / 2);
}

std::string shortened(std::string_view text, std::size_t width, std::size_t head) {
  const std::size_t all = characters(text);
  if (all <= width) return std::string(text);
  if (width == 0) return {};
  head = std::min(head, width - 1);
  return std::string(text.substr(0, offset(text, head))) + "…" +
         std::string(text.substr(offset(text, all - (width - 1 - head))));
}

std::vector<std::string> shortened_apart(std::span<const std::string> labels, std::size_t width) {
  const auto cut = [&](std::size_t head) {
    std::vector<std::string> all;
    for (const std::string& label : labels) all.push_back(shortened(label, width, head));
    return all;
  };
  const auto different = [](const std::vector<std::string>& all) {
    return std::set<std::string>(all.begin(), all.end()).size();
  };
  std::vector<std::string> best = cut(width / 2);
  for (std::size_t head = width; head-- > 0;)
    if (auto other = cut(head); different(other) > different(best)) best = std::move(other);
  return best;
}

std::string padded_left(std::string_view text, std::size_t width) {
  const std::size_t have = characters(text);
  return std::string(have < width ? width - have : 0, ' ') + std::string(text);
}

std::string padded_right(std::string_view text, std::size_t width) {
  const std::size_t have = characters(text);
  return std::string(text) + std::string(have < width ? width - have : 0, ' ');
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace ticopd
