#include "ticopd/studies/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "ticopd/cuda/cuda.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/experiment/resume.hpp"
#include "ticopd/experiment/shared_problems.hpp"
#include "ticopd/report/figure_options.hpp"
#include "ticopd/studies/side_by_side.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/cores.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/memory.hpp"
#include "ticopd/system/stopping.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// [report] targets = { accuracy_min = 0.9 }
json read_targets(const RunSet& run_set) {
  json targets = json::array();
  const json given = run_set.shared.value("/report/targets"_json_pointer, json::object());
  for (const auto& [metric, value] : given.items()) {
    require_metric("report.targets", metric);
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      throw ConfigError(
          fmt::format("report.targets.{} = {}: allowed is a number", metric,
                      value.is_number() ? fmt::format("{}", value.get<double>()) : value.dump()));
    targets.push_back({{"metric", metric}, {"value", value}});
  }
  return targets;
}

// [figure], if it is there: a wrong word in it must not wait for the end of the last run.
json read_figure(const RunSet& run_set, const std::string& bits) {
  const json given = run_set.shared.value("figure", json());
  if (given.is_null()) return given;
  std::vector<std::string> names;
  for (const RunSet::Run& run : run_set.runs) names.insert(names.end(), {run.label, run.group});
  check_figure(ticopd::read_figure(given, "bits_" + bits), names, run_set.sweep);
  return given;
}

// The content of compare.json.
json record_of(const RunSet& run_set, const std::string& command) {
  json record = {{"title", run_set.shared.value("/report/title"_json_pointer, run_set.name)},
                 {"command", command},
                 {"targets", read_targets(run_set)},
                 {"bits", run_set.shared.value("/report/bits"_json_pointer, "payload")},
                 {"band", run_set.shared.value("/report/band"_json_pointer, "range")},
                 {"sweep", run_set.sweep},
                 {"runs", json::array()}};
  if (!run_set.seeds.empty()) record["seeds"] = run_set.seeds;
  for (const RunSet::Run& run : run_set.runs)
    record["runs"].push_back({{"label", run.label},
                              {"folder", run.folder},
                              {"group", run.group},
                              {"seed", run.seed},
                              {"swept", run.swept}});
  if (json figure = read_figure(run_set, record["bits"]); !figure.is_null())
    record["figure"] = std::move(figure);
  return record;
}

// Validates all configs before the first run begins: the last run may start hours later. A warning
// that several runs share is told once.
void check_all(const RunSet& run_set, const CompareOptions& options) {
  std::vector<std::pair<std::string, std::vector<std::string>>> warnings;  // text, and whose
  const auto note = [&](const RunSet::Run& run, const std::string& text) {
    auto at = std::ranges::find(warnings, text, [](const auto& w) { return w.first; });
    if (at == warnings.end()) at = warnings.insert(at, {text, {}});
    at->second.push_back(run.label);
  };
  for (const RunSet::Run& run : run_set.runs) try {
      if (!run.warning.empty()) note(run, run.warning);
      for (const std::string& warning : check(run.config, options.prepare.device))
        note(run, warning);
    } catch (const ConfigError& e) {
      throw ConfigError(fmt::format("{}: {}", run.label, e.what()));
    }
  if (options.on_warning)
    for (const auto& [text, runs] : warnings)
      options.on_warning(runs.size() == 1
                             ? runs.front()
                             : fmt::format("{} and {} more", runs.front(), runs.size() - 1),
                         text);
}

void write_record(const fs::path& out, const json& record) {
  write_atomically(out / "compare.json", json_text(record));
}

// FormatError if compare.json is damaged, ConfigError if it lists a run that is not wanted any
// more: the report would lose it.
void refuse_to_lose_runs(const fs::path& file, const json& wanted) {
  if (!fs::exists(file)) return;  // killed before it was written
  const json before = parse_json(read_file(file));
  if (!before.is_object() || !before.contains("runs") || !before["runs"].is_array())
    throw FormatError(file.string() + ": is not a comparison");
  // Records of 0.2 have no more than label and folder.
  const auto place_of = [](const json& run) {
    return run.is_object() ? json{run.value("label", json()), run.value("folder", json())} : json();
  };
  std::set<json> places;
  for (const json& run : wanted) places.insert(place_of(run));
  for (const json& run : before["runs"])
    if (!places.contains(place_of(run)))
      throw ConfigError(fmt::format(
          "--resume: {} lists other runs than those given, such as {}; give a new folder",
          file.string(), run.is_object() ? run.value("label", json()).dump() : "?"));
}

