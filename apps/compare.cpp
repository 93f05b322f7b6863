#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/studies/comparison.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;

// Shows a comparison on the terminal: a live line for the current run, and a line for each run that
// has ended.
class Screen {
 public:
  Screen(const RunSet& run_set, bool quiet)
      : quiet_(quiet), overall_(run_set.runs.size(), rounds_of(run_set)) {}

  void begin(const RunSet::Run& run) {
    rounds_ = run.config.get<std::uint32_t>("iterations");
    progress_.emplace(run.label, rounds_, quiet_, &overall_);
  }
  // The result line of a run stays on the screen.
  void end(const RunOutcome& run) {
    overall_.ended(rounds_, progress_->last().has_value());
    progress_->clear();
    const std::string outcome = run.diverged.empty()
                                    ? fmt::format("finished, {} in all", duration(run.seconds))
                                    : run.diverged;
    if (!quiet_) tell("  {}: {}\n", run.label, outcome);
    progress_.reset();
  }
  Progress& current() { return *progress_; }

 private:
  static double rounds_of(const RunSet& run_set) {
    double rounds = 0;
    for (const RunSet::Run& run : run_set.runs) rounds += run.config.get<double>("iterations");
    return rounds;
  }

  bool quiet_;
  Overall overall_;
  std::optional<Progress> progress_;
  std::uint32_t rounds_ = 0;  // of the current run
};

Words command_line(const std::vector<fs::path>& files, const RunFlags& flags) {
  Words words{"ticopd", "compare"};
  for (const fs::path& file : files) words.push_back(file.string());
  const Words more = words_to_repeat(flags);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

CompareOptions options_of(const RunFlags& flags, Screen& screen) {
  CompareOptions options;
  options.prepare = {flags.threads, flags.offline,
                     [&](const std::string& text) { screen.current().say(text); }};
  options.prepare.device = device_of(flags);
  options.out = flags.out;
  options.resume = flags.resume;
  options.stop = &stop_requested();
  options.on_warning = [](const std::string& label, const std::string& text) {
    tell("{}: warning: {}\n", label, text);
  };
  options.on_begin = [&](const RunSet::Run& run, std::size_t) { screen.begin(run); };
  options.on_log = [&](const Metrics& m) { screen.current().logged(m); };
  options.on_round = [&](std::uint32_t round) { screen.current().round(round); };
  options.on_end = [&](const RunOutcome& run) { screen.end(run); };
  return options;
}

void print(const Compared& compared, const RunFlags& flags) {
  const Collection& all = compared.collection;
  const Written& written = compared.written;
  if (flags.json)
    show_json(report_json(all.runs, all.options));
  else
    show("\n{}\n{}: {}\n", summary_table(all.runs, all.options, 80),
         written.files.empty() ? "folder" : "report",
         (written.files.empty() ? compared.folder : written.files.back()).string());
  for (const std::string& text : written.missing) tell("missing: {}\n", text);
}

int compare_files(const std::vector<fs::path>& files, const RunFlags& flags) {
  device_of(flags);  // throws first if the device is missing
  require_folder_to_resume(flags.resume, flags.out, "comparison");
  const RunSet run_set = read_run_set(files, flags.set);
  Screen screen(run_set, flags.quiet);
  CompareOptions options = options_of(flags, screen);
  options.command = quoted(command_line(files, flags));
  fs::path folder;
  options.on_folder = [&](const fs::path& out) { folder = out; };
  try {
    print(compare(run_set, options), flags);
  } catch (const EveryRunDiverged& e) {
    print(e.compared, flags);
    throw;
  } catch (const Interrupted& e) {
    if (folder.empty()) throw;
    Words again = command_line(files, flags);
    again.insert(again.end(), {"--resume", "--out", folder.string()});
    throw Interrupted(fmt::format("{}, go on with: {}", e.what(), quoted(again)));
  }
  return 0;
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
  command->callback([=, &action] { action = [=] { return compare_files(*files, *flags); }; });
}

}  // namespace ticopd::app
