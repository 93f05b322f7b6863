#pragma once

#include <optional>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/network/any_network.hpp"

namespace ticopd {

// How much one measurement computes:
//   rows   distances, surrogate errors and duals: sums over the rows, no objective at all;
//   local  also f_i(x_i), each agent's loss on its own samples;
//   full   also f and its gradient at every model and at their mean, and the test set.
// log.samples bounds the samples of the last two, log.agents the models of the last.
enum class MetricLevel { rows, local, full };

// One model x against the global objective; empty where it was not measured.
struct ModelMetrics {
  std::optional<double> loss;        // f(x)
  std::optional<double> grad_norm2;  // ||grad f(x)||^2
  std::optional<double> accuracy;    // on the test set
};

// One agent's model x_i.
struct AgentMetrics : ModelMetrics {
  double distance2 = 0;  // ||x_i - xbar||^2
};

// The few numbers that metrics need from rows, on host or device. For all agents of all ranks, in
// agent order.
struct RowMetrics {
  std::vector<AgentMetrics> agents;
  ModelMetrics mean;                     // of xbar
  std::vector<double> surrogate_errors;  // ||x_i - h_i||^2 of the first mirror; empty: none
  std::optional<double> dual_sum2;       // ||sum_i lambda_i||^2
  std::vector<double> local_losses;      // f_i(x_i); empty unless the level is local
};

// A measurement was given up half-way, since a rank was asked to stop: with many agents it takes
// minutes. All ranks throw it.
struct MeasuringStopped : Interrupted {
  MeasuringStopped() : Interrupted("stopped while metrics were measured") {}
};

// For rows in host memory. `dual` and `mirror` may be null. Every rank calls it. Throws
// MeasuringStopped.
template <class T>
RowMetrics measure_rows(AnyNetwork<T>& net, MetricLevel level, const Field<T>& x,
                        const Field<T>* dual, const AnyMirror<T>* mirror);

extern template RowMetrics measure_rows<float>(AnyNetwork<float>&, MetricLevel, const Field<float>&,
                                               const Field<float>*, const AnyMirror<float>*);
extern template RowMetrics measure_rows<double>(AnyNetwork<double>&, MetricLevel,
                                                const Field<double>&, const Field<double>*,
                                                const AnyMirror<double>*);

}  // namespace ticopd
