#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ticopd {

inline constexpr std::string_view blanks = " \t\r";

inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The whole text as a number, whatever the locale; a leading + is allowed, as LIBSVM labels have
// it.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('+') || text.empty()) return std::nullopt;
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Cuts the first line off `text`, without its end.
inline std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Cuts the first cell off a line of CSV without quotes.
inline std::string_view take_cell(std::string_view& line) {
  const auto comma = line.find(',');
  const std::string_view cell = line.substr(0, comma);
  line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  return cell;
}

}  // namespace ticopd
