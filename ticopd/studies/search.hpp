#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ticopd/experiment/prepare.hpp"
#include "ticopd/experiment/run_set.hpp"
#include "ticopd/tune/tune.hpp"

namespace ticopd {

// The step sizes found for one run of a set.
struct Found {
  std::string label;
  std::filesystem::path folder;  // of this search
  Tuned tuned;
  std::string missing = {};  // the figure that could not be drawn, and why
};

// All callbacks may be empty; all but on_progress are called by the thread that called
// search_step_sizes(). A budget in rounds is the `iterations` of the configs.
struct SearchOptions {
  PrepareOptions prepare = {};     // trials run in parallel on its threads
  std::filesystem::path out = {};  // empty: default_folder("tune-" + name of the run set)
  bool resume = false;             // go on with the search in `out`
  const std::atomic<bool>* stop = nullptr;
  std::string metric = {};  // these four as in TuneOptions
  double runs = 0;
  double budget_bits = 0;
  std::vector<std::uint64_t> seeds = {};

  std::function<void(const std::filesystem::path& out)> on_folder = {};  // it can be resumed now
  std::function<void(const RunSet::Run&, std::size_t index)> on_begin = {};
  std::function<void(const TuneProgress&)> on_progress = {};  // from any thread, one at a time
  std::function<void(const Tuned&)> on_end = {};  // finished or stopped; nothing is drawn yet
  std::function<void(const Found&)> on_found = {};
};

struct Searched {
  std::filesystem::path folder;
  std::vector<Found> found;          // one for each run of the set
  std::filesystem::path tuned_toml;  // the run set with the step sizes found
};

// Searches the step sizes of each run of the set (tune), one run after the other, draws each search
// and writes tuned.toml. A set of one run is searched in `out` itself, others in a folder for each.
// Throws Interrupted if it was stopped: everything is saved, and `resume` goes on.
Searched search_step_sizes(const RunSet& run_set, const SearchOptions& options);

// One object per search, as `ticopd tune --json` prints them.
nlohmann::json searched_json(const Searched& searched);

}  // namespace ticopd
