#include "ticopd/run/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

template <auto member>
std::optional<double> take(const Metrics& m) {
  return m.*member;
}

std::vector<MetricInfo>& table() {
  using enum Better;
  using enum ColumnPresence;
  using M = Metrics;
  constexpr auto rows = MetricLevel::rows, local = MetricLevel::local, full = MetricLevel::full;
  static std::vector<MetricInfo> all = {
      {"iteration", "iterations", "", rows, neither, always, take<&M::iteration>},
      {"bits_paper", "bits sent per agent, the paper's count", "bit", rows, neither, always,
       take<&M::bits_paper>},
      {"bits_payload", "bits sent per agent, as encoded", "bit", rows, neither, always,
       take<&M::bits_payload>},
      {"bits_link", "bits sent per agent, over all links", "bit", rows, neither, always,
       take<&M::bits_link>},
      {"loss_max", "training loss, worst agent", "", full, lower, always, take<&M::loss_max>},
      {"grad_norm2_max", "squared gradient norm, worst agent", "", full, lower, always,
       take<&M::grad_norm2_max>},
      {"consensus", "consensus error", "", rows, lower, always, take<&M::consensus>},
      {"accuracy_min", "test accuracy, worst agent", "", full, higher, always,
       take<&M::accuracy_min>},
      {"loss_mean", "training loss of the average model", "", full, lower, always,
       take<&M::loss_mean>},
      {"grad_norm2_mean", "squared gradient norm of the average model", "", full, lower, always,
       take<&M::grad_norm2_mean>},
      {"accuracy_mean", "test accuracy of the average model", "", full, higher, always,
       take<&M::accuracy_mean>},
      {"surrogate_error", "surrogate error", "", rows, lower, always, take<&M::surrogate_error>},
      {"dual_sum", "norm of the duals' sum", "", rows, lower, always, take<&M::dual_sum>},
      {"seconds", "seconds", "s", rows, neither, always, take<&M::seconds>, 3},
      {"loss_local", "training loss, each agent on its own samples", "", local, lower, at_its_level,
       take<&M::loss_local>},
      {"lyapunov", "Lyapunov function of TiCoPD's theorem", "", full, neither, on_request,
       take<&M::lyapunov>},
  };
  return all;
}

std::string cell(const std::optional<double>& value, int decimals) {
  if (!value) return {};
  if (std::isnan(*value)) return "nan";
  return decimals < 0 ? fmt::format("{}", *value) : fmt::format("{:.{}f}", *value, decimals);
}

constexpr std::array<std::string_view, 3> level_names{"rows", "local", "full"};

}  // namespace

std::string_view name_of(MetricLevel level) {
  return level_names[static_cast<std::size_t>(level)];
}

MetricLevel level_of(std::string_view word) {
  const auto found = std::ranges::find(level_names, word);
  if (found == level_names.end()) throw ConfigError(not_allowed("log.level", word, level_names));
  return static_cast<MetricLevel>(found - level_names.begin());
}

std::span<const MetricInfo> metric_table() {
  return table();
}

void add_metric(const MetricInfo& metric) {
  if (find_metric(metric.column) != nullptr)
    throw ConfigError(
        fmt::format("metric \"{}\": another metric has this column already", metric.column));
  table().push_back(metric);
}

const MetricInfo* find_metric(std::string_view column) {
  const auto found = std::ranges::find(table(), column, &MetricInfo::column);
  return found == table().end() ? nullptr : &*found;
}

bool measured_at(const MetricInfo& metric, MetricLevel level) {
  return metric.level == MetricLevel::rows || metric.level == level;
}

std::optional<double> value_of(const Metrics& m, std::string_view column) {
  const MetricInfo* metric = find_metric(column);
  return metric == nullptr ? std::nullopt : metric->value(m);
}

MetricColumns metric_columns(MetricLevel level, std::span<const std::string_view> requested) {
  MetricColumns columns;
  for (const MetricInfo& metric : table())
    if (metric.presence == ColumnPresence::always ||
        (metric.presence == ColumnPresence::at_its_level && measured_at(metric, level)) ||
        std::ranges::find(requested, metric.column) != requested.end())
      columns.push_back(metric);
  return columns;
}

std::string csv_header(const MetricColumns& columns) {
  std::string header;
  for (const MetricInfo& metric : columns)
    header.append(header.empty() ? "" : ",").append(metric.column);
  return header;
}

std::string to_csv(const Metrics& m, const MetricColumns& columns) {
  std::string line;
  for (const MetricInfo& metric : columns) {
    if (&metric != &columns.front()) line += ',';
    line += cell(metric.value(m), metric.decimals);
  }
  return line;
}

}  // namespace ticopd
