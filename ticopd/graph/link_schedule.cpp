#include "ticopd/graph/link_schedule.hpp"

#include "ticopd/numeric/noise.hpp"

namespace ticopd {

std::vector<bool> LinkSchedule::active(const Graph& graph, std::uint64_t seed,
                                       std::uint32_t round) const {
  std::vector<bool> on(graph.edges(), true);
  if (!varies() || round == 0 || on.empty()) return on;
  const Noise noise{seed, round, 0, stream_links};
  if (one_edge) {
    on.assign(on.size(), false);
    on[Generator(noise).below(on.size())] = true;
    return on;
  }
  for (std::size_t e = 0; e < on.size(); ++e) on[e] = noise.uniform(e) >= static_cast<float>(drop);
  return on;
}

LinkSchedule link_schedule(const GraphOptions& options) {
  return {.drop = options.drop, .one_edge = graph_table().at(options.kind).one_edge};
}

}  // namespace ticopd
