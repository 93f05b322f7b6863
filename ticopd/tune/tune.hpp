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

struct TuneProgress {
  double done = 0;  // of the rounds that the search may cost, 0 to 1
  std::size_t trials = 0;
  double best = 0;  // the metric of the best full run so far; nan before there is one
};

struct TuneOptions {
  PrepareOptions prepare = {};  // its threads: trials run side by side, one each
  std::filesystem::path out;
  const std::atomic<bool>* stop = nullptr;
  std::string metric = {};  // empty: tune.metric, or loss_max
  double runs = 0;          // 0: tune.runs, or 40
  double budget_bits = 0;   // a full run's bits per agent, as encoded; 0: its `iterations`
  std::function<void(const TuneProgress&)> on_progress = {};  // from any thread, one at a time
};

struct Tuned {
  bool finished = true;  // false: stopped from outside, all saved
  StepSizes values;
  std::string metric;
  double value = 0;          // of the metric, after a full run
  std::uint32_t rounds = 0;  // of a full run
  double cost = 0;           // in full runs
  std::size_t trials = 0, lost = 0;
};

// Searches the algorithm's step sizes (space.hpp) by successive halving (halving.hpp) into a
// folder: trials.csv and search.json, by which it is resumed. Diverged if every trial was lost.
Tuned tune(const Config& config, const TuneOptions& options);

// The run_set with what was found, as a file for `run` or `compare`.
std::string tuned_toml(const RunSet& run_set, std::span<const Tuned> tuned);

// search.svg, .pdf and .png in the folder of a search: every trial, parameter by parameter. Returns
// what is missing, or nothing.
std::string draw_search(const std::filesystem::path& folder, const Tuned& tuned);

}  // namespace ticopd
