#include "ticopd/report/text.hpp"

#include <algorithm>
#include <set>

namespace ticopd {
namespace {

// The offset in bytes of character number `n`.
std::size_t offset(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  for (; n > 0 && at < text.size(); --n) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

}  // namespace

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
  std::string cell = plain(text);
  // A spreadsheet takes a cell that begins so for a formula, and would run it.
  const bool formula = cell.find_first_of("=+-@") == 0;
  if (!formula && cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string out = formula ? "\"'" : "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace ticopd
