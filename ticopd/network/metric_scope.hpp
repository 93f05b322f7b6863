#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ticopd/objectives/objective.hpp"

namespace ticopd {

// The part of the data and of the agents that metrics look at. Both parts are drawn once for a run,
// from its seed: they do not depend on the round, nor on ranks or threads.
struct MetricScope {
  std::size_t samples = 0;  // of all agents together; 0: all
  std::size_t agents = 0;   // whose models are measured at the full level; 0: all
};

// Ascending.
std::vector<int> measured_agents(const MetricScope& scope, int agents, std::uint64_t seed);

// An agent's part of the samples is proportional to what it holds, and at least one.
template <class T>
Batch measured_samples(const MetricScope& scope, const Objective<T>& objective, int agent,
                       std::uint64_t seed);

extern template Batch measured_samples(const MetricScope&, const Objective<float>&, int,
                                       std::uint64_t);
extern template Batch measured_samples(const MetricScope&, const Objective<double>&, int,
                                       std::uint64_t);

}  // namespace ticopd
