#include "ticopd/run/run.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "ticopd/network/cpu.hpp"
#include "ticopd/run/checkpoint.hpp"
#include "ticopd/run/checkpoint_notes.hpp"
#include "ticopd/run/decision.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/run/divergence.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/run/saved_state.hpp"
#include "ticopd/run/stopwatch.hpp"
#include "ticopd/run/surroundings.hpp"
#include "ticopd/run/traffic_record.hpp"
#include "ticopd/system/memory.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

template <class T>
std::unique_ptr<AnyNetwork<T>> make_network(const Setup<T>& s, Transport& transport, Pool& pool) {
  const Surroundings<T> surroundings = surroundings_of(s, transport, pool);
  if (s.execution.device == Device::cpu) return std::make_unique<CpuNetwork<T>>(surroundings);
  if constexpr (std::is_same_v<T, float>) {
    return cuda::make_network(surroundings, s.execution.cuda);
  } else {
    throw ConfigError("precision = \"double\": with --device cuda allowed is \"float\"");
  }
}

// Neither takes anything from an objective without samples: a batch would be all of f_i, silently.
template <class T>
void require_samples(const Setup<T>& s) {
  for (int agent = 0; agent < s.objective->agents(); ++agent)
    if (s.objective->samples(agent) > 0) return;
  if (s.batch > 0)
    throw ConfigError(
        fmt::format("problem.batch = {}: the objective has no samples, allowed is \"full\" "
                    "(setup.batch = 0)",
                    s.batch));
  if (s.watch.scope.samples > 0)
    throw ConfigError(
        fmt::format("log.samples = {}: the objective has no samples, allowed is 0 "
                    "(setup.watch.scope.samples = 0)",
                    s.watch.scope.samples));
}

template <class T>
Setup<T> checked(Setup<T> s) {
  check_setup(s);
  require_samples(s);
  return s;
}

}  // namespace

template <class T>
void check_setup(const Setup<T>& s) {
  if (!s.objective) throw ConfigError("setup.objective: is missing, and has no default");
  if (!s.codec) throw ConfigError("setup.codec: is null; leave it out for no compression");
  if (s.objective->agents() != s.graph.agents())
    throw ConfigError(fmt::format("setup.graph has {} agents, and setup.objective has {}",
                                  s.graph.agents(), s.objective->agents()));
  if (s.objective->dimension() == 0)
    throw ConfigError("setup.objective: its dimension is 0; allowed is a whole number from 1 up");
  if (s.iterations == 0)
    throw ConfigError("setup.iterations = 0: allowed is a whole number from 1 up");
  if (s.start_of && s.execution.device == Device::cuda)
    throw ConfigError("setup.start_of: with Device::cuda all agents have one start");
  if (s.execution.ranks < 1 || s.execution.threads < 1)
    throw ConfigError("ranks and threads: allowed are whole numbers from 1 up");
}

template void check_setup(const Setup<float>&);
template void check_setup(const Setup<double>&);

template <class T>
struct Run<T>::State {
  State(const RunFactory<T>& algorithm, Setup<T> given, Transport* rank)
      : setup(checked(std::move(given))),
        watch(setup.watch),
        transport(rank != nullptr                        ? *rank
                  : setup.execution.transport != nullptr ? *setup.execution.transport
                                                         : alone),
        // Ranks that live side by side in one process would all pin to the same processors.
        pool(setup.execution.threads, setup.execution.ranks == 1 && setup.execution.may_pin &&
                                          may_pin(setup.execution.threads)),
        net(make_network(setup, transport, pool)),
        traffic(name_of(setup.execution.device)),
        decision(transport, setup.saving, watch.stop),
        end(setup.iterations) {
    if (watch.until_bits > 0 && transport.size() > 1)
      throw ConfigError("a run that ends by the bits it sent must be in one process");
    traffic.begin(*net, json::array());
    inputs = inputs_of(setup, transport);
    if (watch.first_loss) first_loss = watch.first_loss;
    run = algorithm(*net);
    bits = bits_sent();  // a warm start has sent something already
    if (setup.saving.resume) restore(setup.saving.file);
  }

  bool leader() const { return transport.rank() == 0; }
  std::uint32_t round() const { return net->round(); }

  // Before the first round: what a run that only now begins, or that was saved at its end, needs.
  void begin() {
    if (std::exchange(begun, true)) return;
    if (leader() && watch.on_begin) watch.on_begin();
    keep_snapshot();
    if (round() > 0 && spent_all_bits()) end = round();  // ended, and was not told
    decision.begin_with(round() + 1);
    // Asked to stop while this round was measured, or a run that only now begins.
    if (must_log() && logged != round() && !log()) return;
    if (round() != end) return;
    save();
    // Killed after the last checkpoint and before the end: logged and digested then, not known now.
    if (last.iteration != round()) try {
        last = ticopd::measure(*net, *run, watch.level);
        last.seconds = clock.before();
      } catch (const MeasuringStopped&) {
        stopped = true;
      }
  }

