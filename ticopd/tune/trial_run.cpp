#include "ticopd/tune/trial_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/run/divergence.hpp"
#include "ticopd/run/run.hpp"
#include "ticopd/run/saved_state.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Figures figures_of(const Metrics& m) {
  return {.loss = loss_of(m).value_or(NAN),
          .grad_norm2 = m.grad_norm2_max.value_or(NAN),
          .accuracy = m.accuracy_min.value_or(NAN)};
}

}  // namespace

template <class T>
TrialRuns<T>::TrialRuns(const Space& space, const Problems<T>& problems, const Goal& goal,
                        std::vector<std::uint64_t> seeds, fs::path folder,
                        const std::atomic<bool>* stop)
    : space_(space),
      problems_(problems),
      goal_(goal),
      seeds_(std::move(seeds)),
      folder_(std::move(folder)),
      stop_(stop) {}

template <class T>
void TrialRuns<T>::measure_starts(int threads) try {
  for (const std::uint64_t seed : seeds_) {
    Setup<T> setup = problems_.of(seed).setup;
    setup.execution.threads = threads;
    setup.watch.stop = stop_;
    const Metrics m = Run<T>(problems_.of(seed).algorithm, setup).measure(setup.watch.level);
    const std::optional<double> value = value_of(m, goal_.metric);
    if (!value)
      throw ConfigError(
          fmt::format("tune.metric = \"{}\": this run has no such metric", goal_.text));
    if (goal_.has_target() && goal_.reached(m))
      throw ConfigError(fmt::format(
          "tune.metric = \"{}\": the start has {} = {:g} already; give a target beyond it",
          goal_.text, goal_.metric, *value));
    start_[seed] = m;
  }
} catch (const MeasuringStopped&) {  // asked to stop: no trial will begin
}

template <class T>
fs::path TrialRuns<T>::checkpoint(std::size_t trial, std::uint64_t seed) const {
  return folder_ / (seeds_.size() == 1 ? fmt::format("{}.safetensors", trial)
                                       : fmt::format("{}-{}.safetensors", trial, seed));
}

template <class T>
std::optional<TrialResult> TrialRuns<T>::run(const Trial& trial, std::uint64_t seed,
                                             std::uint32_t rounds,
                                             const std::optional<TrialResult>& before,
                                             const std::optional<TrialResult>& full, int threads,
                                             const std::function<void()>& on_round) const {
  TrialResult result{.trial = trial.id,
                     .bracket = trial.bracket,
                     .rounds = rounds,
                     .spent = rounds - trial.rounds,
                     .values = space_.at(trial.point),
                     .metric = NAN,
                     .bits_payload = NAN,
                     .seed = seed};
  // It reached its target with fewer rounds.
  if (before && goal_.has_target() && rounds <= budget_.rounds && std::isfinite(before->metric)) {
    result = *before;
    result.rounds = rounds;
    result.spent = 0;
  } else if (!make_rounds(trial, result, threads, on_round)) {
    return std::nullopt;
  }
  if (rounds > budget_.rounds && before && !std::isnan(result.metric)) {
    // A run that is better half-way than at the end grows there, though it still gained.
    const Figures now{result.loss, result.grad_norm2, result.accuracy};
    for (const auto& then : {before, full})
      if (then)
        result.grew = result.grew || !why_grown(figures_of(start_.at(seed)),
                                                {then->loss, then->grad_norm2, then->accuracy}, now)
                                          .empty();
    if (goal_.has_target()) result.metric = before->metric;
  }
  if (goal_.has_target() && !std::isnan(result.metric) && result.made > 0)
    result.spent = rounds_between(before, result);
  return result;
}

// A trial that reaches its target ends there. With a budget in bits, rounds count as the bits of
// a usual round.
template <class T>
std::uint32_t TrialRuns<T>::rounds_between(const std::optional<TrialResult>& before,
                                           const TrialResult& now) const {
  if (budget_.bits_per_round > 0)
    return static_cast<std::uint32_t>(std::round(
        (now.bits_payload - (before ? before->bits_payload : 0)) / budget_.bits_per_round));
  return now.made - (before ? before->made : 0);
}

