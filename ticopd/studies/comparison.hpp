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
};

// All callbacks may be empty; they are called by the thread that called compare().
struct CompareOptions {
  PrepareOptions prepare = {};     // `say` hears no warnings of the configs: see on_warning
  std::filesystem::path out = {};  // empty: default_folder(name of the run set)
  bool resume = false;             // go on with the comparison in `out`
  const std::atomic<bool>* stop = nullptr;
  std::string command = {};  // recorded in compare.json, shown by the report; may be empty

  std::function<void(const std::string& label, const std::string& text)> on_warning = {};
  std::function<void(const std::filesystem::path& out)> on_folder = {};  // it can be resumed now
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

// Runs all entries of the set one after the other, each into its own folder below `out`, and writes
// a report. All configs are checked before the first run begins. A diverged run does not end the
// comparison. Throws Interrupted if it was stopped: everything is saved, and `resume` goes on.
// After any other error before the first round, the folder can be used again.
Compared compare(const RunSet& run_set, const CompareOptions& options);

}  // namespace ticopd