  bool must_log() const {
    return watch.only_last ? round() == end && round() > 0 : watch.rounds(round(), end);
  }

  void make_round() {
    keep_snapshot();
    net->begin_round(round() + 1);
    transport.set_round(round());
    run->step();
    if (spent_all_bits()) end = round();
    if (must_log()) {
      if (!log()) return;
    } else if (watch.only_last && std::has_single_bit(round())) {
      look_at_models();
    }
    if (leader() && watch.on_round) watch.on_round(round());
    const Next next = decision.after(round(), end);
    stopped = next == Next::stop && round() < end;
    // At the end the last state, duals and surrogates included.
    if (next != Next::go || round() == end) save();
  }

  // Whether one more round like the last would be too much.
  bool spent_all_bits() {
    if (watch.until_bits <= 0) return false;
    bits_before = std::exchange(bits, bits_sent());
    return bits + (bits - bits_before) > watch.until_bits;
  }
  double bits_sent() {
    double sent = 0;
    for (const Ledger::Agent& a : net->ledger().agents)
      sent += 8 * static_cast<double>(a.payload_bytes) / net->placement().agents();
    return sent;
  }

  // False: asked to stop meanwhile. Then the state is saved, and this round is still to be logged.
  bool log() {
    Metrics m;
    try {
      m = ticopd::measure(*net, *run, watch.level);
      measure_own(*net, run->x(), watch.own, m);
    } catch (const MeasuringStopped&) {
      decision.give_up(round());
      stopped = true;
      save();
      return false;
    }
    if (watch.lyapunov && !watch.only_last) m.lyapunov = watch.lyapunov(*net, *run);
    // Full metrics need buffers as large as all models: they go back to the system until the next
    // logged round. The other levels need so little that to fault it in again would cost more.
    if (watch.level == MetricLevel::full && net->state_bytes() > (1u << 20)) give_memory_back();
    // A longer run does not log this round.
    if (round() == end && !watch.only_last && !watch.rounds(round(), 0))
      before_last_row = BeforeLastRow{digest.state(), logged};
    digest.add(*net, run->x());
    m.seconds = clock.seconds();
    last = m;
    logged = round();
    if (transport.size() == 1) logged_ledger = net->ledger().agents;
    if (leader() && watch.on_log) watch.on_log(m);
    if (m.iteration == 0) first_loss = loss_of(m);
    std::optional<Runaway> runaway = runaway_metric(m, first_loss);
    if (!runaway) runaway = runaway_model(*net, run->x());
    if (!runaway) return true;
    logged_ledger = ledger();  // all ranks are here
    throw diverged(fmt::format("diverged: {} after round {}", runaway->what, m.iteration));
  }

  void look_at_models() {
    if (const auto runaway = runaway_model(*net, run->x()))
      throw Diverged(fmt::format("diverged: {} at round {}", runaway->what, round()));
  }

  DivergedRun diverged(const std::string& what) const {
    DivergedRun e(what);
    e.rounds = last.iteration;
    e.digest = digest.hex();
    e.ledger = logged_ledger;
    e.seconds = last.seconds;
    return e;
  }

  std::vector<Ledger::Agent> ledger() {
    std::vector<Ledger::Agent> all;
    for (const json& a : gather_ledger(*net)) {
      const int agent = static_cast<int>(all.size());
      all.push_back(ledger_agent(a, static_cast<std::size_t>(setup.graph.degree(agent))));
    }
    return all;
  }

  void save() {
    if (setup.saving.file.empty()) return;
    if (leader() && setup.saving.before) setup.saving.before();
    save(setup.saving.file);
    decision.saved();
  }

  void save(const std::filesystem::path& file) {
    run->complete();  // what is in flight was counted when it was sent, and not yet received
    save_checkpoint(file, *net, *run, notes());
  }

  // A snapshot for as long as the one before took times 1 / share: what they cost is bounded.
  void keep_snapshot() {
    if (setup.saving.snapshot_share <= 0 || transport.size() > 1) return;
    const double now = seconds_now();
    if (snapshot && now - snapshot->taken_at < snapshot->cost / setup.saving.snapshot_share) return;
    run->complete();
    snapshot = Snapshot{
        .round = round(), .digest = digest.hex(), .image = checkpoint_image(*net, *run, notes())};
    snapshot->taken_at = seconds_now();
    snapshot->cost = snapshot->taken_at - now;
  }

