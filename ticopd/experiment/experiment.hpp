#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/run/metrics.hpp"
#include "ticopd/transport/processes.hpp"

namespace ticopd {

struct RunOptions {
  PrepareOptions prepare = {};
  std::filesystem::path out;
  bool resume = false;
  const std::atomic<bool>* stop = nullptr;
  Processes* processes = nullptr;  // those that share this run; each calls with the same `out`
  std::function<void(const Metrics&)> on_log = {};
  std::function<void(std::uint32_t round)> on_round = {};
};

// One experiment into one folder; returns what run.json holds. `status` is "finished" or
// "interrupted" (saved; resume goes on). Throws Diverged after writing status "diverged".
// With `processes` rank 0 writes the folder, and all get the same back; ranks that differ in
// version, instruction set, kernel, config or data are refused before the first round.
nlohmann::json run_experiment(const Config& config, const RunOptions& options);

// Runs a folder's experiment again, in memory, and compares the digest. `same` is false with a
// `difference` that names what differs: first instruction set, kernel, BLAS, version and devices,
// then the digest. A run that changed its device changes it again, after the same rounds.
struct Verdict {
  bool comparable = true;
  bool same = true;
  std::string difference;
  std::string digest;
};
Verdict verify_experiment(const std::filesystem::path& folder, const RunOptions& options);

}  // namespace ticopd
