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
      {.column = "iteration",
       .title = "iterations",
       .help = "completed rounds; the first line is 0",
       .level = rows,
       .better = neither,
       .presence = always,
       .value = take<&M::iteration>},
      {.column = "bits_paper",
       .title = "bits sent per agent, the paper's count",
       .unit = "bit",
       .help = "bits sent by an agent so far (mean over agents), by the formula of the papers",
       .level = rows,
       .better = neither,
       .presence = always,
       .value = take<&M::bits_paper>},
      {.column = "bits_payload",
       .title = "bits sent per agent, as encoded",
       .unit = "bit",
       .help = "the same as really encoded, one broadcast counted once",
       .level = rows,
       .better = neither,
       .presence = always,
       .value = take<&M::bits_payload>},
      {.column = "bits_link",
       .title = "bits sent per agent, over all links",
       .unit = "bit",
       .help = "the same, once for each neighbour it went to",
       .level = rows,
       .better = neither,
       .presence = always,
       .value = take<&M::bits_link>},
      {.column = "loss_max",
       .title = "training loss, worst agent",
       .panel = "training loss",
       .help = "max_i f(x_i), of the global f",
       .level = full,
       .better = lower,
       .presence = always,
       .value = take<&M::loss_max>},
      {.column = "grad_norm2_max",
       .title = "squared gradient norm, worst agent",
       .panel = "squared gradient norm",
       .help = "max_i of the squared norm of grad f(x_i)",
       .level = full,
       .better = lower,
       .presence = always,
       .value = take<&M::grad_norm2_max>},
      {.column = "consensus",
       .title = "consensus error",
       .panel = "consensus error",
       .help = "sum_i of the squared distance of x_i to the mean model",
       .level = rows,
       .better = lower,
       .presence = always,
       .value = take<&M::consensus>},
      {.column = "accuracy_min",
       .title = "test accuracy, worst agent",
       .panel = "worst test accuracy",
       .help = "the worst local model on the test samples",
       .level = full,
       .better = higher,
       .presence = always,
       .value = take<&M::accuracy_min>},
      {.column = "loss_mean",
       .title = "training loss of the average model",
       .help = "f at the mean model",
       .level = full,
       .better = lower,
       .presence = always,
       .value = take<&M::loss_mean>},
      {.column = "grad_norm2_mean",
       .title = "squared gradient norm of the average model",
       .help = "the squared norm of grad f there",
       .level = full,
       .better = lower,
       .presence = always,
       .value = take<&M::grad_norm2_mean>},
      {.column = "accuracy_mean",
       .title = "test accuracy of the average model",
       .help = "its accuracy",
       .level = full,
       .better = higher,
       .presence = always,
       .value = take<&M::accuracy_mean>},
      {.column = "surrogate_error",
       .title = "surrogate error",
       .help = "sum_i of the squared distance of x_i to its surrogate, of the first mirror",
       .level = rows,
       .better = lower,
       .presence = always,
       .value = take<&M::surrogate_error>},
      {.column = "dual_sum",
       .title = "norm of the duals' sum",
       .help = "norm of the sum of the duals: zero but for rounding",
       .level = rows,
       .better = lower,
       .presence = always,
       .value = take<&M::dual_sum>},
      {.column = "seconds",
       .title = "seconds",
       .unit = "s",
       .help = "since the start, earlier parts of a resumed run included",
       .level = rows,
       .better = neither,
       .presence = always,
       .value = take<&M::seconds>,
       .decimals = 3},
      {.column = "loss_local",
       .title = "training loss, each agent on its own samples",
       .panel = "training loss, own samples",
       .help = "mean over agents of f_i(x_i), each agent's loss on its own samples; the column is "
               "there only with `log.level = \"local\"`",
       .level = local,
       .better = lower,
       .presence = at_its_level,
       .value = take<&M::loss_local>},
      {.column = "disagreement",
       .title = "disagreement with the neighbours",
       .panel = "disagreement with neighbours",
       .help = "of a site: mean over its agents i and their neighbours j of the squared distance of "
               "x_i to what i knows of j; the column is there only in the folder of a site",
       .level = rows,
       .better = lower,
       .presence = of_sites,
       .value = take<&M::disagreement>},
      {.column = "lyapunov",
       .title = "Lyapunov function of TiCoPD's theorem",
       .help = "F_t of Theorem 1; the column is there only with `log.lyapunov`",
       .level = full,
       .better = neither,
       .presence = on_request,
       .value = take<&M::lyapunov>},
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
  table().back().added = true;
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