  CheckpointNotes notes() {
    const SavedState saved{.round = round(),
                           .config = setup.saving.config,
                           .digest = digest.state(),
                           .ledger = gather_ledger(*net),
                           .parts = traffic.parts(*net),
                           .bits_before = bits_before,
                           .inputs = inputs,
                           .machine = machine_now(),
                           .logged = logged,
                           .first_loss = first_loss,
                           .seconds = seconds_of_leader(),
                           .before_last_row = before_last_row};
    return saved.to_notes();
  }

  // Every rank must write the same notes, so all take the time from rank 0.
  double seconds_of_leader() {
    const double mine = clock.seconds();
    return from_bytes<double>(
               broadcast(transport, channel_control, 0, to_bytes(std::span(&mine, 1))))
        .at(0);
  }

  void restore(const std::filesystem::path& file) {
    refuse_other_checkpoint(file, transport);
    if (!std::filesystem::exists(file)) return;  // stopped before the first checkpoint
    SavedState saved = SavedState::read(file, setup.graph.agents());
    refuse_other_inputs(file, saved);
    warn_of_other_machine(file, saved);
    if (saved.round > setup.iterations)
      throw FormatError(fmt::format("{}: is of round {}, and the run has {}", file.string(),
                                    saved.round, setup.iterations));
    if (!watch.only_last) saved.make_longer(setup.iterations, watch.rounds, file);
    // Files of 0.1 do not say it: they were saved after the round was logged.
    if (saved.inputs.is_null() && !saved.logged) saved.logged = saved.round;
    try {
      std::vector<Ledger::Agent> ledger;
      for (std::size_t row = 0; row < net->placement().rows(); ++row) {
        const int agent = net->placement().agent(row);
        ledger.push_back(ledger_agent(saved.ledger.at(static_cast<std::size_t>(agent)),
                                      static_cast<std::size_t>(setup.graph.degree(agent))));
      }
      load_checkpoint(file, *net, *run);
      net->begin_round(saved.round);
      run->resumed();
      digest = Digest::restore(saved.digest);
      clock.begin_at(saved.seconds);
      if (!watch.first_loss) first_loss = saved.first_loss;
      logged = saved.logged;
      before_last_row = saved.before_last_row;
      net->ledger().agents = std::move(ledger);
      bits = saved.bits_before.is_null() ? bits_sent() : saved.bits_before.get<double>();
      traffic.begin(*net, saved.parts.is_null() ? TrafficRecord::part_of(saved.ledger, round())
                                                : saved.parts);
    } catch (const json::exception&) {
      throw FormatError(file.string() + ": its notes are damaged");
    } catch (const FormatError& e) {
      const std::string what = e.what();  // some of these do not know the file
      throw FormatError(what.starts_with(file.string()) ? what : file.string() + ": " + what);
    }
  }

  json machine_now() const {
    json now = machine_json();
    now["device"] = name_of(setup.execution.device);
    return now;
  }

  void refuse_other_inputs(const std::filesystem::path& file, const SavedState& saved) {
    if (saved.inputs.is_null())
      warn(
          fmt::format("{}: was made by a version that kept no fingerprints; that data, graph and "
                      "start are still the same cannot be checked",
                      file.string()));
    if (const std::string what = difference_of_inputs(inputs, saved.inputs); !what.empty())
      throw ConfigError(
          fmt::format("--resume: {} is of another experiment: {}", file.string(), what));
  }

  void warn_of_other_machine(const std::filesystem::path& file, const SavedState& saved) {
    if (!saved.machine.is_object()) return;
    const json now = machine_now();
    for (const auto& [key, value] : now.items())
      if (const json then = saved.machine.value(key, json()); then != value)
        warn(
            fmt::format("{}: {} is {} now and was {} up to round {}; from here on the digest is "
                        "of both",
                        file.string(), key, value.dump(), then.dump(), saved.round));
  }

  void warn(const std::string& text) const {
    if (leader() && watch.on_warning) watch.on_warning(text);
  }

  Solution<T> summary() {
    if (!within) run->complete();
    Solution<T> s;
    s.ledger = ledger();
    s.transport = traffic.report(*net).dump();
    if (transport.size() == 1 || setup.execution.transport != nullptr)
      s.resident_bytes = resident_bytes();
    s.finished = !stopped;
    s.rounds = round();
    s.first_agent = net->placement().first();
    s.digest = digest.hex();
    s.phases = net->phases();
    s.spent = clock.seconds() - clock.before();
    s.state_bytes = net->state_bytes();
    s.seconds = clock.seconds();
    s.last = last;
    return s;
  }

  // The whole state between two rounds.
  struct Snapshot {
    std::uint32_t round;
    std::string digest;
    CheckpointImage image;
    double taken_at = 0, cost = 0;  // seconds
  };

