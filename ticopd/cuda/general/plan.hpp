#pragma once

#include <cstdint>
#include <vector>

#include "ticopd/cuda/general/layout.hpp"

namespace ticopd::cuda::general {

using Used = std::vector<std::vector<std::uint32_t>>;

// What is laid out and computed together, known without allocating anything.
struct GroupPlan {
  std::vector<std::size_t> agents;
  std::size_t most = 0;  // samples of an agent
  Used used = {};
  Layout layout = {};
};

struct Plan {
  explicit Plan(const Problem& problem);
  std::size_t bytes(std::size_t batch) const;  // on the device, with batches of so many; 0: none

  // Whether gradients over batches of so many samples are not simply those over all.
  bool draws(std::size_t batch) const;
  Layout batch_layout(const GroupPlan& group, std::size_t batch) const;

  // All test samples, once.
  Layout test_samples() const {
    Layout all = test.layout;
    all.slots = 1;
    all.samples = test.tiles * test.layout.samples;
    return all;
  }

  Model model;
  std::vector<GroupPlan> groups;
  Used test_used;
  TestPlan test;
  Room room;
};

}  // namespace ticopd::cuda::general
