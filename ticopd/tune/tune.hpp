#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "ticopd/experiment/prepare.hpp"
#include "ticopd/experiment/run_set.hpp"
#include "ticopd/tune/space.hpp"

namespace ticopd {

// How far a search is, for on_progress.
struct TuneProgress {
  double done = 0;  // share of the rounds that the search may cost, 0 to 1
  std::size_t trials = 0;
  double best = 0;  // the metric of the best full run so far; nan if there is none yet
};

struct TuneOptions {
  PrepareOptions prepare = {};  // trials run in parallel on its threads
  std::filesystem::path out;
  const std::atomic<bool>* stop = nullptr;
  std::string metric = {};  // empty: tune.metric, or loss_max
  double runs = 0;          // 0: tune.runs, or 40
  double budget_bits = 0;   // bits per agent of a full run, as encoded; 0: use `iterations`
  std::function<void(const TuneProgress&)> on_progress = {};  // from any thread, one at a time
};

// The result of a search.
struct Tuned {
  bool finished = true;  // false: the user stopped it, and it is saved
  StepSizes values;
  std::string metric;
  double value = 0;          // of the metric, after a full run
  std::uint32_t rounds = 0;  // of a full run
  double cost = 0;           // in full runs
  std::size_t trials = 0, lost = 0;
};

// Searches the algorithm's step sizes (space.hpp) by successive halving (halving.hpp). Writes
// trials.csv and search.json to a folder, from which it can be resumed. Throws Diverged if every
// trial diverged.
Tuned tune(const Config& config, const TuneOptions& options);

// The run_set with the step sizes found, as a TOML file for `run` or `compare`.
std::string tuned_toml(const RunSet& run_set, std::span<const Tuned> tuned);

// Draws search.svg, .pdf and .png in the folder of a search: every trial, one panel per parameter.
// Returns what could not be drawn and why; empty on success.
std::string draw_search(const std::filesystem::path& folder, const Tuned& tuned,
                        const std::atomic<bool>* stop = nullptr);

}  // namespace ticopd
