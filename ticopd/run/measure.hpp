#pragma once

#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {

// Every rank calls it; every rank gets the same figures, bit by bit the same for any number of
// ranks: whatever is summed over agents is summed in agent order.
template <class T>
Metrics measure(AnyNetwork<T>& net, AnyRun<T>& run, MetricLevel level = MetricLevel::full);

extern template Metrics measure<float>(AnyNetwork<float>&, AnyRun<float>&, MetricLevel);
extern template Metrics measure<double>(AnyNetwork<double>&, AnyRun<double>&, MetricLevel);

}  // namespace ticopd
