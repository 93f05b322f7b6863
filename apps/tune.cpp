#include "ticopd/tune/tune.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct TuneFlags : RunFlags {
  std::string metric;
  double runs = 0;
  double budget_bits = 0;
  std::uint32_t budget_iterations = 0;
};

void refuse_if_taken(const fs::path& out, const RunSet& run_set, bool resume) {
  std::error_code error;
  if (is_empty_folder(out)) return;
  if (!resume)
    throw UsageError(fmt::format(
        "--out {}: is not empty; give a new folder, or --resume to go on with the search in it",
        out.string()));
  const fs::path first = run_set.runs.size() == 1 ? out : out / run_set.runs[0].folder;
  if (!fs::exists(first / "search.json", error) && !holds_only_unfinished(out))
    throw UsageError(
        fmt::format("--resume: {} holds files, but no search made by ticopd", out.string()));
}

std::string step_sizes(const StepSizes& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{} = {}", text.empty() ? "" : "  ", name, value);
  return text;
}

// Returns the callback that draws the live line of a search; empty if nobody would see it.
std::function<void(const TuneProgress&)> watch(const std::string& label, const TuneFlags& flags) {
  if (flags.quiet || !live()) return {};
  return [label, begin = seconds_now(), first = -1.0](const TuneProgress& p) mutable {
    if (first < 0) first = p.done;  // trials known from before take no time
    const double share = p.done - first;
    draw_live(fmt::format("{}  {} trials  {:.0f} %  best {}  ETA at most {}", label, p.trials,
                          100 * p.done, std::isnan(p.best) ? "-" : fmt::format("{:.5g}", p.best),
                          share > 0 ? duration((seconds_now() - begin) / share * (1 - p.done))
                                    : std::string("?")),
              "");
  };
}

Tuned tune_one(const RunSet::Run& run, const fs::path& out, const TuneFlags& flags) {
  TuneOptions options;
  options.prepare = {flags.threads, flags.offline, [&](const std::string& text) {
                       if (!flags.quiet || is_warning(text)) tell("{}\n", text);
                     }};
  options.prepare.device = device_of(flags);
  options.out = out;
  options.stop = &stop_requested();
  options.metric = flags.metric;
  options.runs = flags.runs;
  options.budget_bits = flags.budget_bits;
  options.on_progress = watch(run.label, flags);
  const Tuned tuned = tune(run.config, options);
  if (options.on_progress) clear_live();
  return tuned;
}

Words command_line(const fs::path& file, const TuneFlags& flags) {
  Words words{"ticopd", "tune", file.string()};
  const Words more = words_to_repeat(flags);
  words.insert(words.end(), more.begin(), more.end());
  if (!flags.metric.empty()) words.insert(words.end(), {"--metric", flags.metric});
  if (flags.runs > 0) words.insert(words.end(), {"--runs", fmt::format("{}", flags.runs)});
  if (flags.budget_bits > 0)
    words.insert(words.end(), {"--budget-bits", fmt::format("{}", flags.budget_bits)});
  if (flags.budget_iterations > 0)
    words.insert(words.end(), {"--budget-iterations", std::to_string(flags.budget_iterations)});
  return words;
}

int tune_file(const fs::path& file, TuneFlags flags) {
  device_of(flags);  // throws first if the device is missing
  require_folder_to_resume(flags.resume, flags.out, "search");
  if (flags.budget_bits > 0 && flags.budget_iterations > 0)
    throw UsageError("--budget-bits and --budget-iterations: give only one of them");
  std::vector<std::string> set = flags.set;
  // The budget overrides `iterations`, as --set iterations=N would.
  if (flags.budget_iterations > 0)
    set.push_back(fmt::format("iterations={}", flags.budget_iterations));
  const RunSet run_set = read_run_set(std::span(&file, 1), set);
  FolderClaim claim = folder_for(flags.out, "tune-" + run_set.name);
  claim.hold();
  const fs::path& out = claim.path();
  refuse_if_taken(out, run_set, flags.resume);
  remove_unfinished(out);
  std::vector<Tuned> found;
  json rows = json::array();
  for (const RunSet::Run& run : run_set.runs) {
    const fs::path folder = run_set.runs.size() == 1 ? out : out / run.folder;
    found.push_back(tune_one(run, folder, flags));
    const Tuned& t = found.back();
    if (!t.finished) {
      Words again = command_line(file, flags);
      again.insert(again.end(), {"--resume", "--out", out.string()});
      throw Interrupted("interrupted; all is saved, go on with: " + quoted(again));
    }
    if (const std::string missing = draw_search(folder, t, &stop_requested()); !missing.empty())
      tell("missing: {}\n", missing);
    if (!flags.json)
      show("{}: {}\n  {} {:.6g} after {} rounds; {} trials, {} diverged, cost {:.1f} runs\n",
           run.label, step_sizes(t.values), t.metric, t.value, t.rounds, t.trials, t.lost, t.cost);
    std::fflush(stdout);  // the next result may take hours
    rows.push_back({{"label", run.label},
                    {"step_sizes", t.values},
                    {"metric", t.metric},
                    {"value", t.value},
                    {"iterations", t.rounds},
                    {"trials", t.trials},
                    {"diverged", t.lost},
                    {"cost", t.cost},
                    {"folder", folder.string()}});
  }
  write_atomically(out / "tuned.toml", tuned_toml(run_set, found));
  if (flags.json)
    show_json(rows);
  else
    show("written: {}\n", (out / "tuned.toml").string());
  return 0;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("tune", "Find step sizes by successive halving");
  auto file = std::make_shared<fs::path>();
  auto flags = std::make_shared<TuneFlags>();
  command->add_option("FILE", *file, "An experiment, or a comparison to tune each run of it")
      ->required();
  add_run_flags(*command, *flags, "tune-NAME-TIME");
  command
      ->add_option("--metric", flags->metric,
                   "Metric to optimize at the end, a column of metrics.csv; default loss_max, the "
                   "worst agent's loss")
      ->type_name("METRIC");
  command->add_option("--runs", flags->runs, "Cost of the search, in full runs; default 40")
      ->check(CLI::Range(2, 1'000'000));
  command
      ->add_option("--budget-bits", flags->budget_bits,
                   "A full run ends when each agent has sent this many bits: fair between codecs")
      ->check(number_above_zero())
      ->type_name("BITS");
  command
      ->add_option("--budget-iterations", flags->budget_iterations,
                   "A full run ends after this many rounds; default: the file's iterations")
      ->check(CLI::Range(1u, 0xffffffffu))
      ->type_name("ROUNDS");
  command->footer(
      "Writes tuned.toml, trials.csv and a picture of the search. Each algorithm has its own\n"
      "ranges; [tune.search] sets others: alpha = [0.01, 1], or alpha = 0.1 to fix it.\n"
      "Examples:\n"
      "  ticopd tune experiments/mnist_ring10.toml --set problem.max_samples=2000 --runs 20\n"
      "  ticopd tune experiments/mnist_ring10.toml --set codec.bits=4 --budget-bits 5e8\n"
      "  ticopd tune my.toml --metric accuracy_min --out runs/tune    (Ctrl-C; then --resume)");
  command->callback([=, &action] { action = [=] { return tune_file(*file, *flags); }; });
}

}  // namespace ticopd::app
