#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/studies/comparison.hpp"
#include "ticopd/system/clock.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;

struct CompareFlags : RunFlags {
  int jobs = 0;
  double memory = 0;  // GiB
};

// Shows a comparison on the terminal. One run at a time has a live line of its own, with a line for
// all below it; several at once have one line together. Runs that end leave a line, if they are
// few.
class Screen {
 public:
  Screen(const RunSet& run_set, bool quiet)
      : quiet_(quiet),
        few_(run_set.runs.size() <= 20),
        overall_(run_set.runs.size(), rounds_of(run_set)) {}

  void plan(int at_once) { together_ = at_once > 1; }
  void begin(const RunSet::Run& run) {
    rounds_ = run.config.get<std::uint32_t>("iterations");
    if (!together_) progress_.emplace(run.label, rounds_, quiet_, &overall_);
  }
  void logged(const Metrics& m) {
    if (progress_) progress_->logged(m);
  }
  void round(std::uint32_t round) {
    if (progress_) progress_->round(round);
  }
  void all(const CompareProgress& p) {
    if (!together_ || quiet_ || !live()) return;
    const double spent = seconds_now() - begin_, here = p.done - p.done_before;
    draw_live(fmt::format("{} of {} runs  {:.0f} % of all rounds  ETA {}  {} running{}", p.ended,
                          p.runs, 100 * p.done,
                          here > 0.005 ? duration(spent / here * (1 - p.done)) : std::string("?"),
                          p.running, diverged_ > 0 ? fmt::format("  {} diverged", diverged_) : ""),
              "");
    drawn_ = true;
  }
  void end(const RunOutcome& run) {
    if (progress_) overall_.ended(rounds_, progress_->last().has_value());
    progress_.reset();
    clear();
    diverged_ += !run.diverged.empty();
    const std::string outcome = run.diverged.empty()
                                    ? fmt::format("finished, {} in all", duration(run.seconds))
                                    : run.diverged;
    if (!quiet_ && few_) tell("  {}: {}\n", run.label, outcome);
  }
  void say(const std::string& text) {
    if (progress_) {
      progress_->say(text);
    } else if (!quiet_ || is_warning(text)) {
      clear();
      tell("{}\n", text);
    }
  }
  void clear() {
    if (std::exchange(drawn_, false)) clear_live();
  }

 private:
  static double rounds_of(const RunSet& run_set) {
    double rounds = 0;
    for (const RunSet::Run& run : run_set.runs) rounds += run.config.get<double>("iterations");
    return rounds;
  }

  bool quiet_, few_, together_ = false, drawn_ = false;
  Overall overall_;
  std::optional<Progress> progress_;
  std::uint32_t rounds_ = 0;  // of the current run
  std::size_t diverged_ = 0;
  double begin_ = seconds_now();
};

Words command_line(const std::vector<fs::path>& files, const CompareFlags& flags) {
  Words words{"ticopd", "compare"};
  for (const fs::path& file : files) words.push_back(file.string());
  const Words more = words_to_repeat(flags);
  words.insert(words.end(), more.begin(), more.end());
  if (flags.jobs > 0) words.insert(words.end(), {"--jobs", std::to_string(flags.jobs)});
  if (flags.memory > 0) words.insert(words.end(), {"--memory", fmt::format("{}", flags.memory)});
  return words;
}

CompareOptions options_of(const CompareFlags& flags, Screen& screen) {
  CompareOptions options;
  options.prepare = {flags.threads, flags.offline,
                     [&](const std::string& text) { screen.say(text); }};
  options.prepare.device = device_of(flags);
  options.out = flags.out;
  options.resume = flags.resume;
  options.stop = &stop_requested();
  options.on_warning = [](const std::string& label, const std::string& text) {
    tell("{}: warning: {}\n", label, text);
  };
  options.at_once = flags.jobs;
  options.memory = flags.memory * 0x1p30;
  options.on_plan = [&](int at_once) { screen.plan(at_once); };
  options.on_progress = [&](const CompareProgress& p) { screen.all(p); };
  options.on_begin = [&](const RunSet::Run& run, std::size_t) { screen.begin(run); };
  options.on_log = [&](const Metrics& m) { screen.logged(m); };
  options.on_round = [&](std::uint32_t round) { screen.round(round); };
  options.on_end = [&](const RunOutcome& run) { screen.end(run); };
  return options;
}

void print(const Compared& compared, const CompareFlags& flags) {
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

int compare_files(const std::vector<fs::path>& files, const CompareFlags& flags) {
  device_of(flags);  // throws first if the device is missing
  require_folder_to_resume(flags.resume, flags.out, "comparison");
  const RunSet run_set = read_run_set(files, flags.set);
  Screen screen(run_set, flags.quiet);
  CompareOptions options = options_of(flags, screen);
  options.command = quoted(command_line(files, flags));
  fs::path folder;
  options.on_folder = [&](const fs::path& out) { folder = out; };
  try {
    const Compared compared = compare(run_set, options);
    screen.clear();
    print(compared, flags);
  } catch (const EveryRunDiverged& e) {
    screen.clear();
    print(e.compared, flags);
    throw;
  } catch (const Interrupted& e) {
    screen.clear();
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
  auto flags = std::make_shared<CompareFlags>();
  command
      ->add_option("FILE", *files,
                   "TOML files: tables shared by all runs, and [[run]] entries, each with a label, "
                   "that override keys; a file without [[run]] is one run. `seeds` and [sweep] "
                   "make several runs of each")
      ->required();
  add_run_flags(*command, *flags);
  command
      ->add_option("--jobs", flags->jobs,
                   "Runs side by side; default: as many as threads, if they fit into memory")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--memory", flags->memory,
                   "GiB for runs side by side; default: 80 % of what is available")
      ->check(number_above_zero());
  command->footer(
      "Writes one sub-folder per run, summary.csv, figure.svg, figure.pdf, figure.png and\n"
      "report.html; with seeds or a sweep groups.csv, too.\n"
      "Examples:\n"
      "  ticopd compare experiments/paper_figure.toml --out runs/figure\n"
      "  ticopd compare experiments/paper_figure.toml --out runs/figure --resume   (after Ctrl-C)\n"
      "  ticopd compare experiments/paper_figure.toml --set iterations=200\n"
      "  ticopd compare experiments/bits_sweep.toml --set seeds=10   (error bars)\n"
      "The format of such a file: docs/configuration.md");
  command->callback([=, &action] { action = [=] { return compare_files(*files, *flags); }; });
}

}  // namespace ticopd::app
