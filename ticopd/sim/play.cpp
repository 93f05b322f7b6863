#include "ticopd/sim/play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <memory>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/sim/fiber.hpp"
#include "ticopd/sim/sim_store.hpp"
#include "ticopd/site/site.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

constexpr Time millisecond = one_second / 1000;
constexpr Time limit = 4000 * one_second;  // no run of a few hundred rounds takes so long

// Thrown where a process dies: not an Error, so that nobody takes it for one.
struct Killed {};

class Play;

// A site, its machine and its disk. What it asks of the world comes here.
class SimSite final : public Clock, public Wire, public Store {
 public:
  SimSite(Play& play, int number, std::uint64_t seed)
      : play_(play), number_(number), random_(seed) {}

  Time now() override;
  std::uint64_t random() override;
  void send(int site, Bytes message) override;
  std::optional<Arrived> receive(Time until) override;
  std::vector<std::string> list() override { return point(), disk.list(); }
  Bytes read(const std::string& file) override { return point(), disk.read(file); }
  void write(const std::string& file, std::span<const std::byte> bytes) override;
  void sync(const std::string& file) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& file) override { point(), disk.remove(file), point(); }
  void sync_folder() override { point(), disk.sync_folder(), point(); }

  SimDisk disk, backup;
  std::deque<Arrived> inbox;
  std::unique_ptr<Fiber> fiber;     // null: no process runs
  bool finished = false;            // nobody needs this site any more, as far as it knows
  bool waiting = false;             // in receive
  std::uint64_t wakes = 0;          // the number of the last wait
  std::int64_t calls_to_live = -1;  // -1: no end is near
  bool power_fails = false;
  bool fsync_fails = false;
  Time paused_until = 0;
  std::vector<LoggedRows> logged;
  std::string error;  // that ended the last process

  SimRandom& dice() { return random_; }

 private:
  void point();  // a process may die here

  Play& play_;
  int number_;
  SimRandom random_;
  Time counted_at_ = -1;
  std::int64_t calls_now_ = 0;
};

enum class EventType : unsigned char { deliver, wake, start, fault, heal };

struct Event {
  Time at;
  std::uint64_t order;
  EventType type;
  int site;
  std::uint64_t number = 0;  // of the wait, or of the fault
  Wire::Arrived message = {};

  bool operator>(const Event& other) const {
    return std::pair(at, order) > std::pair(other.at, other.order);
  }
};

// The world of one seed.
class Play {
 public:
  Play(int sites, std::uint64_t seed, const Faults& faults) : faults_(faults), random_(seed) {
    for (int s = 0; s < sites; ++s)
      all.push_back(std::make_unique<SimSite>(*this, s, random_.next()));
    plan();
  }

  Time now() const { return now_; }
  std::size_t count() const { return all.size(); }
  void add(Time at, EventType type, int site, std::uint64_t number = 0, Wire::Arrived m = {}) {
    events_.push({at, ++order_, type, site, number, std::move(m)});
  }
  void note(std::uint64_t what, std::uint64_t more = 0) {
    const std::array<std::uint64_t, 4> parts{outcome.trace, static_cast<std::uint64_t>(now_), what,
                                             more};
    outcome.trace = hash_row(std::as_bytes(std::span(parts)));
  }

  void carry(int from, int to, Bytes message);

  // Until every site has ended for good, or something is wrong. `start` makes the body of a site's
  // process.
  void run(const std::function<std::function<void()>(SimSite&, int)>& start);

  std::vector<std::unique_ptr<SimSite>> all;
  SimOutcome outcome;
  bool may_refuse = false;  // a fault has happened after which refusing is right

 private:
  void plan();
  void strike(const Event& e);
  void resume(SimSite& site, int number);
  void doom(SimSite& site, int number, bool power, std::int64_t calls);
  bool cut(int from, int to) const;
  bool over();

  const Faults& faults_;
  SimRandom random_;
  Time now_ = 0;
  Time healed_ = 0;  // no fault begins after that
  std::uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Time> cut_until_;            // by pair of sites, one way
  std::int64_t loss_ = 0, duplicate_ = 0;  // in a thousand
  Time latency_ = millisecond, jitter_ = millisecond;
  std::vector<int> flips_;  // by site
};

void SimSite::point() {
  if (play_.now() != counted_at_) {
    counted_at_ = play_.now();
    calls_now_ = 0;
  }
  if (++calls_now_ > 1'000'000) throw std::runtime_error("it spins: a million calls at one moment");
  if (calls_to_live < 0) return;
  if (calls_to_live-- == 0) throw Killed();
}

Time SimSite::now() {
  point();
  return play_.now();
}

std::uint64_t SimSite::random() {
  return random_.next();
}

void SimSite::send(int site, Bytes message) {
  point();
  play_.carry(number_, site, std::move(message));
}

std::optional<Wire::Arrived> SimSite::receive(Time until) {
  point();
  while (inbox.empty() && until > play_.now()) {
    waiting = true;
    play_.add(until, EventType::wake, number_, ++wakes);
    fiber->yield();
    waiting = false;
    point();
  }
  if (inbox.empty()) return std::nullopt;
  Arrived first = std::move(inbox.front());
  inbox.pop_front();
  return first;
}

