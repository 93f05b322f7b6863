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

int Placement::owner(int agent) const {
  const auto after = std::upper_bound(first_of_.begin(), first_of_.end(), agent);
  return static_cast<int>(after - first_of_.begin()) - 1;
}

}  // namespace ticopd
