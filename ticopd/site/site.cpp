#include "ticopd/site/site.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/run/checkpoint_notes.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/run/surroundings.hpp"
#include "ticopd/site/end_note.hpp"
#include "ticopd/site/generations.hpp"
#include "ticopd/site/planted.hpp"
#include "ticopd/site/site_metrics.hpp"

namespace ticopd {

namespace {

// A new roster makes this run one of the past.
struct Superseded {};

// So begins what this site finds itself; what others say names them.
constexpr std::string_view own_divergence = "diverged: ";

constexpr Time hand_on = 3 * one_second;  // at most, to pass a new roster on

}  // namespace

template <class T>
struct Site<T>::State {
  State(const RunFactory<T>& a, const Setup<T>& s, World w, SiteOptions o)
      : algorithm(a), setup(s), world(w), options(std::move(o)), generations(world.store) {
    found = generations.newest();
    const bool here = found && found->state.epoch == epoch();
    if (found && (found->state.epoch > epoch() || (here && found->state.closed)))
      throw FormatError("this folder has left epoch " + std::to_string(epoch()) +
                        " of the network: start the site with the newest roster");
    if (here && found->state.network != options.sites.network)
      throw ConfigError("the folder of this site holds another run");
    const bool restored = here && !is_start(found->bytes);
    std::vector<SessionRecord> records;
    if (restored) records = found->state.sessions;
    transport =
        std::make_unique<SiteTransport>(world, options.sites, options.limits, std::move(records));
    transport->on_wait(options.on_wait);
    transport->on_roster([this](std::span<const std::byte> roster) { hear_roster(roster); });
    Surroundings<T> around = surroundings_of(setup, *transport, pool);
    around.restored = restored && !planted(Bug::send_start_again);
    if (epoch() > 1 && !planted(Bug::start_at_one))
      around.start_of = [this](int agent, std::span<T> x) {
        std::ranges::copy(start.row(static_cast<std::size_t>(agent - net->placement().first())),
                          x.begin());
      };
    net = std::make_unique<CpuNetwork<T>>(around);
    if (epoch() > 1) find_start(here);
    if (restored)
      restore_counts(found->state);
    else
      found.reset();
  }

  std::uint32_t epoch() const { return options.sites.roster.epoch; }

  // Where the hosted agents begin this epoch: as the folder has it, or else with the models of the
  // epoch before. It is on the disk before anything is sent, beside the checkpoint that it is made
  // of: whichever of the two is damaged, this site does not begin elsewhere the next time.
  void find_start(bool here) {
    start = Field<T>(net->placement().rows(), setup.objective->dimension());
    std::vector<T> x0(start.cols());
    setup.objective->start(setup.seed_of_problem(), x0);
    start.fill_rows(x0);
    if (found) put_back(here ? found->state.start : models_of(found->bytes), start);
    if (here) return;
    for (std::size_t row = 0; row < start.rows(); ++row)  // the epoch before has diverged
      if (!is_finite(start.row(row))) std::ranges::copy(x0, start.row(row).begin());
    generations.write(encode_start({.network = options.sites.network,
                                    .epoch = epoch(),
                                    .start = kept(start),
                                    .ledger = nlohmann::json::array(),
                                    .logged = {},
                                    .sessions = {}}));
  }

  // Its hash says that it was not damaged, and not that this program wrote it.
  void check(const SiteState& s) const {
    const std::size_t rows = net->placement().rows();
    const auto fits = [&](const LoggedRows& l) {
      return l.round <= s.round && l.rows.size() == rows;
    };
    if (s.round > setup.iterations || !s.ledger.is_array() || s.ledger.size() != rows ||
        s.sessions.size() != options.sites.names.size() || !std::ranges::all_of(s.logged, fits) ||
        !std::isfinite(s.seconds) || s.seconds < 0)
      throw FormatError("the checkpoint of this site is of another run");
  }

  void restore_counts(const SiteState& s) try {
    check(s);
    for (std::size_t row = 0; row < net->placement().rows(); ++row) {
      const int agent = net->placement().agent(row);
      net->ledger().agents[row] =
          ledger_agent(s.ledger[row], static_cast<std::size_t>(setup.graph.degree(agent)));
    }
    if (!planted(Bug::forget_log)) logged = s.logged;
    saved_round = s.round;
    seconds_before = s.seconds;
  } catch (const nlohmann::json::exception&) {
    throw FormatError("the checkpoint of this site is damaged (values of its head)");
  }

