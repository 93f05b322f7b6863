#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/studies/search.hpp"
#include "ticopd/system/clock.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;

struct TuneFlags : RunFlags {
  std::string metric;
  std::string seeds;
  double runs = 0;
  double budget_bits = 0;
  std::uint32_t budget_iterations = 0;
};

std::string in_words(const TriedValues& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{} = {}", text.empty() ? "" : "  ", name, value.dump());
  return text;
}

// Returns the callback that draws the live line of a search.
std::function<void(const TuneProgress&)> watch(const std::string& label) {
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

Words command_line(const fs::path& file, const TuneFlags& flags) {
  Words words{"ticopd", "tune", file.string()};
  const Words more = words_to_repeat(flags);
  words.insert(words.end(), more.begin(), more.end());
  if (!flags.metric.empty()) words.insert(words.end(), {"--metric", flags.metric});
  if (!flags.seeds.empty()) words.insert(words.end(), {"--seeds", flags.seeds});
  if (flags.runs > 0) words.insert(words.end(), {"--runs", fmt::format("{}", flags.runs)});
  if (flags.budget_bits > 0)
    words.insert(words.end(), {"--budget-bits", fmt::format("{}", flags.budget_bits)});
  if (flags.budget_iterations > 0)
    words.insert(words.end(), {"--budget-iterations", std::to_string(flags.budget_iterations)});
  return words;
}

SearchOptions options_of(const TuneFlags& flags) {
  SearchOptions options;
  options.prepare = {flags.threads, flags.offline, [quiet = flags.quiet](const std::string& text) {
                       if (!quiet || is_warning(text)) tell("{}\n", text);
                     }};
  options.prepare.device = device_of(flags);
  options.out = flags.out;
  options.resume = flags.resume;
  options.stop = &stop_requested();
  options.metric = flags.metric;
  options.runs = flags.runs;
  options.budget_bits = flags.budget_bits;
  return options;
}

void print(const Found& found, bool as_json) {
  const Tuned& t = found.tuned;
  if (!found.missing.empty()) tell("missing: {}\n", found.missing);
  if (t.beyond == Trial::Beyond::grew)
    tell(
        "warning: {}: every trial grew when it went on beyond its budget; give it more rounds, or "
        "[tune.search] shorter steps\n",
        found.label);
  if (t.beyond == Trial::Beyond::unknown && t.grew > 0)
    tell(
        "warning: {}: {} trials grew when they went on beyond their budget, and no run was left to "
        "try this one; give more --runs\n",
        found.label, t.grew);
  if (std::isinf(t.value))
    tell("warning: {}: no trial reached {}; the one that came closest is chosen\n", found.label,
         t.metric);
  for (const std::string& what : t.left_out) tell("left out: {}\n", what);
  if (!as_json) {
    show("{}: {}\n  {} {} after {} rounds; {} trials, {} diverged, cost {:.1f} runs\n", found.label,
         in_words(t.values), t.metric,
         std::isinf(t.value) ? "not reached" : fmt::format("{:.6g}", t.value), t.rounds, t.trials,
         t.lost, t.cost);
    if (t.seeds.size() > 1)
      show("  median of {} seeds: {}\n", t.seeds.size(), fmt::join(t.seeds, ", "));
    show("  {}\n", beyond_in_words(t));
    for (const std::string& limit : theory_in_words(t)) show("  {}\n", limit);
  }
  std::fflush(stdout);  // the next result may take hours
}

// The budget in rounds overrides `iterations`, as --set iterations=N would.
RunSet read_set(const fs::path& file, const TuneFlags& flags) {
  std::vector<std::string> set = flags.set;
  if (flags.budget_iterations > 0)
    set.push_back(fmt::format("iterations={}", flags.budget_iterations));
  return read_run_set(std::span(&file, 1), set, Seeds::together);
}

int tune_file(const fs::path& file, const TuneFlags& flags) {
  device_of(flags);  // throws first if the device is missing
  require_folder_to_resume(flags.resume, flags.out, "search");
  if (flags.budget_bits > 0 && flags.budget_iterations > 0)
    throw UsageError("--budget-bits and --budget-iterations: give only one of them");
  const RunSet run_set = read_set(file, flags);
  SearchOptions options = options_of(flags);
  options.seeds = parse_seeds(flags.seeds, run_set.runs.front().config.get<std::uint64_t>("seed"));
  fs::path folder;
  bool stopped = false;  // false if something other than a search was interrupted
  const bool watched = !flags.quiet && live();
  std::function<void(const TuneProgress&)> draw;
  options.on_folder = [&](const fs::path& out) { folder = out; };
  options.on_begin = [&](const RunSet::Run& run, std::size_t) { draw = watch(run.label); };
  if (watched) options.on_progress = [&](const TuneProgress& p) { draw(p); };
  options.on_end = [&](const Tuned& tuned) {
    if (watched) clear_live();
    stopped = !tuned.finished;
  };
  options.on_found = [&](const Found& found) { print(found, flags.json); };
  Searched searched;
  try {
    searched = search_step_sizes(run_set, options);
  } catch (const Interrupted& e) {
    if (!stopped) throw;
    Words again = command_line(file, flags);
    again.insert(again.end(), {"--resume", "--out", folder.string()});
    throw Interrupted(fmt::format("{}, go on with: {}", e.what(), quoted(again)));
  }
  if (flags.json)
    show_json(searched_json(searched));
  else
    show("written: {}\n", searched.tuned_toml.string());
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
                   "What is to be best: a column of metrics.csv at the end, default loss_max (the "
                   "worst agent's loss); or bits_to:METRIC=VALUE, iterations_to:METRIC=VALUE")
      ->type_name("METRIC");
  command
      ->add_option("--seeds", flags->seeds,
                   "Runs of each trial: so many seeds from `seed` on, or a list: 1,5,9; a trial "
                   "counts with their median")
      ->type_name("N");
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
      "  ticopd tune my.toml --seeds 3 --metric bits_to:accuracy_min=0.9\n"
      "  ticopd tune my.toml --metric accuracy_min --out runs/tune    (Ctrl-C; then --resume)");
  command->callback([=, &action] { action = [=] { return tune_file(*file, *flags); }; });
}

}  // namespace ticopd::app
