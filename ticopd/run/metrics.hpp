#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/network/row_metrics.hpp"

namespace ticopd {

// A metric of a program's own (own_metrics.hpp).
struct OwnMetric {
  std::string column;
  double value;
};

// One row of metrics.csv. f is the global objective. A quantity that does not exist, or that the
// level does not measure, is empty; NaN is carried through, never dropped.
struct Metrics {
  std::uint32_t iteration = 0;            // completed rounds
  double bits_paper = 0;                  // cumulative, mean over agents: by the papers' formula,
  double bits_payload = 0;                // as really encoded for one broadcast,
  double bits_link = 0;                   // and that times the neighbours it went to
  std::optional<double> loss_max;         // max_i f(x_i)
  std::optional<double> grad_norm2_max;   // max_i ||grad f(x_i)||^2
  double consensus = 0;                   // sum_i ||x_i - xbar||^2
  std::optional<double> accuracy_min;     // the worst local model on the test set
  std::optional<double> loss_mean;        // f(xbar)
  std::optional<double> grad_norm2_mean;  // ||grad f(xbar)||^2
  std::optional<double> accuracy_mean;    // of xbar
  std::optional<double> surrogate_error;  // sum_i ||x_i - h_i||^2 of the first mirror
  std::optional<double> dual_sum;         // ||sum_i lambda_i||
  double seconds = 0;
  std::optional<double> loss_local;    // mean_i f_i(x_i)
  std::optional<double> disagreement;  // of sites: mean ||x_i - h_j||^2 over agents and neighbours
  std::optional<double> lyapunov;      // F_t of TiCoPD's theorem, with log.lyapunov
  std::vector<OwnMetric> own;          // in the order of their columns
  std::vector<AgentMetrics> agents;    // what the figures above were taken from; not in the csv
};

// The words of log.level. ConfigError for another word.
std::string_view name_of(MetricLevel level);
MetricLevel level_of(std::string_view word);

enum class Better { lower, higher, neither };

// Which files have a column: all, those of runs at the metric's level, those of sites, or those of
// runs that asked for this metric by name.
enum class ColumnPresence { always, at_its_level, of_sites, on_request };

// A metric is declared here once: config, csv, figures, page and `ticopd list` read this.
struct MetricInfo {
  std::string column;           // in metrics.csv
  std::string title;            // in lists and on the page
  std::string_view panel = "";  // its panel's title in the figure; empty: it has no panel
  std::string_view unit = "";   // empty for a plain number
  std::string_view help = "";   // for the manual
  MetricLevel level;            // MetricLevel::rows is measured at every level
  Better better;                // Better::neither: counts and clocks, which no run is judged by
  ColumnPresence presence;
  std::function<std::optional<double>(const Metrics&)> value;
  int decimals = -1;   // in metrics.csv; -1: the shortest text that reads back as the same double
  bool added = false;  // by add_metric: other programs do not know its column
};

// In the order of the columns. A new metric is a function of Metrics in a file of its own and one
// line in the table (metrics.cpp); add_metric puts one behind the others at run time. Register
// before the first run starts: nothing guards the table against threads. ConfigError for a column
// that is there already.
std::span<const MetricInfo> metric_table();
void add_metric(const MetricInfo& metric);

const MetricInfo* find_metric(std::string_view column);  // null: there is none
bool measured_at(const MetricInfo& metric, MetricLevel level);

// The value in a column; empty if there is no such column or this row has no value for it.
std::optional<double> value_of(const Metrics& m, std::string_view column);

// The columns of a run's metrics.csv.
using MetricColumns = std::vector<MetricInfo>;
MetricColumns metric_columns(MetricLevel level = MetricLevel::full,
                             std::span<const std::string_view> requested = {});
std::string csv_header(const MetricColumns& columns = metric_columns());  // without newline
std::string to_csv(const Metrics& m, const MetricColumns& columns = metric_columns());

}  // namespace ticopd