  // Makes the run, which may talk to neighbours, or takes it from the checkpoint.
  void begin() {
    algorithm_run = algorithm(*net);
    if (found) {
      restore_rows(found->bytes, *algorithm_run);
      net->begin_round(found->state.round);
      algorithm_run->resumed();
      consumed = transport->consumed();
      found.reset();
    }
    keep_models();
  }

  // A method may move x before it waits for others, so the last round's models are kept apart.
  void keep_models() {
    const Field<T>& x = algorithm_run->x();
    if (complete.size() != x.size()) complete = Field<T>(x.rows(), x.cols());
    for (std::size_t row = 0; row < x.rows(); ++row)
      std::ranges::copy(x.row(row), complete.row(row).begin());
  }

  void hear_roster(std::span<const std::byte> roster) {
    if (!options.on_roster) return;
    const std::optional<SiteNames> next = options.on_roster(roster);
    if (!next) return;
    const bool same_run = next->network == options.sites.network;
    transport->follow(*next);
    if (same_run) {
      options.sites.roster = next->roster;
      options.sites.signed_roster = next->signed_roster;
      return;
    }
    transport->hand_on(world.clock.now() + hand_on);
    throw Superseded();
  }

  // The models are where the next epoch begins. If they cannot be written, it begins at those of an
  // earlier checkpoint.
  void close() {
    if (complete.size() == 0) return;
    try {
      generations.write(encode_start(
          {.round = round(),
           .network = options.sites.network,
           .epoch = epoch(),
           .start = kept(planted(Bug::start_half_moved) ? algorithm_run->x() : complete),
           .closed = true,
           .ledger = nlohmann::json::array(),
           .logged = {},
           .sessions = {}}));
    } catch (const DiskError& e) {
      if (options.on_trouble) options.on_trouble(e.what());
    }
  }

  double seconds() const {
    return seconds_before +
           static_cast<double>(world.clock.now() - started_at) / static_cast<double>(one_second);
  }
  static bool is_finite(std::span<const T> row) {
    return std::ranges::all_of(row, [](T v) { return std::isfinite(v); });
  }
  bool stopped() const { return options.stop != nullptr && options.stop->load(); }

  std::uint32_t round() const { return found ? found->state.round : net->round(); }

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
      if (!is_finite(x.row(row)))
        throw Diverged(std::string(own_divergence) + "the model of agent " +
                       std::to_string(net->placement().agent(row)) + " after round " +
                       std::to_string(round()));
  }

  void make_round() {
    net->begin_round(round() + 1);
    transport->set_round(round());
    algorithm_run->step();
    keep_models();
    if (options.on_round) options.on_round(round());
    if (setup.watch.rounds(round(), setup.iterations)) log();
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
                .epoch = epoch(),
                .start = planted(Bug::forget_start) ? KeptRows() : kept(start),
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

  // Only a checkpoint that cannot be written is let pass. While a mirror is received, too, a file
  // may fail: that of a new roster; a run that was left there cannot go on.
  void try_to_save() {
    if (!planted(Bug::save_in_flight)) algorithm_run->complete();
    try {
      save();
    } catch (const DiskError& e) {
      if (options.on_trouble) options.on_trouble(e.what());
      have_saved();  // try again after the usual time
    }
  }

  SiteEnd run() {
    try {
      try {
        if (const std::string why = ended.read(options.sites.network); !why.empty())
          throw Diverged(why);
        begin();
        return make_rounds();
      } catch (const Diverged& e) {
        tell_end(e.what());
        throw;
      }
    } catch (const Superseded&) {
      close();
      return SiteEnd::superseded;
    }
  }

  // Neighbours end for the same reason, and so does this site if it is started again.
  void tell_end(const std::string& what) {
    std::string reason = what;
    if (what.starts_with(own_divergence))
      reason = options.sites.names[static_cast<std::size_t>(options.sites.own)] +
               " diverged in round " + std::to_string(round());
    try {
      ended.write(options.sites.network, reason);
    } catch (const DiskError& e) {
      if (options.on_trouble) options.on_trouble(e.what());
    }
    transport->tell_end(reason);
    const Time end = world.clock.now() + options.linger;
    while (!transport->all_know_the_end() && world.clock.now() < end && !stopped()) {
      if (options.on_parting) options.on_parting();
      transport->pump(world.clock.now() + one_second / 10);
    }
    transport->pump(world.clock.now());
  }

  SiteEnd make_rounds() {
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

  const RunFactory<T>& algorithm;
  const Setup<T>& setup;
  World world;
  SiteOptions options;
  Generations generations;
  EndNote ended{world.store};
  std::optional<Generations::Found> found;  // until the run has its rows
  Field<T> start, complete;  // where the epoch began; the models of the last complete round
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
const Field<T>& Site<T>::start() const {
  return state_->start;
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
