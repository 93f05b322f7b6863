#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ticopd/data/dataset.hpp"

namespace ticopd {

// The samples of the agents that this process hosts, a contiguous range. For the other agents only
// the number of samples is known.
template <class T>
struct Shards {
  Shards(std::vector<Dataset<T>> of_hosted, int first_hosted, std::vector<std::size_t> of_all)
      : hosted(std::move(of_hosted)), first(first_hosted), sizes(std::move(of_all)) {
    bool fit = first >= 0 && static_cast<std::size_t>(first) + hosted.size() <= sizes.size();
    for (std::size_t i = 0; fit && i < hosted.size(); ++i)
      fit = hosted[i].samples() == sizes[static_cast<std::size_t>(first) + i];
    if (!fit) throw std::invalid_argument("shards: their sizes differ from those given");
  }

  static Shards of_all_agents(std::vector<Dataset<T>> shards) {
    std::vector<std::size_t> sizes;
    for (const Dataset<T>& shard : shards) sizes.push_back(shard.samples());
    return {std::move(shards), 0, std::move(sizes)};
  }

  std::vector<Dataset<T>> hosted;
  int first;                       // the agent of hosted[0]
  std::vector<std::size_t> sizes;  // samples of every agent
};

}  // namespace ticopd
