#include "ticopd/site/site.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/run/checkpoint_notes.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/run/surroundings.hpp"
#include "ticopd/site/planted.hpp"
#include "ticopd/site/site_metrics.hpp"

namespace ticopd {

template <class T>
struct Site<T>::State {
  State(const RunFactory<T>& algorithm, const Setup<T>& s, World w, SiteOptions o)
      : setup(s), world(w), options(std::move(o)), generations(world.store) {
    std::optional<Generations::Found> found = generations.newest();
    if (found && found->state.network != options.sites.network)
      throw ConfigError("the folder of this site holds another run");
    std::vector<SessionRecord> records;
    if (found) records = std::move(found->state.sessions);
    transport =
        std::make_unique<SiteTransport>(world, options.sites, options.limits, std::move(records));
    transport->on_wait(options.on_wait);
    Surroundings<T> around = surroundings_of(setup, *transport, pool);
    around.restored = found.has_value() && !planted(Bug::send_start_again);
    net = std::make_unique<CpuNetwork<T>>(around);
    algorithm_run = algorithm(*net);
    if (found) restore(*found);
  }

  void restore(const Generations::Found& found) {
    const SiteState& s = found.state;
    if (s.round > setup.iterations || s.ledger.size() != net->placement().rows())
      throw FormatError("the checkpoint of this site is of another run");
    restore_rows(found.bytes, *algorithm_run);
    net->begin_round(s.round);
    algorithm_run->resumed();
    for (std::size_t row = 0; row < net->placement().rows(); ++row) {
      const int agent = net->placement().agent(row);
      net->ledger().agents[row] =
          ledger_agent(s.ledger[row], static_cast<std::size_t>(setup.graph.degree(agent)));
    }
    if (!planted(Bug::forget_log)) logged = s.logged;
    consumed = transport->consumed();
    saved_round = s.round;
    seconds_before = s.seconds;
  }

  double seconds() const {
    return seconds_before +
           static_cast<double>(world.clock.now() - started_at) / static_cast<double>(one_second);
  }
  bool stopped() const { return options.stop != nullptr && options.stop->load(); }

  std::uint32_t round() const { return net->round(); }

  void log() {
    algorithm_run->complete();
    const Field<T>& x = algorithm_run->x();
    LoggedRows rows{round(), {}};
    for (std::size_t row = 0; row < x.rows(); ++row)
      rows.rows.push_back(row_hash(std::as_bytes(x.row(row))));
    if (options.measure)
      rows.metrics =
          site_metrics(*net, *algorithm_run, setup.watch.level != MetricLevel::rows, seconds());
    logged.push_back(std::move(rows));
    if (options.on_log) options.on_log(logged.back());
    for (std::size_t row = 0; row < x.rows(); ++row)
      if (!std::ranges::all_of(x.row(row), [](T v) { return std::isfinite(v); }))
        throw Diverged("diverged: the model of agent " +
                       std::to_string(net->placement().agent(row)) + " after round " +
                       std::to_string(round()));
  }

  void make_round() {
    net->begin_round(round() + 1);
    transport->set_round(round());
    algorithm_run->step();
    if (setup.watch.rounds(round(), setup.iterations)) log();
    if (options.on_round) options.on_round(round());
  }

  bool must_save() {
    if (options.checkpoint_rounds > 0 && round() >= saved_round + options.checkpoint_rounds)
      return true;
    // Half of it since the last one: what came since the one before is not safe either.
    return world.clock.now() >= saved_at + options.checkpoint_time ||
           transport->unsafe_bytes() >= unsafe_at_save + options.unsafe_bytes / 2;
  }