void SimSite::write(const std::string& file, std::span<const std::byte> bytes) {
  point();
  disk.write(file, bytes);
  point();
}

void SimSite::sync(const std::string& file) {
  point();
  disk.sync(file, std::exchange(fsync_fails, false), random_);
  ++play_.outcome.checkpoints;
  point();
}

void SimSite::rename(const std::string& from, const std::string& to) {
  point();
  disk.rename(from, to);
  point();
}

// The faults of this seed, drawn before anything runs.
void Play::plan() {
  latency_ = random_.between(10, 20'000) * 1000;  // 10 us to 20 ms
  jitter_ = faults_.has("reorder") ? random_.between(0, 4) * latency_ : 0;
  if (faults_.has("loss") && random_.chance(500)) loss_ = random_.between(1, 200);
  if (faults_.has("duplicate") && random_.chance(500)) duplicate_ = random_.between(1, 200);
  cut_until_.assign(all.size() * all.size(), 0);
  flips_.assign(all.size(), 0);
  healed_ = latency_ * random_.between(20, 400);
  const std::int64_t strikes = random_.between(0, 16);
  for (std::int64_t i = 0; i < strikes; ++i)
    add(random_.between(0, healed_), EventType::fault,
        static_cast<int>(random_.between(0, static_cast<std::int64_t>(all.size()) - 1)),
        static_cast<std::uint64_t>(
            random_.between(0, static_cast<std::int64_t>(fault_kinds().size()) - 1)));
  add(healed_, EventType::heal, 0);
  for (std::size_t s = 0; s < all.size(); ++s)
    add(random_.between(0, 5 * latency_), EventType::start, static_cast<int>(s));
}

bool Play::cut(int from, int to) const {
  return cut_until_[static_cast<std::size_t>(from) * all.size() + static_cast<std::size_t>(to)] >
         now_;
}

void Play::carry(int from, int to, Bytes message) {
  ++outcome.messages;
  note(1, hash_row(message));
  if (cut(from, to) || random_.chance(loss_)) {
    ++outcome.lost;
    return;
  }
  const std::int64_t copies = random_.chance(duplicate_) ? 2 : 1;
  for (std::int64_t i = 0; i < copies; ++i)
    add(now_ + latency_ + (jitter_ > 0 ? random_.between(0, jitter_) : 0), EventType::deliver, to,
        0, {from, message});
}

void Play::doom(SimSite& site, int number, bool power, std::int64_t calls) {
  if (!site.fiber) return;
  site.calls_to_live = calls;
  site.power_fails = power;
  if (calls == 0 && site.waiting) resume(site, number);
}

void Play::strike(const Event& e) {
  const std::string_view kind = fault_kinds()[e.number].name;
  SimSite& site = *all[static_cast<std::size_t>(e.site)];
  if (!faults_.has(kind)) return;
  note(2, e.number);
  const Time while_ = random_.between(1, 100) * latency_;
  if (kind == "partition") {
    const bool both = random_.chance(500);
    for (int other = 0; other < static_cast<int>(all.size()); ++other) {
      const auto n = all.size(), a = static_cast<std::size_t>(e.site),
                 b = static_cast<std::size_t>(other);
      cut_until_[a * n + b] = now_ + while_;
      if (both) cut_until_[b * n + a] = now_ + while_;
    }
  } else if (kind == "pause") {
    site.paused_until = now_ + while_;
  } else if (kind == "kill" || kind == "power") {
    const bool power = kind == "power", everyone = random_.chance(150);
    const std::int64_t calls = random_.chance(500) ? 0 : random_.between(1, 400);
    for (int s = 0; s < static_cast<int>(all.size()); ++s)
      if (everyone || s == e.site) doom(*all[static_cast<std::size_t>(s)], s, power, calls);
  } else if (kind == "full") {
    site.disk.full = true;
  } else if (kind == "fsync") {
    site.fsync_fails = true;
  } else if (kind == "flip") {
    // A second one may hit the other checkpoint, which no program survives.
    if (site.disk.flip_bit(".checkpoint", site.dice()) &&
        ++flips_[static_cast<std::size_t>(e.site)] > 1)
      may_refuse = true;
    doom(site, e.site, false, 0);
  } else if (kind == "backup") {
    if (random_.chance(500)) {
      site.backup = site.disk;
    } else if (!site.backup.list().empty()) {
      doom(site, e.site, false, 0);
      site.disk = site.backup;
      may_refuse = true;
    }
  }
}

void Play::resume(SimSite& site, int number) {
  site.fiber->resume();
  if (!site.fiber->ended()) return;
  site.fiber.reset();
  site.waiting = false;
  site.inbox.clear();
  site.calls_to_live = -1;
  if (std::exchange(site.power_fails, false)) site.disk.lose_power(site.dice());
  note(3, static_cast<std::uint64_t>(number));
  if (!site.finished)
    add(now_ + random_.between(1, 50) * latency_ + millisecond, EventType::start, number);
}

// True when all sites have ended for good. A finished site is started again if another one still
// waits for it: it may have left before its last word was heard.
bool Play::over() {
  return std::ranges::all_of(all, [](const auto& s) { return s->finished && !s->fiber; });
}

void Play::run(const std::function<std::function<void()>(SimSite&, int)>& start) {
  while (!events_.empty()) {
    if (now_ > healed_ && over()) return;
    const Event e = events_.top();
    events_.pop();
    SimSite& site = *all[static_cast<std::size_t>(e.site)];
    if (e.at > now_) now_ = e.at;
    if (now_ > limit) {
      outcome.what = "no progress";
      return;
    }
    if (site.paused_until > now_ && (e.type == EventType::deliver || e.type == EventType::wake)) {
      add(site.paused_until, e.type, e.site, e.number, e.message);
      continue;
    }
    switch (e.type) {
      case EventType::fault:
        strike(e);
        break;
      case EventType::heal:
        loss_ = duplicate_ = 0;
        for (const auto& s : all) s->disk.full = s->fsync_fails = false;
        break;
      case EventType::start:
        if (site.fiber) break;
        note(4, static_cast<std::uint64_t>(e.site));
        site.error.clear();
        site.finished = false;
        site.fiber = std::make_unique<Fiber>(start(site, e.site));
        resume(site, e.site);
        break;
      case EventType::deliver:
        if (!site.fiber) break;
        site.inbox.push_back(e.message);
        if (site.waiting) resume(site, e.site);
        break;
      case EventType::wake:
        if (site.fiber && site.waiting && e.number == site.wakes) resume(site, e.site);
        break;
    }
    if (!outcome.what.empty()) return;
  }
}

}  // namespace

