#include "ticopd/run/own_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/error.hpp"
#include "ticopd/network/agent_sums.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

constexpr std::string_view accuracy = "accuracy";

bool is_word(std::string_view name) {
  const auto fits = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !name.empty() && name.size() <= 60 && std::ranges::all_of(name, fits);
}

// The value of a column of our own. NaN is kept, in min and max, too.
std::optional<double> own_value(const Metrics& m, const std::string& column) {
  for (const OwnMetric& metric : m.own)
    if (metric.column == column) return metric.value;
  return std::nullopt;
}

MetricInfo column_of(const std::string& name, const char* of, const char* title) {
  MetricInfo info{.column = name + of,
                  .title = name + title,
                  .level = MetricLevel::rows,
                  .better = Better::neither,
                  .presence = ColumnPresence::on_request,
                  .value = {}};
  info.value = [column = info.column](const Metrics& m) { return own_value(m, column); };
  return info;
}

// The smaller and the larger of what was measured; NaN wins.
double worse(double a, double b, bool smaller) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return smaller ? std::min(a, b) : std::max(a, b);
}

}  // namespace

MetricColumns own_columns(std::span<const std::string> names) {
  MetricColumns columns;
  for (const std::string& name : names) {
    if (!is_word(name))
      throw ConfigError(fmt::format(
          "metrics: \"{}\" cannot name a column; allowed are letters, digits and _", name));
    if (std::ranges::count(names, name) > 1)
      throw ConfigError(fmt::format("metrics: \"{}\" is given twice", name));
    if (name == accuracy) continue;
    columns.push_back(column_of(name, "_min", ", least agent"));
    columns.push_back(column_of(name, "_max", ", greatest agent"));
    columns.push_back(column_of(name, "_mean", " of the average model"));
  }
  for (const MetricInfo& column : columns)
    if (find_metric(column.column) != nullptr)
      throw ConfigError(fmt::format(
          "metrics: the column {} is there already; give this metric another name", column.column));
  return columns;
}

template <class T>
void measure_own(AnyNetwork<T>& net, const Field<T>& x, const OwnMetrics<T>& own, Metrics& m) {
  const std::size_t count = own.names.size();
  if (count == 0) return;
  const Surroundings<T>& s = net.surroundings();
  std::vector<double> mine(x.rows() * count, std::nan(""));
  own.measure(x, net.placement().first(), mine);
  const auto all = all_gather_values<double>(s.transport, channel_metrics_scalars, mine);

  const std::vector<double> sum = sum_over_agents(s.transport, s.pool, x);
  Field<T> average(1, x.cols());
  for (std::size_t k = 0; k < sum.size(); ++k)
    average.row(0)[k] = static_cast<T>(sum[k] / static_cast<double>(s.graph.agents()));
  std::vector<double> at_average(count, std::nan(""));
  own.measure(average, -1, at_average);

  for (std::size_t metric = 0; metric < count; ++metric) {
    double least = all.at(metric), greatest = least;
    for (std::size_t i = metric; i < all.size(); i += count) {
      least = worse(least, all[i], true);
      greatest = worse(greatest, all[i], false);
    }
    const std::string& name = own.names[metric];
    if (name == accuracy) {
      m.accuracy_min = least;
      m.accuracy_mean = at_average[metric];
      continue;
    }
    m.own.push_back({name + "_min", least});
    m.own.push_back({name + "_max", greatest});
    m.own.push_back({name + "_mean", at_average[metric]});
  }
}

template void measure_own(AnyNetwork<float>&, const Field<float>&, const OwnMetrics<float>&,
                          Metrics&);
template void measure_own(AnyNetwork<double>&, const Field<double>&, const OwnMetrics<double>&,
                          Metrics&);

}  // namespace ticopd
