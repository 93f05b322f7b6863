#pragma once

#include <string>

#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {

// The columns of a site's metrics.csv: those of level local, and the disagreement with the
// neighbours. The cells of what it cannot know alone are empty: the consensus, the sum of the
// duals.
MetricColumns site_columns();

// A row of them, over the hosted agents: means of bits and losses, sums of surrogate errors, the
// worst test accuracy. Asks no other site.
template <class T>
std::string site_metrics(AnyNetwork<T>& net, AnyRun<T>& run, bool losses, double seconds);

extern template std::string site_metrics(AnyNetwork<float>&, AnyRun<float>&, bool, double);
extern template std::string site_metrics(AnyNetwork<double>&, AnyRun<double>&, bool, double);

}  // namespace ticopd
