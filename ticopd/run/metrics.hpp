#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/algorithms/any_run.hpp"

namespace ticopd {

// One row of metrics.csv. f is the global objective; NaN is carried through, never dropped.
struct Metrics {
  std::uint32_t iteration = 0;            // completed rounds
  double bits_paper = 0;                  // cumulative, mean over agents: by the papers' formula,
  double bits_payload = 0;                // as really encoded for one broadcast,
  double bits_link = 0;                   // and that times the neighbours it went to
  double loss_max = 0;                    // max_i f(x_i)
  double grad_norm2_max = 0;              // max_i ||grad f(x_i)||^2
  double consensus = 0;                   // sum_i ||x_i - xbar||^2
  std::optional<double> accuracy_min;     // the worst local model on the test set
  double loss_mean = 0;                   // f(xbar)
  double grad_norm2_mean = 0;             // ||grad f(xbar)||^2
  std::optional<double> accuracy_mean;    // of xbar
  std::optional<double> surrogate_error;  // sum_i ||x_i - h_i||^2 of the first mirror
  std::optional<double> dual_sum;         // ||sum_i lambda_i||
  double seconds = 0;
  std::optional<double> lyapunov;    // F_t of TiCoPD's theorem, with log.lyapunov
  std::vector<AgentMetrics> agents;  // what the figures above were taken from; not in the csv
};

// A column of metrics.csv by its name; empty where this run has none of it.
std::optional<double> value_of(const Metrics& m, std::string_view column);

extern const std::string_view metrics_header;   // without newline
extern const std::string_view lyapunov_column;  // what log.lyapunov adds behind it
std::string to_csv(const Metrics& m);           // without newline

// Every rank calls it; every rank gets the same figures, bit by bit the same for any number of
// ranks: whatever is summed over agents is summed in agent order.
template <class T>
Metrics measure(AnyNetwork<T>& net, AnyRun<T>& run);

extern template Metrics measure<float>(AnyNetwork<float>&, AnyRun<float>&);
extern template Metrics measure<double>(AnyNetwork<double>&, AnyRun<double>&);

}  // namespace ticopd