  Setup<T> setup;
  const Watch<T>& watch;
  Alone alone;
  Transport& transport;
  Pool pool;
  std::unique_ptr<AnyNetwork<T>> net;
  std::unique_ptr<AnyRun<T>> run;
  Digest digest;
  Metrics last;
  std::vector<Ledger::Agent> logged_ledger;  // then; with several ranks only when all can tell
  TrafficRecord traffic;
  Decision decision;
  Stopwatch clock;
  std::uint32_t end;                    // the last round
  double bits = 0, bits_before = 0;     // sent up to the last round, and the one before it
  nlohmann::json inputs;                // of all agents
  std::optional<double> first_loss;     // empty: not known, as at the level of rows
  std::optional<std::uint32_t> logged;  // the last logged round
  std::optional<BeforeLastRow> before_last_row;
  bool begun = false, stopped = false;
  bool within = false;  // somebody is below step(): the state is not that of a whole round
  std::optional<Snapshot> snapshot;
};

template <class T>
Run<T>::Run(const RunFactory<T>& algorithm, Setup<T> setup)
    : state_(std::make_unique<State>(algorithm, std::move(setup), nullptr)) {}
template <class T>
Run<T>::Run(const RunFactory<T>& algorithm, Setup<T> setup, Transport& rank)
    : state_(std::make_unique<State>(algorithm, std::move(setup), &rank)) {}
template <class T>
Run<T>::Run(Run&&) noexcept = default;
template <class T>
Run<T>& Run<T>::operator=(Run&&) noexcept = default;
template <class T>
Run<T>::~Run() = default;

template <class T>
std::uint32_t Run<T>::step(std::uint32_t rounds) {
  State& s = *state_;
  const Stopwatch::Running running(s.clock);
  struct Within {
    explicit Within(bool& within) : within_(within) { within_ = true; }
    ~Within() { within_ = false; }
    bool& within_;
  } const within(s.within);
  try {
    s.begin();
    std::uint32_t made = 0;
    for (; made < rounds && !finished() && !stopped(); ++made) s.make_round();
    return made;
  } catch (const DivergedRun&) {
    throw;
  } catch (const Diverged& e) {  // in the middle of a round
    throw s.diverged(e.what());
  }
}

template <class T>
bool Run<T>::finished() const {
  return state_->round() >= state_->end;
}
template <class T>
bool Run<T>::stopped() const {
  return state_->stopped;
}
template <class T>
std::uint32_t Run<T>::round() const {
  return state_->round();
}

template <class T>
Metrics Run<T>::measure(MetricLevel level) {
  const Stopwatch::Running running(state_->clock);
  Metrics m = ticopd::measure(*state_->net, *state_->run, level);
  measure_own(*state_->net, state_->run->x(), state_->watch.own, m);
  m.seconds = state_->clock.seconds();
  return m;
}

template <class T>
void Run<T>::save(const std::filesystem::path& file) {
  const Stopwatch::Running running(state_->clock);
  state_->save(file);
}

template <class T>
std::optional<std::uint32_t> Run<T>::snapshot_round() const {
  if (!state_->snapshot) return std::nullopt;
  return state_->snapshot->round;
}

template <class T>
std::string Run<T>::snapshot_digest() const {
  return state_->snapshot ? state_->snapshot->digest : std::string();
}

template <class T>
void Run<T>::save_snapshot(const std::filesystem::path& file) const {
  if (!state_->snapshot) throw std::logic_error("Run::save_snapshot: there is none");
  write_checkpoint(file, state_->snapshot->image);
}

template <class T>
void Run<T>::log_every(std::uint32_t rounds) {
  if (state_->begun) throw std::logic_error("Run::log_every: allowed only before the first step");
  state_->setup.watch.rounds.every = rounds;
}

template <class T>
void Run<T>::resume(const std::filesystem::path& file) {
  if (state_->begun) throw std::logic_error("Run::resume: allowed only before the first step");
  if (!std::filesystem::exists(file))
    throw DiskError(file.string() + ": there is no such checkpoint");
  state_->restore(file);
}

template <class T>
const Field<T>& Run<T>::x() {
  return state_->run->x();
}
template <class T>
int Run<T>::first_agent() const {
  return state_->net->placement().first();
}
template <class T>
std::string Run<T>::digest() const {
  return state_->digest.hex();
}
template <class T>
std::vector<Ledger::Agent> Run<T>::ledger() {
  return state_->ledger();
}
template <class T>
const Metrics& Run<T>::last() const {
  return state_->last;
}

template <class T>
Solution<T> Run<T>::summary() {
  return state_->summary();
}

template <class T>
Solution<T> Run<T>::solution() {
  Solution<T> s = summary();
  s.x = x();
  return s;
}

template class Run<float>;
template class Run<double>;

}  // namespace ticopd
