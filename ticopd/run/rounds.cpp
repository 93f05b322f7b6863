#include "ticopd/run/rounds.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/numeric/sum.hpp"
#include "ticopd/run/checkpoint.hpp"
#include "ticopd/run/checkpoint_notes.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/run/traffic_record.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/memory.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// One rank's part of a run: the rounds, what is logged, what is saved.
template <class T>
class Loop {
 public:
  Loop(const RunFactory<T>& algorithm, const Setup<T>& setup, AnyNetwork<T>& net)
      : setup_(setup),
        net_(net),
        transport_(net.surroundings().transport),
        leader_(transport_.rank() == 0),
        traffic_record_(name_of(setup.device)),
        end_(setup.iterations) {
    if (setup.until_bits > 0 && transport_.size() > 1)
      throw ConfigError("a run that ends by the bits it sent must be in one process");
    traffic_record_.begin(net, json::array());
    run_ = algorithm(net);
  }

  void run(Solution<T>& solution) {
    try {
      make_rounds(solution);
    } catch (const DivergedRun&) {
      throw;
    } catch (const Diverged& e) {  // in the middle of a round
      throw diverged(e.what());
    }
  }

 private:
  enum class Next : unsigned char { go, save, stop };

  void make_rounds(Solution<T>& solution) {
    begin_ = saved_at_ = seconds_now();
    bits_ = bits_sent();  // a warm start has sent something already
    if (setup_.resume) restore();
    if (net_.round() > 0 && spent_all_bits()) end_ = net_.round();  // ended, and was not told
    first_round_ = net_.round() + 1;
    if (net_.round() == 0 && !setup_.only_last) log();
    while (net_.round() < end_) {
      net_.begin_round(net_.round() + 1);
      transport_.set_round(net_.round());
      run_->step();
      const std::uint32_t round = net_.round();
      if (spent_all_bits()) end_ = round;
      if (setup_.only_last ? round == end_ : setup_.log(round, end_))
        log();
      else if (setup_.only_last && std::has_single_bit(round))
        watch();
      if (leader_ && setup_.on_round) setup_.on_round(round);
      const Next next = decide();
      if (next == Next::stop && round < end_) {
        if (leader_ || setup_.transport != nullptr) solution.finished = false;
        save();
        break;
      }
      if (next != Next::go && round < end_) save();
    }
    if (net_.round() == end_) save();  // the last state, duals and surrogates included
    // Killed after the last checkpoint and before the end: logged and digested then, not known now.
    if (net_.round() == end_ && last_.iteration != net_.round()) {
      last_ = measure(net_, *run_);
      last_.seconds = seconds_before_;
    }
    run_->complete();
    collect(solution);
  }

  DivergedRun diverged(const std::string& what) const {
    DivergedRun e(what);
    e.rounds = last_.iteration;
    e.digest = digest_.hex();
    e.ledger = logged_ledger_;
    e.seconds = last_.seconds;
    return e;
  }

  // Whether one more round like the last would be too much.
  bool spent_all_bits() {
    if (setup_.until_bits <= 0) return false;
    before_ = std::exchange(bits_, bits_sent());
    return bits_ + (bits_ - before_) > setup_.until_bits;
  }
  double bits_sent() {
    double bits = 0;
    for (const Ledger::Agent& a : net_.ledger().agents)
      bits += 8 * static_cast<double>(a.payload_bytes) / net_.placement().agents();
    return bits;
  }

