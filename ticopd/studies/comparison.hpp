#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/experiment/run_set.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {

// How one run of a comparison ended.
struct RunOutcome {
  std::string label;
  std::filesystem::path folder;
  std::string diverged = {};  // why; empty if the run finished
  double seconds = 0;         // of a finished run, all its parts together
  std::string group = {};     // these three as in RunSet::Run
  std::uint64_t seed = 0;
  nlohmann::json swept = {};
};

// How far a comparison is.
struct CompareProgress {
  std::size_t runs = 0, ended = 0, running = 0;
  double done = 0;         // the share of all rounds that are made
  double done_before = 0;  // those of them that an earlier process made: they took no time now
};

// All callbacks may be empty; they are called from any thread, one at a time. With several runs at
// once on_round leaves out rounds that would have to wait for another callback.
struct CompareOptions {
  PrepareOptions prepare = {};     // `say` hears no warnings of the configs: see on_warning
  std::filesystem::path out = {};  // empty: default_folder(name of the run set)
  bool resume = false;             // go on with the comparison in `out`
  const std::atomic<bool>* stop = nullptr;
  int at_once = 0;    // so many runs side by side; 0: as many as threads and memory allow
  double memory = 0;  // bytes for them; 0: 80 % of what is available. One run always may begin
  std::string command = {};  // recorded in compare.json, shown by the report; may be empty

  std::function<void(const std::string& label, const std::string& text)> on_warning = {};
  std::function<void(const std::filesystem::path& out)> on_folder = {};  // it can be resumed now
  std::function<void(int at_once)> on_plan = {};  // the most runs that will go on at once
  std::function<void(const CompareProgress&)> on_progress = {};  // now and then
  std::function<void(const RunSet::Run&, std::size_t index)> on_begin = {};
  std::function<void(const Metrics&)> on_log = {};
  std::function<void(std::uint32_t round)> on_round = {};
  std::function<void(const RunOutcome&)> on_end = {};
};

struct Compared {
  std::filesystem::path folder;
  std::vector<RunOutcome> runs = {};
  Collection collection = {};  // the runs as read back from their files, for report_json
  Written written = {};        // the report
};

// No run came to its end. The report is written all the same.
struct EveryRunDiverged : Diverged {
  explicit EveryRunDiverged(Compared c) : Diverged("diverged: every run"), compared(std::move(c)) {}
  Compared compared;
};

// Runs all entries of the set, each into its own folder below `out`, and writes a report. Runs go
// side by side on all threads, on a GPU one after the other; no digest depends on it. All configs
// are checked before the first run begins, and each warning is told once. A diverged run does not
// end the comparison; after any other error the runs that go on are saved. Throws Interrupted if it
// was stopped: everything is saved, and `resume` goes on. After any other error before the first
// round, the folder can be used again.
Compared compare(const RunSet& run_set, const CompareOptions& options);

}  // namespace ticopd
