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

// The settings of a run that are not part of its config.
struct RunOptions {
  PrepareOptions prepare = {};
  std::filesystem::path out;
  bool resume = false;
  const std::atomic<bool>* stop = nullptr;
  Processes* processes = nullptr;  // all processes of this run; each passes the same `out`
  std::function<void(const Metrics&)> on_log = {};
  std::function<void(std::uint32_t round)> on_round = {};
};

// Runs one experiment into one folder and returns the content of run.json. Its `status` is
// "finished" or "interrupted" (saved, can be resumed). Throws Diverged after writing status
// "diverged". With `processes`, rank 0 writes the folder and all ranks return the same value.
// ConfigError before the first round if ranks differ in version, instruction set, kernel, BLAS,
// config or data.
nlohmann::json run_experiment(const Config& config, const RunOptions& options);

// Runs a folder's experiment again, in memory, and compares digest, final.npy and metrics.csv (but
// for seconds). If `same` is false, `difference` names what differs: version, instruction set,
// kernel, BLAS or device, otherwise the input or the result. `comparable` is false if nothing was
// compared. If the run changed its device, the repetition changes it after the same rounds.
struct Verdict {
  bool comparable = true;
  bool same = true;
  std::string difference;
  std::string digest;
};
Verdict verify_experiment(const std::filesystem::path& folder, const RunOptions& options);

}  // namespace ticopd
