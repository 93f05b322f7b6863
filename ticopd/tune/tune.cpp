#include "ticopd/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <thread>

#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/plugins.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/cores.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/tune/goal.hpp"
#include "ticopd/tune/limits.hpp"
#include "ticopd/tune/problems.hpp"
#include "ticopd/tune/trial_run.hpp"
#include "ticopd/tune/trials.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int format_of_search = 3;     // of search.json; 0.2 and before had none
constexpr double fewest_to_hold = 6;    // with fewer full runs none is spared to run on
constexpr std::size_t kept_states = 8;  // of the best full runs, which may be asked to run on

Goal chosen_goal(const Config& config, const TuneOptions& options) {
  std::string metric = options.metric;
  if (metric.empty() && config.has("tune.metric")) metric = config.get<std::string>("tune.metric");
  return Goal::parse(metric, level_of(config.get<std::string>("log.level")));
}

// One search. It prepares the problem once, lets Halving choose the trials and runs them in
// parallel. Its only state is trials.csv and the checkpoints of trials, so it can be stopped at any
// time.
template <class T>
class Tuning {
 public:
  Tuning(const Config& config, const TuneOptions& options)
      : options_(options),
        goal_(chosen_goal(config, options)),
        seeds_(chosen_seeds(config, options)),
        space_(config),
        problems_(space_, seeds_, options.prepare),
        cores_(options.prepare.threads > 0 ? options.prepare.threads : usable_cores()),
        log_(options.out / "trials.csv", axis_names(), goal_.text),
        runs_(space_, problems_, goal_, seeds_, options.out / "trials", options.stop) {
    runs_.measure_starts(cores_);
    plan_.dimensions = space_.axes().size();
    for (const SearchAxis& axis : space_.axes()) {
      plan_.rising.push_back(axis.inverse);
      plan_.listed.push_back({axis.listed.size(), axis.ordered});
    }
    plan_.seed = config.get<std::uint64_t>(config.has("tune.seed") ? "tune.seed" : "seed");
    plan_.rounds = options.budget_bits > 0 ? rounds_for_bits() : problems_.first().iterations;
    bits_per_round_ = options.budget_bits / plan_.rounds;
    plan_.runs = options.runs > 0          ? options.runs
                 : config.has("tune.runs") ? config.get<double>("tune.runs")
                                           : 40;
    plan_.hold = plan_.runs >= fewest_to_hold && plan_.rounds <= 0x7fffffff;
    runs_.set({plan_.rounds, bits_per_round_});
    claim_folder();
  }

  Tuned operator()() {
    Halving halving(
        plan_, [&](auto point) { return space_.admit(point); },
        [&](auto trials, auto rounds) { return advance(trials, rounds); });
    const Trial* best = halving.search();
    log_.publish();
    Tuned tuned;
    tuned.finished = !halving.stopped();
    tuned.metric = goal_.text;
    tuned.rounds = plan_.rounds;
    tuned.cost = halving.cost();
    tuned.seeds = seeds_;
    tuned.left_out = space_.left_out();
    for (const TrialResult& r : log_.results()) {
      tuned.trials = std::max(tuned.trials, r.trial + 1);
      tuned.lost += std::isnan(r.metric);
    }
    if (!tuned.finished) return tuned;
    fs::remove_all(options_.out / "trials");
    if (!best)
      throw Diverged(fmt::format("diverged: all {} trials; give [tune.search] other ranges for {}",
                                 tuned.trials, fmt::join(axis_names(), ", ")));
    tuned.values = space_.at(best->point);
    tuned.beyond = best->beyond;
    tuned.grew = grown_.size();
    const Outcome outcome = *outcome_of(best->id, plan_.rounds);
    tuned.value = outcome.value;
    if (!goal_.has_target() || bits_per_round_ > 0) tuned.rounds = outcome.made;
    json tree = space_.with(tuned.values).tree();
    tree["iterations"] = tuned.rounds;
    tuned.theory =
        theory_of(Config::from_json(tree, config_folder()), options_.prepare, options_.stop);
    write_answer(tuned);
    return tuned;
  }

 private:
  // A trial after some rounds, over all its seeds.
  struct Outcome {
    double value = 0, score = 0;
    double spent = 0;  // rounds, mean over the seeds
    std::uint32_t made = 0;
    bool grew = false;
  };

