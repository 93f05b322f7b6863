#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/report/report.hpp"

namespace ticopd {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

bool at_least_as_good(double value, const Target& target) {
  return higher_is_better(target.metric) ? value >= target.value : value <= target.value;
}

// The best value that a run logged; the worst possible value if it logged none.
double best(const Series& run, std::string_view metric) {
  const bool higher = higher_is_better(metric);
  double value = higher ? -inf : inf;
  for (const auto& v : run.column(metric))
    if (v && !std::isnan(*v)) value = higher ? std::max(value, *v) : std::min(value, *v);
  return value;
}

// Rounds to two digits, up or down. The result is parsed from text, so that it prints as short as
// people would write it.
double rounded(double value, bool up) {
  const int exponent = static_cast<int>(std::floor(std::log10(value))) - 1;
  const double digits = value / std::pow(10.0, exponent);
  const auto nearest_to = [&](double whole) {
    return parse_number<double>(fmt::format("{}e{}", whole, exponent)).value_or(value);
  };
  // The quotient is not exact, so try neighbouring candidates, the tightest first.
  const double first = up ? std::floor(digits) : std::ceil(digits);
  for (int step = 0; step < 3; ++step) {
    const double candidate = nearest_to(first + (up ? step : -step));
    if (up ? candidate >= value : candidate <= value) return candidate;
  }
  return value;
}

}  // namespace

Target parse_target(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string metric = text.substr(0, equals);
  require_metric("target", metric);
  const auto value = equals == std::string::npos
                         ? std::nullopt
                         : parse_number<double>(trimmed(std::string_view(text).substr(equals + 1)));
  if (!value || !std::isfinite(*value))
    throw UsageError(
        fmt::format("target \"{}\": expected METRIC=VALUE, such as accuracy_min=0.9", text));
  return {metric, *value};
}

std::vector<Target> default_targets(std::span<const Series> runs) {
  std::vector<Target> targets;
  for (const char* metric : {"loss_max", "loss_local", "accuracy_min"}) {
    const bool higher = higher_is_better(metric);
    std::vector<double> values;
    bool everywhere = !runs.empty();
    for (const Series& run : runs) {
      values.push_back(best(run, metric));
      everywhere = everywhere && run.column(metric).back().has_value();
    }
    if (!everywhere) continue;
    std::ranges::sort(values, [&](double a, double b) { return higher ? a > b : a < b; });
    const double middle = values[(values.size() - 1) / 2];
    if (std::isfinite(middle) && middle > 0) targets.push_back({metric, rounded(middle, !higher)});
  }
  return targets;
}

std::optional<Reached> reached(const Series& run, const Target& target) {
  const Series::Column& column = run.column(target.metric);
  const Series::Column& rounds = run.column("iteration");
  for (std::size_t row = 0; row < column.size(); ++row)
    if (rounds[row] > 0 && column[row] && at_least_as_good(*column[row], target))
      return Reached{static_cast<std::uint32_t>(*rounds[row]),
                     run.column("bits_payload")[row].value_or(0) / 1e6,
                     run.column("seconds")[row].value_or(0)};
  return std::nullopt;
}

}  // namespace ticopd
