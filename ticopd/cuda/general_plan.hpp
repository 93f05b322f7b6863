#pragma once

#include <cstdint>
#include <vector>

#include "ticopd/cuda/general_layout.hpp"

namespace ticopd::cuda::general {

using Used = std::vector<std::vector<std::uint32_t>>;

// What is laid out and computed together, known without allocating anything.
struct GroupPlan {
  std::vector<std::size_t> agents;
  Used used;
  Layout layout;
};

struct Plan {
  explicit Plan(const Problem& problem);
  std::size_t bytes() const;  // on the device

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