  static std::vector<std::uint64_t> chosen_seeds(const Config& config, const TuneOptions& options) {
    if (!options.seeds.empty()) return options.seeds;
    const auto first = config.get<std::uint64_t>("seed");
    if (config.has("tune.seeds")) return seeds_of(config.tree()["tune"]["seeds"], first);
    return {first};
  }

  fs::path config_folder() const { return space_.with({}).folder(); }

  std::vector<std::string> axis_names() const {
    std::vector<std::string> names;
    for (const SearchAxis& a : space_.axes()) names.push_back(a.name);
    return names;
  }

  // The bits that an agent sends per round, measured in a short run with arbitrary step sizes.
  // These may be far too long, so a run that diverges is repeated with half the rounds. Some
  // methods send nothing for many rounds, so a silent run is repeated with twice the rounds.
  double bits_of_a_round() const {
    Setup<T> probe = problems_.first();
    probe.iterations = std::min(probe.iterations, 32u);
    probe.watch.only_last = true;
    probe.execution.threads = cores_;
    for (bool diverged = false;;) try {
        const double bits = solve(problems_.of(seeds_.front()).algorithm, probe).last.bits_payload;
        if (bits > 0 || diverged || probe.iterations >= 100'000) return bits / probe.iterations;
        probe.iterations *= 2;
      } catch (const Diverged&) {
        if (probe.iterations <= 2) throw;
        diverged = true;
        probe.iterations /= 2;
      }
  }

  // An estimate: the length of some codes differs from round to round, and some methods do not send
  // in every round. A trial ends by the bits that it has really sent.
  std::uint32_t rounds_for_bits() const {
    const double per_round = bits_of_a_round();
    const double rounds = std::floor(options_.budget_bits / per_round);
    if (!(rounds >= 1) || rounds > 0xffffffff)
      throw ConfigError(
          fmt::format("--budget-bits {}: one round sends {} bits, allowed are 1 to "
                      "4294967295 rounds",
                      options_.budget_bits, per_round));
    return static_cast<std::uint32_t>(rounds);
  }

  // A folder belongs to one search. Resuming it needs the same config, metric and budget.
  void claim_folder() {
    const fs::path file = options_.out / "search.json";
    json search = {{"config", space_.with({}).identity()},  // with fixed values of [tune.search]
                   {"format", format_of_search},
                   {"metric", goal_.text},
                   {"seeds", seeds_},
                   {"rounds", plan_.rounds},
                   {"budget_bits", options_.budget_bits},
                   {"runs", plan_.runs},
                   {"seed", plan_.seed},
                   {"axes", axis_names()}};
    // The values of searched parameters do not matter, so they may change before a resume.
    for (const SearchAxis& a : space_.axes()) {
      const auto at = pointer_to(a.key);
      if (search["config"].contains(at)) search["config"][at.parent_pointer()].erase(at.back());
    }
    search["inputs"] = problems_.inputs();
    search["ranges"] = json::array();
    for (const SearchAxis& a : space_.axes())
      search["ranges"].push_back(a.listed.empty() ? json{a.low, a.high, a.closed} : json(a.listed));
    for (const json& plugin : plugins_json()) search["plugins"].push_back(plugin["hash"]);
    remove_unfinished(options_.out);
    if (fs::exists(file)) {
      json before = parse_json(read_file(file));
      if (!before.is_object()) throw FormatError(file.string() + ": is not a search");
      if (before.value("format", json()) != format_of_search)
        throw ConfigError(fmt::format(
            "--resume: {} holds a search of another version of ticopd, whose trials were judged in "
            "another way; it cannot be continued: give a new folder",
            options_.out.string()));
      before.erase("answer");
      const json inputs = before.value("inputs", json());
      const json now = std::exchange(search["inputs"], inputs);
      if (const std::string difference = first_difference(search, before); !difference.empty())
        throw ConfigError(fmt::format("--resume: {} holds another search: {}",
                                      options_.out.string(), difference));
      if (const std::string difference = difference_of_inputs(now, inputs); !difference.empty())
        throw ConfigError(fmt::format("--resume: {} holds a search on other data: {}",
                                      options_.out.string(), difference));
      log_.load();
      return;
    }
    std::error_code error;
    fs::create_directories(options_.out, error);
    if (error)
      throw DiskError(
          fmt::format("{}: cannot be created: {}", options_.out.string(), error.message()));
    write_atomically(file, json_text(search));
  }

  // Adds what was found to search.json.
  void write_answer(const Tuned& tuned) const {
    const fs::path file = options_.out / "search.json";
    json search = parse_json(read_file(file));
    search["answer"] = {{"values", tuned.values},
                        {"value", std::isfinite(tuned.value) ? json(tuned.value) : json()},
                        {"iterations", tuned.rounds},
                        {"cost", tuned.cost},
                        {"beyond", beyond_in_words(tuned)},
                        {"left_out", tuned.left_out},
                        {"theory", tuned.theory}};
    write_atomically(file, json_text(search));
  }

  // Empty while a seed is missing.
  std::optional<Outcome> outcome_of(std::size_t trial, std::uint32_t rounds) const {
    Outcome all;
    std::vector<double> values, at_end;
    for (const std::uint64_t seed : seeds_) {
      const auto result = log_.find(trial, rounds, seed);
      if (!result) return std::nullopt;
      values.push_back(result->metric);
      at_end.push_back(result->at_end);
      all.spent += static_cast<double>(result->spent) / static_cast<double>(seeds_.size());
      all.made = std::max(all.made, result->made);
      all.grew = all.grew || result->grew || std::isnan(result->metric);
    }
    all.value = median(values);
    all.score = goal_.score(all.value, median(at_end));
    return all;
  }

  struct Task {
    const Trial* trial;
    std::uint64_t seed;
  };

  Halving::Spent advance(std::span<Trial*> trials, std::uint32_t rounds) {
    std::vector<Task> todo;
    for (const Trial* t : trials)
      for (const std::uint64_t seed : seeds_)
        if (!log_.find(t->id, rounds, seed)) todo.push_back({t, seed});
    // A stage replayed from the log removes nothing: a checkpoint may belong to a later stage.
    if (!todo.empty()) forget_all_but(trials);
    run_side_by_side(todo, rounds);
    if (!todo.empty()) log_.publish();  // before a trial runs beyond the round of its result
    Halving::Spent spent;
    for (Trial* t : trials) {
      const auto outcome = outcome_of(t->id, rounds);
      if (!outcome) return {0, false};
      spent.rounds += outcome->spent;
      t->rounds = rounds;
      t->score = rounds > plan_.rounds && outcome->grew ? INFINITY : outcome->score;
      if (rounds > plan_.rounds && outcome->grew) grown_.insert(t->id);
      if (rounds != plan_.rounds || std::isinf(t->score)) continue;
      full_runs_[t->id] = t->score;
      if (!(t->score >= best_score_)) {
        best_score_ = t->score;
        best_value_ = outcome->value;
      }
    }
    rounds_before_ += spent.rounds;
    return spent;
  }

  // Removes the checkpoints of dropped trials. The best full runs may be asked to run on.
  void forget_all_but(std::span<Trial*> trials) {
    std::vector<std::pair<double, std::size_t>> best;
    for (const auto& [id, score] : full_runs_) best.emplace_back(score, id);
    std::ranges::sort(best);
    best.resize(std::min(best.size(), plan_.hold ? kept_states : 0));
    std::set<fs::path> kept;
    for (const std::uint64_t seed : seeds_) {
      for (const auto& [score, id] : best) kept.insert(runs_.checkpoint(id, seed));
      for (const Trial* t : trials) kept.insert(runs_.checkpoint(t->id, seed));
    }
    fs::create_directories(options_.out / "trials");
    for (const auto& entry : fs::directory_iterator(options_.out / "trials"))
      if (!kept.contains(entry.path())) fs::remove(entry.path());
  }

  void run_side_by_side(std::span<const Task> tasks, std::uint32_t rounds) {
    if (tasks.empty()) return;
    std::atomic<std::size_t> next = 0;
    rounds_now_ = 0;
    // On a GPU trials run one after the other: each one fills it.
    const int side_by_side = options_.prepare.device == Device::cuda ? 1 : cores_;
    const int workers = std::min(side_by_side, static_cast<int>(tasks.size()));
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(workers));
    const auto work = [&](std::size_t worker) {
      try {
        for (std::size_t i; (i = next++) < tasks.size() && !stop_requested();)
          run(tasks[i], rounds, std::max(1, cores_ / workers));
      } catch (...) {
        // The other workers finish their trial and take no new one.
        errors[worker] = std::current_exception();
        next = tasks.size();
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t w = 1; w < static_cast<std::size_t>(workers); ++w)
      threads.emplace_back(work, w);
    work(0);
    for (std::thread& t : threads) t.join();
    for (const std::exception_ptr& e : errors)
      if (e) std::rethrow_exception(e);
  }

  void run(const Task& task, std::uint32_t rounds, int threads) {
    const auto before = log_.find(task.trial->id, task.trial->rounds, task.seed);
    const auto full = log_.find(task.trial->id, plan_.rounds, task.seed);
    auto result = runs_.run(*task.trial, task.seed, rounds, before, full, threads, [&] {
      rounds_now_.fetch_add(1 / static_cast<double>(seeds_.size()));
      report();
    });
    if (!result) return;  // stopped and saved: a resumed search continues it
    log_.add(std::move(*result));
    ++trials_now_;
  }

  bool stop_requested() const { return options_.stop && options_.stop->load(); }

  void report() {
    if (!options_.on_progress) return;
    // Skip a report that would have to wait: progress must not slow down the trials.
    const std::unique_lock lock(reporting_, std::try_to_lock);
    if (!lock || seconds_now() - reported_at_ < 0.1) return;
    reported_at_ = seconds_now();
    const double all = plan_.runs * plan_.rounds;
    options_.on_progress({std::min(1.0, (rounds_before_ + rounds_now_.load()) / all),
                          trials_now_.load(), best_value_});
  }

  const TuneOptions& options_;
  Goal goal_;
  std::vector<std::uint64_t> seeds_;
  Space space_;
  Problems<T> problems_;
  int cores_;
  TrialLog log_;
  TrialRuns<T> runs_;
  Halving::Plan plan_;
  double bits_per_round_ = 0;  // if there is a bit budget; else 0
  double best_score_ = NAN, best_value_ = NAN;
  std::map<std::size_t, double> full_runs_;  // their scores
  std::set<std::size_t> grown_;
  double rounds_before_ = 0;
  std::atomic<double> rounds_now_ = 0;
  std::atomic<std::size_t> trials_now_ = 0;
  std::mutex reporting_;
  double reported_at_ = 0;
};

}  // namespace