template <class T>
SimOutcome play(const SimProblem<T>& problem, std::uint64_t seed, const Faults& faults) {
  Play world(problem.sites, seed, faults);
  SimRandom dice(seed ^ 0x5175);
  SiteOptions options;
  options.sites.network = 0x7469636f7064;
  for (int s = 0; s < problem.sites; ++s) options.sites.names.push_back(fmt::format("site-{}", s));
  options.checkpoint_rounds = static_cast<std::uint32_t>(dice.between(1, 8));
  options.limits.piece = static_cast<std::size_t>(dice.between(16, 400));
  options.limits.window = static_cast<std::size_t>(dice.between(1, 4096));
  options.unsafe_bytes = static_cast<std::size_t>(dice.between(256, 1 << 20));
  // Somebody starts a site again that has left, if another one still needs it: it may have been put
  // back to an old copy of its folder, or have missed the last word.
  const auto start_again = [&](int number) {
    if (world.all[static_cast<std::size_t>(number)]->finished)
      world.add(world.now() + one_second, EventType::start, number);
  };
  options.on_wait = [&](int number, Time since) {
    if (world.now() > since + 100 * one_second) start_again(number);
  };
  const auto process = [&](SimSite& site, int number) -> std::function<void()> {
    return [&, number] {
      try {
        SiteOptions mine = options;
        mine.sites.own = number;
        Site<T> one(problem.algorithm, problem.setup, {site, site, site}, mine);
        const SiteEnd end = one.run();
        site.logged = one.logged();
        site.finished = end == SiteEnd::confirmed;
        for (int s = 0; s < problem.sites && !site.finished; ++s) start_again(s);
      } catch (const Killed&) {
        ++(site.power_fails ? world.outcome.power_losses : world.outcome.kills);
      } catch (const DiskError& e) {  // somebody makes room and starts it again
        site.error = e.what();
      } catch (const FormatError& e) {
        site.error = e.what();
        world.outcome.what = fmt::format("site-{} refuses: {}", number, e.what());
        if (world.may_refuse) world.outcome.end = SimOutcome::End::refused;
      } catch (const std::exception& e) {
        world.outcome.what = fmt::format("site-{}: {}", number, e.what());
      }
    };
  };
  world.run(process);
  SimOutcome& outcome = world.outcome;
  outcome.time = world.now();
  // Fibers that still live hold objects on their stacks.
  for (const auto& site : world.all)
    if (site->fiber) {
      site->calls_to_live = 0;
      site->fiber->resume();
      site->fiber.reset();
    }
  if (!outcome.what.empty()) return outcome;
  Digest digest;
  for (std::size_t l = 0; l < world.all[0]->logged.size(); ++l) {
    std::vector<RowHash> rows;
    for (const auto& site : world.all) {
      if (site->logged.size() != world.all[0]->logged.size() ||
          site->logged[l].round != world.all[0]->logged[l].round) {
        outcome.what = "the sites logged different rounds";
        return outcome;
      }
      rows.insert(rows.end(), site->logged[l].rows.begin(), site->logged[l].rows.end());
    }
    digest.add(world.all[0]->logged[l].round, rows);
  }
  if (digest.hex() == problem.digest)
    outcome.end = SimOutcome::End::same;
  else
    outcome.what = fmt::format("digest {} instead of {}", digest.hex(), problem.digest);
  return outcome;
}

template SimOutcome play(const SimProblem<float>&, std::uint64_t, const Faults&);
template SimOutcome play(const SimProblem<double>&, std::uint64_t, const Faults&);

}  // namespace ticopd
