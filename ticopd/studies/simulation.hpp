#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ticopd/experiment/prepare.hpp"
#include "ticopd/sim/play.hpp"

namespace ticopd {

struct SimulationOptions {
  PrepareOptions prepare = {};  // seeds are played in parallel on its threads
  std::uint64_t first = 1, last = 1000;  // seeds
  int sites = 0;                         // 0: one for each agent, 8 at most
  Faults faults = {};
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t played)> on_progress = {};  // from any thread, one at a time
};

// What came of all seeds.
struct Simulated {
  std::uint64_t played = 0, same = 0, refused = 0;
  std::uint64_t kills = 0, power_losses = 0, messages = 0, lost = 0, checkpoints = 0, rosters = 0;
  double seconds = 0;  // on the virtual clocks
  int sites = 0;
  std::string digest;                              // of the undisturbed run
  std::map<std::uint64_t, std::string> violations;  // by seed; the first hundred
  std::uint64_t violated = 0;
  std::uint64_t trace = 0;  // over the traces of all seeds, in any order
};

// Plays a config over simulated sites that fail, once for each seed. ConfigError for what sites
// cannot run. Throws Interrupted if it was stopped.
Simulated simulate(const Config& config, const SimulationOptions& options);

}  // namespace ticopd