  void save() {
    if (!planted(Bug::save_in_flight)) algorithm_run->complete();
    SiteState s{.round = round(),
                .network = options.sites.network,
                .ledger = hosted_ledger(*net),
                .logged = logged,
                .sessions = transport->records(),
                .seconds = seconds()};
    const std::vector<std::uint64_t> now_consumed = transport->consumed();
    if (planted(Bug::confirm_too_soon)) transport->make_safe(now_consumed);
    generations.write(encode_state(s, *algorithm_run));
    // A damaged file may send us back to the older of the two, and no further.
    if (planted(Bug::confirm_newest)) consumed = now_consumed;
    transport->make_safe(std::exchange(consumed, now_consumed));
    have_saved();
  }

  void have_saved() {
    saved_round = round();
    saved_at = world.clock.now();
    unsafe_at_save = transport->unsafe_bytes();
  }

  void try_to_save() {
    try {
      save();
    } catch (const DiskError& e) {
      if (options.on_trouble) options.on_trouble(e.what());
      have_saved();  // try again after the usual time
    }
  }

  SiteEnd run() {
    saved_at = world.clock.now();
    if (round() == 0 && logged.empty() && setup.watch.rounds(0, setup.iterations)) log();
    while (round() < setup.iterations) {
      make_round();
      if (round() < setup.iterations && stopped()) {
        save();
        return SiteEnd::stopped;
      }
      if (round() < setup.iterations && must_save()) try_to_save();
    }
    // Twice, so that the older of two checkpoints is that of the end, too.
    save();
    save();
    return part();
  }

  // Stays until every neighbour has all it needs, and a little longer: the last word may be lost.
  SiteEnd part() {
    const Time until = world.clock.now() + options.unconfirmed;
    while (!transport->confirmed()) {
      if (world.clock.now() >= until || stopped()) return SiteEnd::unconfirmed;
      if (options.on_parting) options.on_parting();
      transport->pump(world.clock.now() + one_second / 10);
    }
    // If this process is killed from here on, the next one knows that nobody needs it: those who
    // do not need it either may be gone by then.
    try_to_save();
    transport->say_done();
    const Time end = world.clock.now() + options.linger;
    while (!transport->all_done() && world.clock.now() < end && !stopped()) {
      if (options.on_parting) options.on_parting();
      transport->pump(world.clock.now() + one_second / 10);
    }
    transport->pump(world.clock.now());
    return SiteEnd::confirmed;
  }

  const Setup<T>& setup;
  World world;
  SiteOptions options;
  Generations generations;
  Pool pool{setup.execution.threads};
  std::unique_ptr<SiteTransport> transport;
  std::unique_ptr<CpuNetwork<T>> net;
  std::unique_ptr<AnyRun<T>> algorithm_run;
  std::vector<LoggedRows> logged;
  std::vector<std::uint64_t> consumed;  // at the newest checkpoint, by site
  std::uint32_t saved_round = 0;
  std::size_t unsafe_at_save = 0;
  Time saved_at = 0;
  Time started_at = world.clock.now();
  double seconds_before = 0;
};

template <class T>
Site<T>::Site(const RunFactory<T>& algorithm, const Setup<T>& setup, World world,
              SiteOptions options)
    : state_(std::make_unique<State>(algorithm, setup, world, std::move(options))) {}
template <class T>
Site<T>::~Site() = default;

template <class T>
SiteEnd Site<T>::run() {
  return state_->run();
}
template <class T>
std::uint32_t Site<T>::round() const {
  return state_->round();
}
template <class T>
double Site<T>::seconds() const {
  return state_->seconds();
}
template <class T>
nlohmann::json Site<T>::ledger() const {
  return hosted_ledger(*state_->net);
}
template <class T>
const SiteTransport& Site<T>::transport() const {
  return *state_->transport;
}
template <class T>
const std::vector<LoggedRows>& Site<T>::logged() const {
  return state_->logged;
}
template <class T>
const Field<T>& Site<T>::x() const {
  return state_->algorithm_run->x();
}
template <class T>
int Site<T>::first_agent() const {
  return state_->net->placement().first();
}
template <class T>
std::uint64_t Site<T>::resent_bytes() const {
  return state_->transport->resent_bytes();
}

template class Site<float>;
template class Site<double>;

}  // namespace ticopd
