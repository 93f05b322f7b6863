#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"

namespace ticopd::app {

CLI::Validator number_above_zero() {
  const auto check = [](std::string& text) -> std::string {
    const auto value = parse_number<double>(text);
    if (value && std::isfinite(*value) && *value > 0) return {};
    return fmt::format("{}: allowed is a number above 0", text);
  };
  return {check, "NUMBER"};
}

CLI::Validator one_of(std::vector<std::string_view> words) {
  const auto check = [words = std::move(words)](std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return {};
    const std::string_view near = nearest(text, words);
    return fmt::format("{}: allowed {} {}{}", text, words.size() == 1 ? "is" : "are",
                       fmt::join(words, ", "),
                       near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near));
  };
  return {check, ""};
}

}  // namespace ticopd::app
