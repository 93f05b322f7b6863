#include "ticopd/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/plugins.hpp"
#include "ticopd/report/series.hpp"
#include "ticopd/run/divergence.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/run/run.hpp"
#include "ticopd/run/saved_state.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/cores.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/tune/trials.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// One search. It prepares the problem once, lets Halving choose the trials and runs them in
// parallel. Its only state is trials.csv and the checkpoints of trials, so it can be stopped at any
// time.
template <class T>
class Tuning {
 public:
  Tuning(const Config& config, const TuneOptions& options)
      : options_(options),
        prepared_(prepare<T>(with_any_steps(config), options.prepare)),
        space_(config, prepared_.spectrum),
        metric_(chosen_metric(config, options)),
        cores_(options.prepare.threads > 0 ? options.prepare.threads : usable_cores()),
        log_(options.out / "trials.csv", axis_names(), metric_),
        first_loss_(loss_at_start()) {
    plan_.dimensions = space_.axes().size();
    for (const SearchAxis& axis : space_.axes()) plan_.rising.push_back(axis.inverse);
    plan_.seed = config.get<std::uint64_t>(config.has("tune.seed") ? "tune.seed" : "seed");
    plan_.rounds = options.budget_bits > 0 ? rounds_for_bits() : prepared_.setup.iterations;
    bits_per_round_ = options.budget_bits / plan_.rounds;
    plan_.runs = options.runs > 0          ? options.runs
                 : config.has("tune.runs") ? config.get<double>("tune.runs")
                                           : 40;
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
    tuned.metric = metric_;
    tuned.rounds = plan_.rounds;
    tuned.cost = halving.cost();
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
    const TrialResult result = *log_.find(best->id, plan_.rounds);
    tuned.value = result.metric;
    tuned.rounds = result.made;
    return tuned;
  }

 private:
  // Loading a problem needs valid step sizes, but their values do not matter.
  static Config with_any_steps(const Config& config) {
    json tree = config.tree();
    for (const ParameterInfo& p :
         algorithm_info(tree["algorithm"]["name"].get<std::string>()).parameters)
      if (p.required && !(p.range.whole && tree["algorithm"].contains(p.name)))
        tree["algorithm"][std::string(p.name)] =
            p.range.whole ? p.range.low : std::min(1e-3, p.range.high);
    tree["network"]["transport"] = "none";  // same result, and the cores are left for trials
    return Config::from_json(tree, config.folder());
  }

  static std::string chosen_metric(const Config& config, const TuneOptions& options) {
    std::string metric = options.metric;
    if (metric.empty() && config.has("tune.metric"))
      metric = config.get<std::string>("tune.metric");
    const MetricLevel level = level_of(config.get<std::string>("log.level"));
    if (metric.empty()) metric = level == MetricLevel::local ? "loss_local" : "loss_max";
    require_metric("tune.metric", metric);
    if (const MetricInfo& info = *find_metric(metric); !measured_at(info, level))
      throw ConfigError(
          fmt::format("tune.metric = \"{}\": log.level = \"{}\" does not measure it; allowed: "
                      "log.level = \"{}\", or another metric",
                      metric, name_of(level), name_of(info.level)));
    return metric;
  }

  std::vector<std::string> axis_names() const {
    std::vector<std::string> names;
    for (const SearchAxis& a : space_.axes()) names.push_back(a.name);
    return names;
  }

