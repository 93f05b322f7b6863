#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/run/metrics.hpp"

namespace ticopd {

// Metrics that a program computes itself: functions of one model. They are logged with the others,
// for each name as NAME_min and NAME_max over the agents' models and NAME_mean at the average
// model. The name "accuracy" fills accuracy_min and accuracy_mean, so that it is known to reports.
template <class T>
struct OwnMetrics {
  std::vector<std::string> names = {};
  // Writes values[model * names.size() + metric] for the models in x, one row each: those of agents
  // `first` and behind it, or the average model if `first` is -1.
  std::function<void(const Field<T>& x, int first, std::span<double> values)> measure = {};
};

// Their columns, behind all others. ConfigError for a name that is no word, or whose column is
// taken.
MetricColumns own_columns(std::span<const std::string> names);

// Measures the models x of this rank's agents and completes `m`. Every rank calls it.
template <class T>
void measure_own(AnyNetwork<T>& net, const Field<T>& x, const OwnMetrics<T>& own, Metrics& m);

extern template void measure_own(AnyNetwork<float>&, const Field<float>&, const OwnMetrics<float>&,
                                 Metrics&);
extern template void measure_own(AnyNetwork<double>&, const Field<double>&,
                                 const OwnMetrics<double>&, Metrics&);

}  // namespace ticopd
