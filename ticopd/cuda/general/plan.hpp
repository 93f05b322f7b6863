#pragma once

#include <cstdint>
#include <vector>

#include "ticopd/cuda/general/sizes.hpp"

namespace ticopd::cuda::general {

using Used = std::vector<std::vector<std::uint32_t>>;

// Agents that are laid out and computed together.
struct AgentGroup {
  std::vector<std::size_t> agents;
  std::size_t most = 0;  // samples of an agent
  Used used = {};
  SampleLayout layout = {};
};

// Groups, layouts and memory of a problem, known before anything is allocated.
struct GradientPlan {
  explicit GradientPlan(const Problem& problem);
  std::size_t bytes(std::size_t batch) const;  // on the device, with batches of so many; 0: none

  // True if a gradient over batches of this size differs from one over all samples.
  bool draws(std::size_t batch) const;
  SampleLayout batch_layout(const AgentGroup& group, std::size_t batch) const;

  // All test samples, once.
  SampleLayout test_samples() const {
    SampleLayout all = test.layout;
    all.slots = 1;
    all.samples = test.tiles * test.layout.samples;
    return all;
  }

  Model model;
  std::vector<AgentGroup> groups;
  Used test_used;
  TestTiles test;
  Room room;
};

}  // namespace ticopd::cuda::general