  // The bits that an agent sends per round, measured in a short run with arbitrary step sizes.
  // These may be far too long, so a run that diverges is repeated with half the rounds. Some
  // methods send nothing for many rounds, so a silent run is repeated with twice the rounds.
  double bits_of_a_round() const {
    Setup<T> probe = prepared_.setup;
    probe.iterations = std::min(probe.iterations, 32u);
    probe.watch.only_last = true;
    probe.execution.threads = cores_;
    for (bool diverged = false;;) try {
        const double bits = solve(prepared_.algorithm, probe).last.bits_payload;
        if (bits > 0 || diverged || probe.iterations >= 100'000) return bits / probe.iterations;
        probe.iterations *= 2;
      } catch (const Diverged&) {
        if (probe.iterations <= 2) throw;
        diverged = true;
        probe.iterations /= 2;
      }
  }

  // Trials are measured at their end alone. So the loss at the start, which tells if a trial
  // diverged, is measured here, once for all.
  std::optional<double> loss_at_start() const try {
    Setup<T> setup = prepared_.setup;
    setup.execution.threads = cores_;
    setup.watch.stop = options_.stop;
    return loss_of(Run<T>(prepared_.algorithm, setup).measure(setup.watch.level));
  } catch (const MeasuringStopped&) {  // asked to stop: no trial will begin
    return std::nullopt;
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
                   {"metric", metric_},
                   {"rounds", plan_.rounds},
                   {"budget_bits", options_.budget_bits},
                   {"runs", plan_.runs},
                   {"seed", plan_.seed},
                   {"axes", axis_names()}};
    // The values of searched parameters do not matter, so they may change before a resume.
    for (const std::string& axis : axis_names()) search["config"]["algorithm"].erase(axis);
    Alone alone;
    search["inputs"] = inputs_of(prepared_.setup, alone);
    search["ranges"] = json::array();
    for (const SearchAxis& a : space_.axes()) search["ranges"].push_back({a.low, a.high, a.closed});
    for (const json& plugin : plugins_json()) search["plugins"].push_back(plugin["hash"]);
    remove_unfinished(options_.out);
    if (fs::exists(file)) {
      const json before = parse_json(read_file(file));
      if (!before.is_object()) throw FormatError(file.string() + ": is not a search");
      const json inputs = before.value("inputs", json());  // a search of 0.1 has none
      const json now = std::exchange(search["inputs"], inputs);
      if (inputs.is_null()) search.erase("inputs");
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

  fs::path checkpoint(const Trial& trial) const {
    return options_.out / "trials" / fmt::format("{}.safetensors", trial.id);
  }

  Halving::Spent advance(std::span<Trial*> trials, std::uint32_t rounds) {
    std::vector<Trial*> todo;
    for (Trial* t : trials)
      if (!log_.find(t->id, rounds)) todo.push_back(t);
    // A stage replayed from the log removes nothing: a checkpoint may belong to a later stage.
    if (!todo.empty()) forget_all_but(trials);
    run_side_by_side(todo, rounds);
    if (!todo.empty()) log_.publish();  // before a trial runs beyond the round of its result
    Halving::Spent spent;
    for (Trial* t : trials) {
      const auto result = log_.find(t->id, rounds);
      if (!result) return {0, false};
      spent.rounds += result->spent;
      t->rounds = rounds;
      const bool lost = !std::isfinite(result->metric);
      t->score = lost ? INFINITY : (higher_is_better(metric_) ? -1 : 1) * result->metric;
      if (rounds == plan_.rounds && !lost && !(t->score >= best_score_)) best_score_ = t->score;
    }
    rounds_before_ += spent.rounds;
    return spent;
  }

  // Removes the checkpoints of dropped trials: nothing reads them any more.
  void forget_all_but(std::span<Trial*> trials) {
    fs::create_directories(options_.out / "trials");
    for (const auto& entry : fs::directory_iterator(options_.out / "trials"))
      if (std::ranges::none_of(trials,
                               [&](const Trial* t) { return checkpoint(*t) == entry.path(); }))
        fs::remove(entry.path());
  }

  void run_side_by_side(std::span<Trial* const> trials, std::uint32_t rounds) {
    if (trials.empty()) return;
    std::atomic<std::size_t> next = 0;
    rounds_now_ = 0;
    // On a GPU trials run one after the other: each one fills it.
    const int side_by_side = options_.prepare.device == Device::cuda ? 1 : cores_;
    const int workers = std::min(side_by_side, static_cast<int>(trials.size()));
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(workers));
    const auto work = [&](std::size_t worker) {
      try {
        for (std::size_t i; (i = next++) < trials.size() && !stop_requested();)
          run(*trials[i], rounds, std::max(1, cores_ / workers));
      } catch (...) {
        // The other workers finish their trial and take no new one.
        errors[worker] = std::current_exception();
        next = trials.size();
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

  bool stop_requested() const { return options_.stop && options_.stop->load(); }

  void run(const Trial& trial, std::uint32_t rounds, int threads) {
    TrialResult result{.trial = trial.id,
                       .bracket = trial.bracket,
                       .rounds = rounds,
                       .spent = rounds - trial.rounds,
                       .values = space_.at(trial.point),
                       .metric = NAN,
                       .bits_payload = NAN};
    const Config tried = space_.with(result.values);
    Setup<T> setup = prepared_.setup;
    setup.codec = configured_codec<T>(tried);
    setup.iterations = rounds;
    if (bits_per_round_ > 0) {
      // The bits end the trial. The rounds are only an upper limit, far above the estimate.
      setup.iterations = rounds > 0xffffffffu / 16 ? 0xffffffffu : 16 * rounds;
      setup.watch.until_bits = bits_per_round_ * rounds;
    }
    setup.watch.only_last = true;
    setup.watch.first_loss = first_loss_;
    setup.execution.threads = threads;
    setup.saving.file = checkpoint(trial);
    setup.saving.resume = true;
    setup.watch.stop = options_.stop;
    const Saved saved = read_saved(setup.saving.file);
    std::uint32_t last_round = std::max(trial.rounds, saved.round);
    // The checkpoint is beyond the wanted round, so the log has lost the result of that round. A
    // run cannot go back: start again.
    if (setup.watch.until_bits > 0 ? saved.bits > setup.watch.until_bits : saved.round > rounds) {
      fs::remove(setup.saving.file);
      last_round = trial.rounds;
    }
    setup.watch.on_round = [&](std::uint32_t round) {
      last_round = round;
      rounds_now_.fetch_add(1);
      report();
    };
    Warnings ignored;
    try {
      const auto algorithm =
          configured_algorithm<T>(tried, prepared_.spectrum, ignored, setup.execution.device);
      const Solution<T> solution = solve(algorithm, setup);
      if (!solution.finished) return;  // it is saved, and a resumed search continues it
      const std::optional<double> measured = value_of(solution.last, metric_);
      if (!measured)
        throw ConfigError(
            fmt::format("tune.metric = \"{}\": this run has no such metric", metric_));
      result.metric = *measured;
      result.bits_payload = solution.last.bits_payload;
      result.made = solution.rounds;
    } catch (const Diverged&) {
      result.spent = std::min(result.spent, last_round + 1 - std::min(last_round, trial.rounds));
      result.made = last_round;
    }
    log_.add(std::move(result));
    ++trials_now_;
  }

  // The checkpoint from which a stopped trial continues.
  struct Saved {
    std::uint32_t round = 0;
    double bits = 0;  // sent up to that round, mean over agents
  };
  Saved read_saved(const fs::path& file) const {
    Saved saved;
    if (!fs::exists(file)) return saved;
    const int agents = prepared_.setup.graph.agents();
    const SavedState state = SavedState::read(file, agents);
    saved.round = state.round;
    for (const json& a : state.ledger) saved.bits += 8 * a["payload_bytes"].get<double>() / agents;
    return saved;
  }

  void report() {
    if (!options_.on_progress) return;
    // Skip a report that would have to wait: progress must not slow down the trials.
    const std::unique_lock lock(reporting_, std::try_to_lock);
    if (!lock || seconds_now() - reported_at_ < 0.1) return;
    reported_at_ = seconds_now();
    const double all = plan_.runs * plan_.rounds;
    const double best = higher_is_better(metric_) ? -best_score_ : best_score_;
    options_.on_progress(
        {std::min(1.0, (rounds_before_ + rounds_now_.load()) / all), trials_now_.load(), best});
  }

  const TuneOptions& options_;
  Prepared<T> prepared_;
  Space space_;
  std::string metric_;
  int cores_;
  TrialLog log_;
  std::optional<double> first_loss_;
  Halving::Plan plan_;
  double bits_per_round_ = 0;  // if there is a bit budget; else 0
  double best_score_ = NAN;
  double rounds_before_ = 0;
  std::atomic<double> rounds_now_ = 0;
  std::atomic<std::size_t> trials_now_ = 0;
  std::mutex reporting_;
  double reported_at_ = 0;
};

}  // namespace

Tuned tune(const Config& config, const TuneOptions& options) {
  if (config.get<std::string>("precision") == "double") return Tuning<double>(config, options)();
  return Tuning<float>(config, options)();
}

}  // namespace ticopd
