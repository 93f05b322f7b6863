#pragma once

#include <cstdint>
#include <string>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/run/setup.hpp"

namespace ticopd {

// The seed of a run's messages, batches and links in an epoch. The first has that of the config.
std::uint64_t epoch_seed(std::uint64_t seed, std::uint32_t epoch);

// Makes the setup of a config that of an epoch: another seed for what is drawn in rounds, and the
// same data.
template <class T>
void begin_epoch(Setup<T>& setup, std::uint32_t epoch) {
  if (epoch == 1) return;
  setup.problem_seed = setup.seed_of_problem();
  setup.seed = epoch_seed(setup.seed, epoch);
}

}  // namespace ticopd