std::vector<std::uint64_t> seeds_of(const json& given, std::uint64_t first) {
  if (given.is_array()) return given.get<std::vector<std::uint64_t>>();
  std::vector<std::uint64_t> seeds(given.get<std::size_t>());
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text, std::uint64_t first) {
  if (text.empty()) return {};
  json given = json::array();
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto seed = parse_number<std::int64_t>(trimmed(part));
    if (!seed)
      throw UsageError(fmt::format(
          "--seeds {}: expected a number of seeds, such as 3, or a list, such as 1,5,9", text));
    given.push_back(*seed);
  }
  if (given.size() == 1 && text.back() != ',') given = json(given[0]);
  check_value("--seeds", domain::seeds(), given);
  return seeds_of(given, first);
}

std::vector<std::string> theory_in_words(const Tuned& tuned) {
  return limits_in_words(tuned.theory);
}

std::string beyond_in_words(const Tuned& tuned) {
  const std::string passed_over =
      tuned.grew == 0 ? "" : fmt::format("; {} that looked better grew", tuned.grew);
  switch (tuned.beyond) {
    case Trial::Beyond::held:
      return "held for twice the budget" + passed_over;
    case Trial::Beyond::grew:
      return "grew beyond the budget, as did all that were run on";
    case Trial::Beyond::unknown:
      break;
  }
  return "not run beyond the budget" + passed_over;
}

void check_search(const Config& config, const TuneOptions& options) {
  chosen_goal(config, options);
  Space(config).anywhere();
}

Tuned tune(const Config& config, const TuneOptions& options) {
  if (config.get<std::string>("precision") == "double") return Tuning<double>(config, options)();
  return Tuning<float>(config, options)();
}

}  // namespace ticopd