  void log() {
    Metrics m = measure(net_, *run_);
    if (setup_.lyapunov && !setup_.only_last) m.lyapunov = setup_.lyapunov(net_, *run_);
    // What it needed is of the size of models, and goes back to the system until the next time.
    if (net_.state_bytes() > (1u << 20)) give_memory_back();
    digest_.add(net_, run_->x());
    m.seconds = seconds_before_ + seconds_now() - begin_;
    last_ = m;
    if (transport_.size() == 1) logged_ledger_ = net_.ledger().agents;
    if (leader_ && setup_.on_log) setup_.on_log(m);
    if (m.iteration == 0) first_loss_ = m.loss_max.value_or(0);
    const auto refuse = [&](const char* what, double value) {  // by all ranks alike
      logged_ledger_.clear();
      for (const json& a : gather_ledger(net_)) logged_ledger_.push_back(ledger_agent(a));
      throw diverged(fmt::format("diverged: {} = {} after round {}", what,
                                 std::isnan(value) ? "nan" : fmt::format("{:.3g}", value),
                                 m.iteration));
    };
    // Where only the last round is measured, there is no first loss to compare with.
    const double most = setup_.only_last ? INFINITY : 1e9 * (1 + std::abs(first_loss_));
    if (m.loss_max && !(*m.loss_max <= most && std::isfinite(*m.loss_max)))
      refuse("loss_max", *m.loss_max);
    if (m.grad_norm2_max && !std::isfinite(*m.grad_norm2_max))
      refuse("grad_norm2_max", *m.grad_norm2_max);
    if (!std::isfinite(m.consensus)) refuse("consensus", m.consensus);
  }

  // Far cheaper than to measure: a model that is not finite, or absurdly large.
  void watch() {
    const Field<T>& x = run_->x();
    for (std::size_t row = 0; row < net_.placement().rows(); ++row) {
      const double norm2 = sum_of_squares<T>(x.row(row));
      if (!(norm2 < 1e30))
        throw Diverged(fmt::format("diverged: ||x||^2 = {} at round {}",
                                   std::isnan(norm2) ? "nan" : fmt::format("{:.3g}", norm2),
                                   net_.round()));
    }
  }

  // What clock and signals ask for.
  Next wish() const {
    if (setup_.stop && setup_.stop->load()) return Next::stop;
    if (transport_.asked_to_stop()) return Next::stop;
    const bool due =
        setup_.checkpoint_every_s > 0 && seconds_now() - saved_at_ > setup_.checkpoint_every_s;
    return due ? Next::save : Next::go;
  }

  // Rank 0 decides, so that all ranks save or stop after the same round: one round ahead, so that
  // the word travels while they compute and nobody waits for it.
  Next decide() {
    const bool by_round =
        setup_.checkpoint_every > 0 && net_.round() % setup_.checkpoint_every == 0;
    Next next = Next::go;
    if (transport_.size() == 1) {
      next = wish();
    } else if (leader_) {
      next = std::exchange(promised_, Next::go);
      if (next != Next::stop && net_.round() < end_) {
        promised_ = wish();
        for (int r = 1; r < transport_.size(); ++r)
          transport_.send(r, channel_decision, Bytes{static_cast<std::byte>(promised_)});
      }
    } else {
      if (setup_.stop && setup_.stop->load() && !std::exchange(asked_, true))
        transport_.ask_to_stop();
      if (net_.round() == first_round_) return by_round ? Next::save : Next::go;
      const Bytes told = transport_.receive(0, channel_decision, 1);
      if (told.size() != 1) throw FormatError("a control message has a wrong length");
      next = static_cast<Next>(told[0]);
    }
    return next == Next::go && by_round ? Next::save : next;
  }

  void save() {
    if (setup_.checkpoint.empty()) return;
    if (leader_ && setup_.before_checkpoint) setup_.before_checkpoint();
    run_->complete();  // what is in flight was counted when it was sent, and not yet received
    const CheckpointNotes notes{{"ticopd", "1"},
                                {"round", std::to_string(net_.round())},
                                {"config", setup_.checkpoint_config},
                                {"digest", digest_.state()},
                                {"ledger", gather_ledger(net_).dump()},
                                {"parts", traffic_record_.parts(net_).dump()},
                                {"bits_before", json(before_).dump()},
                                {"first_loss", json(first_loss_).dump()},
                                {"seconds", json(seconds_of_leader()).dump()}};
    save_checkpoint(setup_.checkpoint, net_, *run_, notes);
    saved_at_ = seconds_now();
  }

  // Every rank must write the same notes, so all take the time from rank 0.
  double seconds_of_leader() {
    const double mine = seconds_before_ + seconds_now() - begin_;
    return from_bytes<double>(
               broadcast(transport_, channel_control, 0, to_bytes(std::span(&mine, 1))))
        .at(0);
  }

