#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ticopd/experiment/prepare.hpp"
#include "ticopd/experiment/run_set.hpp"
#include "ticopd/tune/halving.hpp"
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
  std::string metric = {};  // empty: tune.metric, or loss_max; see Goal
  double runs = 0;          // 0: tune.runs, or 40
  double budget_bits = 0;   // bits per agent of a full run, as encoded; 0: use `iterations`
  std::vector<std::uint64_t> seeds = {};  // of each trial; empty: tune.seeds, or the config's seed
  std::function<void(const TuneProgress&)> on_progress = {};  // from any thread, one at a time
};

// The result of a search.
struct Tuned {
  bool finished = true;  // false: the user stopped it, and it is saved
  TriedValues values;
  std::string metric;
  double value = 0;          // of the metric after a full run, median over the seeds; infinite: the
                             // target was not reached
  std::uint32_t rounds = 0;  // of a full run
  double cost = 0;           // in full runs with all their seeds
  std::size_t trials = 0, lost = 0;
  std::vector<std::uint64_t> seeds = {};

  // How the answer went on when it got its rounds a second time: unknown where --runs was too small
  // to try, grew where no trial held.
  Trial::Beyond beyond = Trial::Beyond::unknown;
  std::size_t grew = 0;                    // trials that looked better and grew
  nlohmann::json theory = {};              // limits.hpp
  std::vector<std::string> left_out = {};  // by the method's own constraints
};

// "held for twice the budget", ...
std::string beyond_in_words(const Tuned& tuned);

// What the theory says of the answer, line by line.
std::vector<std::string> theory_in_words(const Tuned& tuned);

// `tune.seeds`: 3 counts from `first`, [1, 5] is a list; and --seeds, which has no brackets (empty:
// none).
std::vector<std::uint64_t> seeds_of(const nlohmann::json& given, std::uint64_t first);
std::vector<std::uint64_t> parse_seeds(const std::string& text, std::uint64_t first);

// Everything about a search that can be refused without reading data: ConfigError.
void check_search(const Config& config, const TuneOptions& options);

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