// Writes compare.json before the first run: --resume and `ticopd report` find the runs by it. The
// record of a resumed comparison is replaced only at the end, when all runs were found to be its
// own.
void begin_folder(const fs::path& out, bool resume, const json& record) {
  std::error_code error;
  if (!is_empty_folder(out)) {
    if (!resume)
      throw UsageError(fmt::format(
          "--out {}: is not empty; give a new folder, or --resume to go on with the comparison "
          "in it",
          out.string()));
    if (!fs::exists(out / "compare.json", error) && !holds_only_unfinished(out))
      throw UsageError(
          fmt::format("--resume: {} holds files, but no comparison by ticopd", out.string()));
    refuse_to_lose_runs(out / "compare.json", record["runs"]);
  }
  remove_unfinished(out);
  if (!fs::exists(out / "compare.json", error)) write_record(out, record);
}

// Before the first run goes on: the last one may be refused hours later.
void check_resumed_runs(const RunSet& run_set, const fs::path& out) {
  for (const RunSet::Run& run : run_set.runs)
    if (std::error_code error; fs::is_directory(out / run.folder, error))
      check_resume(run.config, out / run.folder);
}

// Called after a failure. If no run has begun, compare.json is the only file; it is removed so that
// the same command can be tried again.
void leave_nothing(const fs::path& out) {
  std::error_code error;
  const auto files = std::distance(fs::directory_iterator(out, error), fs::directory_iterator());
  if (!error && files == 1) fs::remove(out / "compare.json", error);
}

// A measure of the memory that a run takes, to compare runs with each other.
double weight_of(const Config& config) {
  int width = 0;
  if (config.get<std::string>("problem.objective") == "mlp")
    for (const int units : config.get<std::vector<int>>("problem.hidden")) width += units;
  return std::max(10.0, static_cast<double>(width)) * configured_agents(config);
}

// Makes the runs of a comparison, and calls back.
class Runs {
 public:
  Runs(const RunSet& run_set, fs::path out, const CompareOptions& options)
      : run_set_(run_set), out_(std::move(out)), options_(options) {
    for (const RunSet::Run& run : run_set.runs) rounds_ += rounds_of(run);
    progress_.runs = run_set.runs.size();
  }

  std::vector<RunOutcome> operator()() {
    outcomes_.resize(run_set_.runs.size());
    SideBySide tasks;
    tasks.tasks = run_set_.runs.size();
    tasks.threads = options_.prepare.threads > 0 ? options_.prepare.threads : usable_cores();
    tasks.at_once = std::min(tasks.threads, static_cast<int>(tasks.tasks));
    if (options_.at_once > 0) tasks.at_once = std::min(tasks.at_once, options_.at_once);
    if (options_.prepare.device == Device::cuda) tasks.at_once = 1;  // a run fills it
    tasks.memory = options_.memory > 0 ? options_.memory : 0.8 * available_bytes();
    tasks.stop = options_.stop;
    tasks.weight = [this](std::size_t i) { return weight_of(run_set_.runs[i].config); };
    tasks.work = [this](std::size_t i, int threads, const std::atomic<bool>& stop,
                        const std::function<void()>& settled) { run(i, threads, stop, settled); };
    may_pin_ = options_.prepare.may_pin && tasks.at_once == 1;
    if (options_.on_plan) options_.on_plan(tasks.at_once);
    run_side_by_side(tasks);
    return std::move(outcomes_);
  }

 private:
  static double rounds_of(const RunSet::Run& run) { return run.config.get<double>("iterations"); }

  // The rounds of one run, as the progress counts them.
  struct Count {
    double before = 0, made = 0;
  };

  void run(std::size_t i, int threads, const std::atomic<bool>& stop,
           const std::function<void()>& settled) {
    const RunSet::Run& run = run_set_.runs[i];
    RunOutcome outcome{.label = run.label,
                       .folder = out_ / run.folder,
                       .group = run.group,
                       .seed = run.seed,
                       .swept = run.swept};
    {
      const std::lock_guard lock(calling_);
      ++progress_.running;
      if (options_.on_begin) options_.on_begin(run, i);
    }
    Count count;
    try {
      RunOptions how = options_for(outcome.folder, threads, stop);
      how.on_round = [&](std::uint32_t round) { made(round, count, settled); };
      const json summary = run_experiment(run.config, how);
      if (summary["status"] == "interrupted") throw Interrupted("");
      outcome.seconds = summary["seconds"]["total"];
    } catch (const Diverged& e) {
      // One diverged run does not end the comparison.
      outcome.diverged = e.what();
    }
    const std::lock_guard lock(calling_);
    ++progress_.ended;
    --progress_.running;
    const double left = rounds_of(run) - count.before - count.made;
    (count.made > 0 ? made_ : before_) += left;
    report();
    if (options_.on_end) options_.on_end(outcome);
    outcomes_[i] = std::move(outcome);
  }