// False if it was asked to stop.
template <class T>
bool TrialRuns<T>::make_rounds(const Trial& trial, TrialResult& result, int threads,
                               const std::function<void()>& on_round) const {
  const std::uint32_t rounds = result.rounds;
  std::uint32_t last_round = trial.rounds;
  try {
    Prepared<T> tried = problems_.at(space_.with(result.values), result.seed);
    Setup<T>& setup = tried.setup;
    setup.iterations = rounds;
    if (budget_.bits_per_round > 0) {
      // The bits end the trial. The rounds are only an upper limit, far above the estimate, which
      // is of one codec.
      const std::uint64_t limit = (space_.changes_codec() ? 4096ull : 16ull) * rounds;
      setup.iterations = static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, 0xffffffff));
      setup.watch.until_bits = budget_.bits_per_round * rounds;
    }
    setup.watch.only_last = !goal_.has_target();
    if (const auto at = start_.find(result.seed); at != start_.end())
      setup.watch.first_loss = loss_of(at->second);
    setup.execution.threads = threads;
    setup.saving.file = checkpoint(trial.id, result.seed);
    setup.saving.resume = true;
    setup.watch.stop = stop_;
    const Saved saved = read_saved(setup.saving.file);
    last_round = std::max(trial.rounds, saved.round);
    // The checkpoint is beyond the wanted round, so the log has lost the result of that round. A
    // run cannot go back: start again.
    if (setup.watch.until_bits > 0 ? saved.bits > setup.watch.until_bits : saved.round > rounds) {
      fs::remove(setup.saving.file);
      last_round = trial.rounds;
    }
    setup.watch.on_round = [&](std::uint32_t round) {
      last_round = round;
      on_round();
    };
    return measure_end(tried, result);
  } catch (const MeasuringStopped&) {  // while the round of a checkpoint was measured again
    return false;
  } catch (const Diverged&) {
    result.spent = std::min(result.spent, last_round + 1 - std::min(last_round, trial.rounds));
    result.made = last_round;
  } catch (const ConfigError&) {
    // Step sizes may suit the graph of one seed, and not that of another. The first seed is that
    // of the search space: what it refuses is no trial.
    if (result.seed == seeds_.front()) throw;
    result.spent = 0;
  }
  return true;
}

template <class T>
bool TrialRuns<T>::measure_end(const Prepared<T>& tried, TrialResult& result) const {
  std::optional<Metrics> reached;
  Setup<T> setup = tried.setup;
  // A full run logs these rounds, and its last one; the last one of a shorter trial is not there.
  const auto judge = [&](const Metrics& m) {
    if (!reached && m.iteration > 0 && setup.watch.rounds(m.iteration, budget_.rounds) &&
        goal_.reached(m))
      reached = m;
  };
  const bool until_target = goal_.has_target() && result.rounds <= budget_.rounds;
  if (until_target) setup.watch.on_log = judge;
  Run<T> run(tried.algorithm, setup);
  // Reached in the round of the checkpoint, and killed before that was in the log.
  if (until_target && run.round() > 0) judge(run.measure(setup.watch.level));
  while (!reached && run.step() > 0) {
  }
  if (run.stopped()) return false;
  if (reached) run.save(setup.saving.file);
  const Metrics m = reached ? *reached : run.last();
  const std::optional<double> measured = value_of(m, goal_.metric);
  if (!measured)
    throw ConfigError(fmt::format("tune.metric = \"{}\": this run has no such metric", goal_.text));
  const Figures figures = figures_of(m);
  result.at_end = *measured;
  result.metric = !goal_.has_target() ? *measured : reached ? goal_.cost_of(m) : INFINITY;
  result.bits_payload = m.bits_payload;
  result.made = run.round();
  result.loss = figures.loss;
  result.grad_norm2 = figures.grad_norm2;
  result.accuracy = figures.accuracy;
  return true;
}

template <class T>
typename TrialRuns<T>::Saved TrialRuns<T>::read_saved(const fs::path& file) const {
  Saved saved;
  if (!fs::exists(file)) return saved;
  const int agents = problems_.first().graph.agents();
  const SavedState state = SavedState::read(file, agents);
  saved.round = state.round;
  for (const json& a : state.ledger) saved.bits += 8 * a["payload_bytes"].get<double>() / agents;
  return saved;
}

template class TrialRuns<float>;
template class TrialRuns<double>;

}  // namespace ticopd
