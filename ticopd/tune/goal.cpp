#include "ticopd/tune/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/report/series.hpp"

namespace ticopd {
namespace {

void require_measured(const std::string& metric, MetricLevel level) {
  require_metric("tune.metric", metric);
  if (const MetricInfo& info = *find_metric(metric); !measured_at(info, level))
    throw ConfigError(
        fmt::format("tune.metric = \"{}\": log.level = \"{}\" does not measure it; allowed: "
                    "log.level = \"{}\", or another metric",
                    metric, name_of(level), name_of(info.level)));
}

Goal::Kind kind_of(const std::string& text, const std::string& word) {
  if (word == "bits_to") return Goal::Kind::bits_to;
  if (word == "iterations_to") return Goal::Kind::iterations_to;
  if (word == "seconds_to")
    throw ConfigError(
        fmt::format("tune.metric = \"{}\": seconds differ from one run to the next, so the search "
                    "could be neither repeated nor resumed; allowed are bits_to, iterations_to",
                    text));
  static constexpr std::string_view words[] = {"bits_to", "iterations_to"};
  throw ConfigError(not_allowed("tune.metric", word, words));
}

// The number after "bits_to:accuracy_min=".
double target_of(const std::string& text, const std::string& metric, const std::string& number) {
  const auto target = parse_number<double>(number);
  const bool share = metric.starts_with("accuracy");
  if (target && std::isfinite(*target) && (!share || (*target > 0 && *target <= 1))) return *target;
  throw ConfigError(fmt::format("tune.metric = \"{}\": {} = \"{}\"; allowed is {}", text, metric,
                                number, share ? "a number above 0, at most 1" : "a finite number"));
}

}  // namespace

Goal Goal::parse(std::string text, MetricLevel level) {
  if (text.empty()) text = level == MetricLevel::local ? "loss_local" : "loss_max";
  Goal goal{.kind = Kind::at_end, .text = text, .metric = text};
  const std::size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  if (colon == std::string::npos && word != "bits_to" && word != "iterations_to" &&
      word != "seconds_to") {
    require_measured(goal.metric, level);
    return goal;
  }
  goal.kind = kind_of(text, word);
  const std::size_t equals = text.find('=');
  if (colon == std::string::npos || equals == std::string::npos || equals < colon)
    throw ConfigError(
        fmt::format("tune.metric = \"{}\": allowed is {}:METRIC=VALUE, such as "
                    "bits_to:accuracy_min=0.95",
                    text, word));
  goal.metric = text.substr(colon + 1, equals - colon - 1);
  require_measured(goal.metric, level);
  goal.target = target_of(text, goal.metric, text.substr(equals + 1));
  return goal;
}

bool Goal::reached(const Metrics& m) const {
  const std::optional<double> value = value_of(m, metric);
  return value && (higher_is_better(metric) ? *value >= target : *value <= target);
}

double Goal::cost_of(const Metrics& m) const {
  return kind == Kind::bits_to ? m.bits_payload : m.iteration;
}

double Goal::score(double value, double at_end) const {
  if (std::isnan(value)) return INFINITY;
  if (!has_target()) return higher_is_better(metric) ? -value : value;
  const double beyond = higher_is_better(metric) ? at_end - target : target - at_end;
  if (std::isinf(value)) return std::max(0.0, -beyond);
  // Costs are counted in logged rounds, so many trials share one: those that came further beyond
  // the target go first, by less than any difference in cost.
  const double further = std::max(0.0, beyond) / (1 + std::abs(beyond));
  return -1 / (1 + value) * (1 + 1e-9 * further);
}

double median(std::span<const double> values) {
  if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) return NAN;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] / 2 + sorted[half] / 2;
}

}  // namespace ticopd
