#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ticopd/graph/graph.hpp"

namespace ticopd {

// Which rank hosts which agents: contiguous blocks, at least one agent per rank.
class Placement {
 public:
  // `cost` is the weight of each agent (its number of samples); empty: all the same. Throws
  // ConfigError, naming network.ranks, if there are more ranks than agents.
  Placement(const Graph& graph, int ranks, int rank, std::span<const std::size_t> cost = {});
  // The blocks are given: how many agents each rank hosts, in their order; empty: by cost.
  Placement(const Graph& graph, int ranks, int rank, std::span<const std::size_t> cost,
            std::span<const int> blocks);

  int agents() const { return agents_; }
  int rank() const { return rank_; }
  int first() const { return first_of_[static_cast<std::size_t>(rank_)]; }
  std::size_t rows() const {
    return static_cast<std::size_t>(first_of_[static_cast<std::size_t>(rank_) + 1] - first());
  }
  int agent(std::size_t row) const { return first() + static_cast<int>(row); }
  int owner(int agent) const;

  std::size_t row(int agent) const { return static_cast<std::size_t>(agent - first()); }  // hosted

 private:
  int agents_;
  int rank_;
  std::vector<int> first_of_;  // ranks + 1
};

}  // namespace ticopd
