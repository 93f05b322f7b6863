#include "ticopd/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

// The lowest agent that agent 0 cannot reach, or -1.
int unreachable(const std::vector<std::vector<int>>& neighbours) {
  std::vector<bool> reached(neighbours.size(), false);
  std::vector<int> frontier{0};
  reached[0] = true;
  while (!frontier.empty()) {
    const int i = frontier.back();
    frontier.pop_back();
    for (const int j : neighbours[static_cast<std::size_t>(i)])
      if (!reached[static_cast<std::size_t>(j)]) {
        reached[static_cast<std::size_t>(j)] = true;
        frontier.push_back(j);
      }
  }
  const auto lost = std::find(reached.begin(), reached.end(), false);
  return lost == reached.end() ? -1 : static_cast<int>(lost - reached.begin());
}

}  // namespace

Graph::Graph(int agents, std::span<const std::pair<int, int>> edges) : edges_(edges.size()) {
  if (agents < 1)
    throw ConfigError(fmt::format("graph.agents = {}: a graph needs at least one agent", agents));
  neighbours_.resize(static_cast<std::size_t>(agents));
  for (const auto& [i, j] : edges) {
    if (i < 0 || j < 0 || i >= agents || j >= agents)
      throw ConfigError(
          fmt::format("graph: edge {} {} leaves the agents 0 ... {}", i, j, agents - 1));
    if (i == j) throw ConfigError(fmt::format("graph: edge {} {} is a self-loop", i, j));
    neighbours_[static_cast<std::size_t>(i)].push_back(j);
    neighbours_[static_cast<std::size_t>(j)].push_back(i);
  }
  for (int i = 0; i < agents; ++i) {
    auto& list = neighbours_[static_cast<std::size_t>(i)];
    std::sort(list.begin(), list.end());
    const auto twice = std::adjacent_find(list.begin(), list.end());
    if (twice != list.end())
      throw ConfigError(fmt::format("graph: edge {} {} is given twice", i, *twice));
  }
  if (const int lost = unreachable(neighbours_); lost >= 0)
    throw ConfigError(fmt::format(
        "graph: not connected, agents 0 and {} cannot reach each other; add edges between them",
        lost));
}

}  // namespace ticopd
