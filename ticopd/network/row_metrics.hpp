#pragma once

#include <optional>
#include <vector>

#include "ticopd/network/any_network.hpp"

namespace ticopd {

// One model x against the global objective.
struct ModelMetrics {
  double loss = 0;                 // f(x)
  double grad_norm2 = 0;           // ||grad f(x)||^2
  std::optional<double> accuracy;  // on the test set
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
};

// For rows in host memory. `dual` and `mirror` may be null. Every rank calls it.
template <class T>
RowMetrics measure_rows(AnyNetwork<T>& net, const Field<T>& x, const Field<T>* dual,
                        const AnyMirror<T>* mirror);

extern template RowMetrics measure_rows<float>(AnyNetwork<float>&, const Field<float>&,
                                               const Field<float>*, const AnyMirror<float>*);
extern template RowMetrics measure_rows<double>(AnyNetwork<double>&, const Field<double>&,
                                                const Field<double>*, const AnyMirror<double>*);

}  // namespace ticopd
