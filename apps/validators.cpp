#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/commands.hpp"
#include "ticopd/data/number.hpp"

namespace ticopd::app {

CLI::Validator number_above_zero() {
  const auto check = [](std::string& text) -> std::string {
    const auto value = parse_number<double>(text);
    if (value && std::isfinite(*value) && *value > 0) return {};
    return fmt::format("{}: allowed is a number above 0", text);
  };
  return {check, "NUMBER"};
}

}  // namespace ticopd::app
