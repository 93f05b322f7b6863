#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ticopd {

// Which samples each agent holds.
enum class Partition {
  label,      // class c to agent c mod n: as different as agents can be
  sorted,     // equal slices after a stable sort by label (or target)
  iid,        // equal slices of a seeded shuffle
  dirichlet,  // each class divided by Dirichlet(alpha) shares: the smaller alpha, the less alike
};
constexpr std::array<std::string_view, 4> words_of(Partition) {
  return {"label", "sorted", "iid", "dirichlet"};
}

Partition parse_partition(std::string_view name);  // ConfigError naming problem.partition

// The samples of each agent. Every sample goes to exactly one agent, and every agent gets one;
// otherwise ConfigError. `classes` = 0 (a regression) allows sorted and iid.
std::vector<std::vector<std::uint32_t>> partition(std::span<const double> labels, int classes,
                                                  int agents, Partition kind, double alpha,
                                                  std::uint64_t seed);

}  // namespace ticopd
