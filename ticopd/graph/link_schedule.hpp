#pragma once

#include <cstdint>
#include <vector>

#include "ticopd/graph/graph.hpp"

namespace ticopd {

// Which edges of a graph carry messages in a round: a pure function of seed and round, so both ends
// of an edge know it.
struct LinkSchedule {
  double drop = 0;        // each edge is inactive with this probability
  bool one_edge = false;  // only one edge is active

  bool varies() const { return drop > 0 || one_edge; }

  // By edge: (0, j) for the neighbours j > 0 of agent 0 in ascending order, then (1, j) for j > 1,
  // and so on. In round 0, while a run is set up, every edge is active.
  std::vector<bool> active(const Graph& graph, std::uint64_t seed, std::uint32_t round) const;
};

// The schedule of graph.kind and graph.drop.
LinkSchedule link_schedule(const GraphOptions& options);

}  // namespace ticopd
