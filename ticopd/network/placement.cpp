#include "ticopd/network/placement.hpp"

#include <algorithm>
#include <string>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

// Cuts 0 ... n into `ranks` non-empty ranges of nearly equal cost, going from left to right: rank r
// begins where the running cost is nearest to r / ranks of the total.
std::vector<int> deal(int agents, int ranks, std::span<const std::size_t> cost) {
  std::vector<double> upto{0.0};
  for (int i = 0; i < agents; ++i)
    upto.push_back(upto.back() + (cost.empty() ? 1.0 : static_cast<double>(cost[i]) + 1.0));
  std::vector<int> first{0};
  for (int r = 1; r < ranks; ++r) {
    const double target = upto.back() * r / ranks;
    const auto after = std::lower_bound(upto.begin() + 1, upto.end() - 1, target);
    const auto at = *after - target < target - *(after - 1) ? after : after - 1;  // the nearer cut
    const int cut = static_cast<int>(at - upto.begin());
    first.push_back(std::clamp(cut, first.back() + 1, agents - (ranks - r)));
  }
  first.push_back(agents);
  return first;
}

}  // namespace

Placement::Placement(const Graph& graph, int ranks, int rank, std::span<const std::size_t> cost)
    : agents_(graph.agents()), rank_(rank) {
  if (ranks < 1 || ranks > agents_)
    throw ConfigError("network.ranks = " + std::to_string(ranks) +
                      " (or mpirun -n): allowed are 1 to " + std::to_string(agents_) +
                      ", the number of agents");
  first_of_ = deal(agents_, ranks, cost);
}

Placement::Placement(const Graph& graph, int ranks, int rank, std::span<const std::size_t> cost,
                     std::span<const int> blocks)
    : Placement(graph, ranks, rank, cost) {
  if (blocks.empty()) return;
  first_of_.assign(1, 0);
  for (const int count : blocks) {
    if (count < 1) throw ConfigError("a rank without agents; allowed is at least one");
    first_of_.push_back(first_of_.back() + count);
  }
  if (blocks.size() != static_cast<std::size_t>(ranks) || first_of_.back() != agents_)
    throw ConfigError("blocks of agents for " + std::to_string(blocks.size()) + " ranks with " +
                      std::to_string(first_of_.back()) + " agents; there are " +
                      std::to_string(ranks) + " ranks and " + std::to_string(agents_) + " agents");
}

int Placement::owner(int agent) const {
  const auto after = std::upper_bound(first_of_.begin(), first_of_.end(), agent);
  return static_cast<int>(after - first_of_.begin()) - 1;
}

}  // namespace ticopd