  void restore() {
    refuse_other_checkpoint(setup_.checkpoint, transport_);
    if (!std::filesystem::exists(setup_.checkpoint)) return;  // stopped before the first checkpoint
    const std::string file = setup_.checkpoint.string();
    try {
      const CheckpointNotes notes = read_checkpoint_notes(setup_.checkpoint);
      load_checkpoint(setup_.checkpoint, net_, *run_);
      net_.begin_round(static_cast<std::uint32_t>(std::stoul(notes.at("round"))));
      run_->resumed();
      digest_ = Digest::restore(notes.at("digest"));
      seconds_before_ = json::parse(notes.at("seconds")).get<double>();
      first_loss_ = json::parse(notes.at("first_loss")).get<double>();
      const json ledger = json::parse(notes.at("ledger"));
      for (std::size_t row = 0; row < net_.placement().rows(); ++row)
        net_.ledger().agents[row] =
            ledger_agent(ledger.at(static_cast<std::size_t>(net_.placement().agent(row))));
      bits_ = notes.contains("bits_before") ? json::parse(notes.at("bits_before")).get<double>()
                                            : bits_sent();
      traffic_record_.begin(net_, notes.contains("parts")
                                      ? json::parse(notes.at("parts"))
                                      : TrafficRecord::part_of(ledger, net_.round()));
    } catch (const std::logic_error&) {  // a note is missing or not a number
      throw FormatError(file + ": its notes are damaged");
    } catch (const json::exception&) {
      throw FormatError(file + ": its notes are damaged");
    }
  }

  void collect(Solution<T>& solution) {
    const json ledger = gather_ledger(net_);
    const std::string transport = traffic_record_.report(net_).dump();
    const auto& x = run_->x();
    const bool own_process = transport_.size() == 1 || setup_.transport != nullptr;
    if (own_process) {
      solution.resident_bytes = resident_bytes();
      // Not before: it is as large as any state of the run.
      solution.x = Field<T>(net_.placement().rows(), x.cols());
      solution.first_agent = net_.placement().first();
    }
    for (std::size_t row = 0; row < net_.placement().rows(); ++row) {
      const int at = net_.placement().agent(row) - solution.first_agent;
      std::ranges::copy(x.row(row), solution.x.row(static_cast<std::size_t>(at)).begin());
    }
    if (!leader_ && !own_process) return;
    solution.transport = transport;
    for (const json& a : ledger) solution.ledger.push_back(ledger_agent(a));
    solution.rounds = net_.round();
    solution.digest = digest_.hex();
    solution.phases = net_.phases();
    solution.spent = seconds_now() - begin_;
    solution.state_bytes = net_.state_bytes();
    solution.seconds = seconds_before_ + seconds_now() - begin_;
    solution.last = std::move(last_);
  }

  const Setup<T>& setup_;
  AnyNetwork<T>& net_;
  Transport& transport_;
  bool leader_;
  std::unique_ptr<AnyRun<T>> run_;
  Digest digest_;
  Metrics last_;
  std::vector<Ledger::Agent> logged_ledger_;  // then; of several ranks only where all can tell
  TrafficRecord traffic_record_;
  bool asked_ = false;             // others: rank 0 was told that we were asked to stop
  Next promised_ = Next::go;       // rank 0: what it told the others to do after this round
  std::uint32_t first_round_ = 1;  // of this process
  std::uint32_t end_;              // the last round
  double bits_ = 0, before_ = 0;   // sent up to the last round, and the one before it
  double begin_ = 0, saved_at_ = 0, seconds_before_ = 0, first_loss_ = 0;
};

}  // namespace

template <class T>
void run_rounds(const RunFactory<T>& algorithm, const Setup<T>& setup, AnyNetwork<T>& net,
                Solution<T>& solution) {
  Loop<T>(algorithm, setup, net).run(solution);
}

template void run_rounds(const RunFactory<float>&, const Setup<float>&, AnyNetwork<float>&,
                         Solution<float>&);
template void run_rounds(const RunFactory<double>&, const Setup<double>&, AnyNetwork<double>&,
                         Solution<double>&);

}  // namespace ticopd
