#include "ticopd/studies/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "ticopd/cuda/cuda.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/report/figure_options.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
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

// Validates all configs before the first run begins: the last run may start hours later.
void check_all(const RunSet& run_set, const CompareOptions& options) {
  const auto warn = [&](const RunSet::Run& run, const std::string& text) {
    if (options.on_warning) options.on_warning(run.label, text);
  };
  for (const RunSet::Run& run : run_set.runs) try {
      if (!run.warning.empty()) warn(run, run.warning);
      for (const std::string& warning : check(run.config, options.prepare.device))
        warn(run, warning);
    } catch (const ConfigError& e) {
      throw ConfigError(fmt::format("{}: {}", run.label, e.what()));
    }
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

// Called after a failure. If no run has begun, compare.json is the only file; it is removed so that
// the same command can be tried again.
void leave_nothing(const fs::path& out) {
  std::error_code error;
  const auto files = std::distance(fs::directory_iterator(out, error), fs::directory_iterator());
  if (!error && files == 1) fs::remove(out / "compare.json", error);
}

RunOptions options_for(const fs::path& folder, const CompareOptions& options) {
  RunOptions run;
  run.prepare = options.prepare;
  run.prepare.say = [say = options.prepare.say](const std::string& text) {
    // check_all told the warnings
    if (say && !text.starts_with("warning: ")) say(text);
  };
  run.out = folder;
  // After an interruption each run continues from its own folder; a finished one returns at once.
  run.resume = fs::exists(folder);
  run.stop = options.stop;
  run.on_log = options.on_log;
  run.on_round = options.on_round;
  return run;
}

RunOutcome run_one(const RunSet::Run& run, const fs::path& out, const CompareOptions& options) {
  RunOutcome outcome{.label = run.label, .folder = out / run.folder};
  try {
    const json summary = run_experiment(run.config, options_for(outcome.folder, options));
    if (summary["status"] == "interrupted") throw Interrupted("");
    outcome.seconds = summary["seconds"]["total"];
  } catch (const Diverged& e) {
    // One diverged run does not end the comparison.
    outcome.diverged = e.what();
  }
  if (options.on_end) options.on_end(outcome);
  return outcome;
}

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
  begin_folder(claim.path(), options.resume, record);
  if (options.on_folder) options.on_folder(claim.path());
  Compared compared{.folder = claim.path()};
  try {
    for (std::size_t i = 0; i < run_set.runs.size(); ++i) {
      if (options.on_begin) options.on_begin(run_set.runs[i], i);
      compared.runs.push_back(run_one(run_set.runs[i], claim.path(), options));
    }
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
