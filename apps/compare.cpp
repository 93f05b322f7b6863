#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/run_set.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd::app {
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

// Validates all configs before the first run begins: the last run may start hours later.
void check_all(const RunSet& run_set, const RunFlags& flags) {
  for (const RunSet::Run& run : run_set.runs) try {
      if (!run.warning.empty()) tell("{}: warning: {}\n", run.label, run.warning);
      for (const std::string& warning : check(run.config, device_of(flags)))
        tell("{}: warning: {}\n", run.label, warning);
    } catch (const ConfigError& e) {
      throw ConfigError(fmt::format("{}: {}", run.label, e.what()));
    }
}

void write_comparison(const fs::path& out, const json& comparison) {
  write_atomically(out / "compare.json", json_text(comparison));
}

// FormatError if compare.json is damaged, ConfigError if it lists a run that is not wanted any
// more: the report would lose it.
void refuse_to_lose_runs(const fs::path& file, const json& wanted) {
  if (!fs::exists(file)) return;  // killed before it was written
  const json before = parse_json(read_file(file));
  if (!before.is_object() || !before.contains("runs") || !before["runs"].is_array())
    throw FormatError(file.string() + ": is not a comparison");
  for (const json& run : before["runs"])
    if (std::ranges::find(wanted, run) == wanted.end())
      throw ConfigError(fmt::format(
          "--resume: {} lists other runs than those given, such as {}; give a new folder",
          file.string(), run.is_object() ? run.value("label", json()).dump() : "?"));
}

// Writes compare.json before the first run: --resume and `ticopd report` find the runs by it. The
// record of a resumed comparison is replaced only at the end, when all runs were found to be its
// own.
void begin_folder(const fs::path& out, const RunFlags& flags, const json& comparison) {
  std::error_code error;
  if (!is_empty_folder(out)) {
    if (!flags.resume)
      throw UsageError(fmt::format(
          "--out {}: is not empty; give a new folder, or --resume to go on with the comparison "
          "in it",
          out.string()));
    if (!fs::exists(out / "compare.json", error) && !holds_only_unfinished(out))
      throw UsageError(
          fmt::format("--resume: {} holds files, but no comparison by ticopd", out.string()));
    refuse_to_lose_runs(out / "compare.json", comparison["runs"]);
  }
  remove_unfinished(out);
  if (!fs::exists(out / "compare.json", error)) write_comparison(out, comparison);
}

// Called after a failure. If no run has begun, compare.json is the only file; it is removed so that
// the same command can be tried again.
void leave_nothing(const fs::path& out) {
  std::error_code error;
  const auto files = std::distance(fs::directory_iterator(out, error), fs::directory_iterator());
  if (!error && files == 1) fs::remove(out / "compare.json", error);
}

// Runs one entry of the set. Its result line stays on the screen.
void run_one(const RunSet::Run& run, const fs::path& out, const RunFlags& flags, Overall& overall) {
  const auto rounds = run.config.get<std::uint32_t>("iterations");
  Progress progress(run.label, rounds, flags.quiet, &overall);
  RunOptions options = watched_by(progress, flags);
  options.prepare.say = [&, say = options.prepare.say](const std::string& text) {
    if (!is_warning(text)) say(text);  // check_all printed the warnings
  };
  options.out = out / run.folder;
  // After an interruption each run continues from its own folder; a finished one returns at once.
  options.resume = fs::exists(options.out);
  std::string outcome;
  try {
    const json summary = run_experiment(run.config, options);
    if (summary["status"] == "interrupted") throw Interrupted("");
    outcome = fmt::format("finished, {} in all", duration(summary["seconds"]["total"]));
  } catch (const Diverged& e) {
    // One diverged run does not end the comparison.
    outcome = e.what();
  }
  overall.ended(rounds, progress.last().has_value());
  progress.clear();
  if (!flags.quiet) tell("  {}: {}\n", run.label, outcome);
}

Words command_line(const std::vector<fs::path>& files, const RunFlags& flags) {
  Words words{"ticopd", "compare"};
  for (const fs::path& file : files) words.push_back(file.string());
  const Words more = words_to_repeat(flags);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Writes the report and prints the summary. Diverged if no run came to its end.
int finish_comparison(const fs::path& out, const RunFlags& flags) {
  // Read the runs back from their files: the report is then the same as that of `ticopd report`.
  Collection all = read_folders(std::vector<std::string>{out.string()});
  if (all.options.targets.empty()) all.options.targets = default_targets(all.runs);
  all.options.stop = &stop_requested();
  const Written written = write_report(out, all.runs, all.options);
  if (flags.json)
    show_json(report_json(all.runs, all.options));
  else
    show("\n{}\n{}: {}\n", summary_table(all.runs, all.options, 80),
         written.files.empty() ? "folder" : "report",
         (written.files.empty() ? out : written.files.back()).string());
  for (const std::string& text : written.missing) tell("missing: {}\n", text);
  const bool any = std::ranges::any_of(all.runs, [](auto& r) { return r.status() == "finished"; });
  if (!any) throw Diverged("diverged: every run");
  return 0;
}

int compare(const std::vector<fs::path>& files, const RunFlags& flags) {
  device_of(flags);  // throws first if the device is missing
  require_folder_to_resume(flags.resume, flags.out, "comparison");
  const RunSet run_set = read_run_set(files, flags.set);
  json comparison = {{"title", run_set.shared.value("/report/title"_json_pointer, run_set.name)},
                     {"command", quoted(command_line(files, flags))},
                     {"targets", read_targets(run_set)},
                     {"bits", run_set.shared.value("/report/bits"_json_pointer, "payload")},
                     {"runs", json::array()}};
  double rounds = 0;
  for (const RunSet::Run& run : run_set.runs) {
    comparison["runs"].push_back({{"label", run.label}, {"folder", run.folder}});
    rounds += run.config.get<double>("iterations");
  }
  check_all(run_set, flags);
  FolderClaim claim = folder_for(flags.out, run_set.name);
  claim.hold();
  const fs::path& out = claim.path();
  begin_folder(out, flags, comparison);
  Overall overall(run_set.runs.size(), rounds);
  try {
    for (const RunSet::Run& run : run_set.runs) run_one(run, out, flags, overall);
    write_comparison(out, comparison);
    return finish_comparison(out, flags);
  } catch (const Interrupted&) {
    Words again = command_line(files, flags);
    again.insert(again.end(), {"--resume", "--out", out.string()});
    throw Interrupted("interrupted; all is saved, go on with: " + quoted(again));
  } catch (const Error&) {
    if (!flags.resume) leave_nothing(out);
    throw;
  }
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("compare", "Run several experiments, write one report");
  auto files = std::make_shared<std::vector<fs::path>>();
  auto flags = std::make_shared<RunFlags>();
  command
      ->add_option("FILE", *files,
                   "TOML files: tables shared by all runs, and [[run]] entries, each with a label, "
                   "that override keys; a file without [[run]] is one run")
      ->required();
  add_run_flags(*command, *flags);
  command->footer(
      "Writes one sub-folder per run, summary.csv, figure.svg, figure.pdf, figure.png and\n"
      "report.html.\n"
      "Examples:\n"
      "  ticopd compare experiments/paper_figure.toml --out runs/figure\n"
      "  ticopd compare experiments/paper_figure.toml --out runs/figure --resume   (after Ctrl-C)\n"
      "  ticopd compare experiments/paper_figure.toml --set iterations=200\n"
      "The format of such a file: docs/configuration.md");
  command->callback([=, &action] { action = [=] { return compare(*files, *flags); }; });
}

}  // namespace ticopd::app