  RunOptions options_for(const fs::path& folder, int threads, const std::atomic<bool>& stop) {
    RunOptions run;
    run.prepare = options_.prepare;
    run.prepare.threads = threads;
    run.prepare.may_pin = may_pin_;
    run.prepare.shared = shared_;
    run.prepare.say = [this](const std::string& text) { say(text); };
    run.out = folder;
    // After an interruption each run continues from its own folder; a finished one returns at once.
    run.resume = fs::exists(folder);
    run.stop = &stop;
    run.on_log = [this](const Metrics& m) {
      const std::lock_guard lock(calling_);
      if (options_.on_log) options_.on_log(m);
    };
    return run;
  }

  // Every run reads its data and says so: once is enough. check_all told the warnings.
  void say(const std::string& text) {
    const std::lock_guard lock(calling_);
    if (!text.starts_with("warning: ") && said_.insert(text).second && options_.prepare.say)
      options_.prepare.say(text);
  }

  void made(std::uint32_t round, Count& count, const std::function<void()>& settled) {
    if (count.made == 0) {
      count.before = round - 1;
      before_ += count.before;
    }
    ++count.made;
    made_ += 1;
    settled();
    // A callback must not slow down the other runs.
    const std::unique_lock lock(calling_, std::try_to_lock);
    if (!lock) return;
    if (options_.on_round) options_.on_round(round);
    if (seconds_now() - reported_at_ >= 0.1) report();
  }

  void report() {
    reported_at_ = seconds_now();
    progress_.done_before = before_ / rounds_;
    progress_.done = (before_ + made_) / rounds_;
    if (options_.on_progress) options_.on_progress(progress_);
  }

  const RunSet& run_set_;
  fs::path out_;
  const CompareOptions& options_;
  bool may_pin_ = true;
  std::shared_ptr<SharedProblems> shared_ = std::make_shared<SharedProblems>();
  std::vector<RunOutcome> outcomes_;
  double rounds_ = 0;                          // of all runs
  std::atomic<double> made_ = 0, before_ = 0;  // here, and by an earlier process

  std::mutex calling_;  // one callback at a time; and what follows
  CompareProgress progress_;
  double reported_at_ = 0;
  std::set<std::string> said_;
};

void write_report_of(Compared& compared, const CompareOptions& options) {
  // Read the runs back from their files: the report is then the same as that of `ticopd report`.
  Collection& all = compared.collection;
  all = read_folders(std::vector<std::string>{compared.folder.string()});
  if (all.options.targets.empty()) all.options.targets = default_targets(all.runs);
  all.options.stop = options.stop;
  compared.written = write_report(compared.folder, all.runs, all.options);
  all.options.stop = nullptr;  // the caller's flag may end before the collection
  const bool any = std::ranges::any_of(all.runs, [](auto& r) { return r.status() == "finished"; });
  if (!any) throw EveryRunDiverged(compared);
}

}  // namespace

Compared compare(const RunSet& run_set, const CompareOptions& options) {
  const StopScope heard(options.stop);
  if (options.prepare.device == Device::cuda) cuda::require_device();
  require_folder_to_resume(options.resume, options.out, "comparison");
  const json record = record_of(run_set, options.command);
  check_all(run_set, options);
  FolderClaim claim = folder_for(options.out, run_set.name);
  claim.hold();
  if (options.resume) check_resumed_runs(run_set, claim.path());
  begin_folder(claim.path(), options.resume, record);
  if (options.on_folder) options.on_folder(claim.path());
  Compared compared{.folder = claim.path()};
  try {
    compared.runs = Runs(run_set, claim.path(), options)();
    write_record(claim.path(), record);
    write_report_of(compared, options);
  } catch (const Interrupted&) {
    throw Interrupted("interrupted; all is saved");
  } catch (const Error&) {
    if (!options.resume) leave_nothing(claim.path());
    throw;
  }
  return compared;
}

}  // namespace ticopd
