#include "ticopd/network/metric_scope.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ticopd/numeric/permutation.hpp"

namespace ticopd {

std::vector<int> measured_agents(const MetricScope& scope, int agents, std::uint64_t seed) {
  const auto n = static_cast<std::size_t>(agents);
  std::vector<int> chosen(scope.agents == 0 ? n : std::min(scope.agents, n));
  std::iota(chosen.begin(), chosen.end(), 0);
  if (chosen.size() == n) return chosen;
  const Permutation draw(n, Noise{{.seed = seed, .channel = stream_metric_agents}});
  for (int& agent : chosen) agent = static_cast<int>(draw(static_cast<std::uint64_t>(agent)));
  std::ranges::sort(chosen);
  return chosen;
}

template <class T>
Batch measured_samples(const MetricScope& scope, const Objective<T>& objective, int agent,
                       std::uint64_t seed) {
  if (scope.samples == 0) return {};
  double all = 0;
  for (int i = 0; i < objective.agents(); ++i) all += static_cast<double>(objective.samples(i));
  const std::size_t held = objective.samples(agent);
  const auto wanted = static_cast<std::size_t>(std::max(
      1.0, std::round(static_cast<double>(scope.samples) * static_cast<double>(held) / all)));
  if (wanted >= held) return {};
  const Permutation draw(held, Noise{{.seed = seed,
                                      .agent = static_cast<std::uint32_t>(agent),
                                      .channel = stream_metric_samples}});
  Batch batch{.full = false, .samples = {}};
  for (std::size_t k = 0; k < wanted; ++k)
    batch.samples.push_back(static_cast<std::uint32_t>(draw(k)));
  std::ranges::sort(batch.samples);  // read in the order of memory
  return batch;
}

template Batch measured_samples(const MetricScope&, const Objective<float>&, int, std::uint64_t);
template Batch measured_samples(const MetricScope&, const Objective<double>&, int, std::uint64_t);

}  // namespace ticopd
