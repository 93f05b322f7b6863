#include "ticopd/sim/sim_world.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

constexpr Time millisecond = one_second / 1000;
constexpr Time limit = 8000 * one_second;  // no run of a few hundred rounds takes so long
constexpr Time between_looks = 200 * one_second;

}  // namespace

int SimSites::find(const std::string& name) const {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

SimWorld::SimWorld(std::vector<SimSites> rosters, std::uint64_t seed, const Faults& faults)
    : rosters_(std::move(rosters)), faults_(faults), random_(seed) {
  for (const std::string& site : rosters_.front().names) add_machine(site);
  plan();
}

void SimWorld::add_machine(const std::string& site) {
  all.push_back(
      std::make_unique<SimSite>(*this, static_cast<int>(all.size()), site, random_.next()));
}

void SimWorld::add(Event e) {
  e.order = ++order_;
  events_.push(std::move(e));
}

void SimWorld::wake_at(Time at, int machine, std::uint64_t number) {
  add({.at = at, .order = 0, .type = EventType::wake, .machine = machine, .number = number});
}

void SimWorld::note(std::uint64_t what, std::uint64_t more) {
  const std::array<std::uint64_t, 4> parts{outcome.trace, static_cast<std::uint64_t>(now_), what,
                                           more};
  outcome.trace = hash_row(std::as_bytes(std::span(parts)));
}

SimSite& SimWorld::machine_of(const std::string& site) {
  for (const auto& s : all)
    if (s->name == site && !s->clone) return *s;
  throw std::logic_error("SimWorld::machine_of: " + site);
}

// The faults of this seed, drawn before anything runs.
void SimWorld::plan() {
  latency_ = random_.between(10, 20'000) * 1000;  // 10 us to 20 ms
  jitter_ = faults_.has("reorder") ? random_.between(0, 4) * latency_ : 0;
  if (faults_.has("loss") && random_.chance(500)) loss_ = random_.between(1, 200);
  if (faults_.has("duplicate") && random_.chance(500)) duplicate_ = random_.between(1, 200);
  healed_ = latency_ * random_.between(20, 400);
  const auto machines = static_cast<std::int64_t>(all.size());
  const auto kinds = static_cast<std::int64_t>(fault_kinds().size());
  for (std::int64_t left = random_.between(0, 16); left > 0; --left)
    add({.at = random_.between(0, healed_),
         .order = 0,
         .type = EventType::fault,
         .machine = static_cast<int>(random_.between(0, machines - 1)),
         .number = static_cast<std::uint64_t>(random_.between(0, kinds - 1))});
  add({.at = healed_, .order = 0, .type = EventType::heal, .machine = 0});
  for (int m = 0; m < static_cast<int>(machines); ++m)
    add({.at = random_.between(0, 5 * latency_),
         .order = 0,
         .type = EventType::start,
         .machine = m});
  Time at = 0;
  for (std::size_t r = 1; r < rosters_.size(); ++r) {
    at += random_.between(1, healed_);
    add({.at = at, .order = 0, .type = EventType::hand_out, .machine = 0, .number = r});
  }
  if (rosters_.size() > 1)
    add({.at = healed_ + at + between_looks, .order = 0, .type = EventType::look, .machine = 0});
}

bool SimWorld::cut(int from, int to) const {
  const auto until = cut_until_.find({from, to});
  return until != cut_until_.end() && until->second > now_;
}

void SimWorld::carry(int from, int site, Bytes message) {
  const SimSite& sender = *all[static_cast<std::size_t>(from)];
  const SimSites& known = sites(sender.wire);
  const int own = known.find(sender.name);
  if (own < 0 || !known.neighbours[static_cast<std::size_t>(own)][static_cast<std::size_t>(site)])
    return;
  ++outcome.messages;
  note(1, hash_row(message));
  const std::string& name = known.names[static_cast<std::size_t>(site)];
  int to = 0;
  if (const auto route = route_.find({from, name}); route != route_.end())
    to = route->second;
  else
    while (all[static_cast<std::size_t>(to)]->name != name) ++to;
  if (cut(from, to) || random_.chance(loss_)) {
    ++outcome.lost;
    return;
  }
  const std::int64_t copies = random_.chance(duplicate_) ? 2 : 1;
  for (std::int64_t i = 0; i < copies; ++i) {
    const Time late = i > 0 && random_.chance(200) ? random_.between(0, 60) * latency_ : 0;
    add({.at = now_ + latency_ + late + (jitter_ > 0 ? random_.between(0, jitter_) : 0),
         .order = 0,
         .type = EventType::deliver,
         .machine = to,
         .from = from,
         .message = message});
  }
}

// Only those get through whom the receiver's roster lets in.
void SimWorld::deliver(const Event& e) {
  SimSite& site = *all[static_cast<std::size_t>(e.machine)];
  if (!site.fiber) return;
  const std::string& sender = all[static_cast<std::size_t>(e.from)]->name;
  const SimSites& known = sites(site.wire);
  const int own = known.find(site.name), from = known.find(sender);
  if (own < 0 || from < 0 ||
      !known.neighbours[static_cast<std::size_t>(own)][static_cast<std::size_t>(from)])
    return;
  if (all.size() > rosters_.front().names.size()) route_[{e.machine, sender}] = e.from;
  site.inbox.push_back({from, e.message});
  if (site.waiting) resume(site, e.machine);
}

void SimWorld::doom(SimSite& site, int machine, bool power, std::int64_t calls) {
  if (!site.fiber) return;
  site.calls_to_live = calls;
  site.power_fails = power;
  if (calls == 0 && site.waiting) resume(site, machine);
}

void SimWorld::strike(const Event& e) {
  const std::string_view kind = fault_kinds()[e.number].name;
  SimSite& site = *all[static_cast<std::size_t>(e.machine)];
  if (!faults_.has(kind)) return;
  note(2, e.number);
  const Time while_ = random_.between(1, 100) * latency_;
  if (kind == "partition") {
    const bool both = random_.chance(500);
    for (int other = 0; other < static_cast<int>(all.size()); ++other) {
      cut_until_[{e.machine, other}] = now_ + while_;
      if (both) cut_until_[{other, e.machine}] = now_ + while_;
    }
  } else if (kind == "pause") {
    site.paused_until = now_ + while_;
  } else if (kind == "kill" || kind == "power") {
    const bool power = kind == "power", everyone = random_.chance(150);
    const std::int64_t calls = random_.chance(500) ? 0 : random_.between(1, 400);
    for (int m = 0; m < static_cast<int>(all.size()); ++m)
      if (everyone || m == e.machine) doom(*all[static_cast<std::size_t>(m)], m, power, calls);
  } else if (kind == "away") {
    site.away_until = now_ + 10 * while_;
    doom(site, e.machine, false, 0);
  } else if (kind == "full") {
    site.disk.full = true;
  } else if (kind == "fsync") {
    site.fsync_fails = true;
  } else if (kind == "flip") {
    // A second one may hit the other checkpoint, which no program survives.
    if (site.disk.flip_bit(".checkpoint", site.dice()) && ++flips_[e.machine] > 1)
      suspects_.insert(site.name);
    doom(site, e.machine, false, 0);
  } else if (kind == "backup") {
    if (random_.chance(500)) {
      site.backup = site.disk;
    } else if (!site.backup.list().empty()) {
      doom(site, e.machine, false, 0);
      site.disk = site.backup;
      suspects_.insert(site.name);
    }
  } else if (kind == "clone" && !site.disk.list().empty() && suspects_.empty()) {
    suspects_.insert(site.name);
    const std::string name = site.name;
    const SimDisk copy = site.disk;
    const std::size_t given = site.given;
    add_machine(name);
    SimSite& second = *all.back();
    second.clone = true;
    second.disk = copy;
    second.given = given;
    add({.at = now_ + while_,
         .order = 0,
         .type = EventType::start,
         .machine = static_cast<int>(all.size()) - 1});
  }
}

// The operator stops the site and starts it again with the new roster on its command line.
void SimWorld::give(SimSite& site, int machine, std::size_t roster) {
  site.given = std::max(site.given, roster);
  site.finished = false;
  doom(site, machine, false, 0);
  add({.at = now_ + random_.between(1, 50) * latency_ + millisecond,
       .order = 0,
       .type = EventType::start,
       .machine = machine});
}

// To one site of those that are there; sites that are new in it start with it.
void SimWorld::hand_out(std::size_t roster) {
  ++outcome.rosters;
  handed_out_ = roster;
  note(5, roster);
  std::vector<int> there;
  for (int m = 0; m < static_cast<int>(all.size()); ++m)
    if (sites(roster - 1).find(all[static_cast<std::size_t>(m)]->name) >= 0 &&
        !all[static_cast<std::size_t>(m)]->clone)
      there.push_back(m);
  const int one = there[static_cast<std::size_t>(
      random_.between(0, static_cast<std::int64_t>(there.size()) - 1))];
  give(*all[static_cast<std::size_t>(one)], one, roster);
  for (const std::string& name : sites(roster).names) {
    if (sites(roster - 1).find(name) >= 0) continue;
    int machine = 0;
    while (machine < static_cast<int>(all.size()) &&
           all[static_cast<std::size_t>(machine)]->name != name)
      ++machine;
    if (machine == static_cast<int>(all.size())) add_machine(name);
    give(*all[static_cast<std::size_t>(machine)], machine, roster);
  }
}

// The operator sees from time to time who has an old roster, and hands it the newest.
void SimWorld::look() {
  for (int m = 0; m < static_cast<int>(all.size()); ++m) {
    SimSite& site = *all[static_cast<std::size_t>(m)];
    if (site.clone || site.follows == handed_out_ || sites(handed_out_).find(site.name) < 0)
      continue;
    if (site.fiber) ++outcome.handed_again;  // it runs, and has not heard of it
    give(site, m, handed_out_);
  }
  add({.at = now_ + between_looks, .order = 0, .type = EventType::look, .machine = 0});
}

void SimWorld::start_again(const std::string& name) {
  for (int m = 0; m < static_cast<int>(all.size()); ++m)
    if (const SimSite& s = *all[static_cast<std::size_t>(m)]; s.name == name && s.finished)
      add({.at = now_ + one_second, .order = 0, .type = EventType::start, .machine = m});
}

bool SimWorld::may_refuse(const std::string& refusing, const std::string& why) const {
  return suspects_.contains(refusing) || std::ranges::any_of(suspects_, [&](const auto& s) {
           return why.find("site " + s + ": ") != std::string::npos;
         });
}

void SimWorld::resume(SimSite& site, int machine) {
  site.fiber->resume();
  if (!site.fiber->ended()) return;
  site.fiber.reset();
  site.waiting = false;
  site.inbox.clear();
  site.calls_to_live = -1;
  if (std::exchange(site.power_fails, false)) site.disk.lose_power(site.dice());
  note(3, static_cast<std::uint64_t>(machine));
  if (!site.finished)
    add({.at = now_ + random_.between(1, 50) * latency_ + millisecond,
         .order = 0,
         .type = EventType::start,
         .machine = machine});
}

// True when all sites of the last roster have ended for good. A finished site is started again if
// another one still waits for it: it may have left before its last word was heard.
bool SimWorld::over() {
  return handed_out_ == last_roster() &&
         std::ranges::all_of(sites(last_roster()).names, [&](const std::string& name) {
           const SimSite& s = machine_of(name);
           return s.finished && !s.fiber && s.follows == last_roster();
         });
}

void SimWorld::run(const Start& start) {
  while (!events_.empty()) {
    if (now_ > healed_ && over()) return;
    const Event e = events_.top();
    events_.pop();
    SimSite& site = *all[static_cast<std::size_t>(e.machine)];
    if (e.at > now_) now_ = e.at;
    if (now_ > limit) {
      outcome.what = "no progress";
      return;
    }
    Time later = 0;
    if (site.paused_until > now_ && (e.type == EventType::deliver || e.type == EventType::wake))
      later = site.paused_until;
    if (site.away_until > now_ && e.type == EventType::start) later = site.away_until;
    if (later > 0) {
      Event again = e;
      again.at = later;
      add(std::move(again));
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
      case EventType::hand_out:
        hand_out(e.number);
        break;
      case EventType::look:
        look();
        break;
      case EventType::start:
        if (site.fiber) break;
        note(4, static_cast<std::uint64_t>(e.machine));
        site.finished = false;
        site.fiber = std::make_unique<Fiber>(start(site));
        resume(site, e.machine);
        break;
      case EventType::deliver:
        deliver(e);
        break;
      case EventType::wake:
        if (site.fiber && site.waiting && e.number == site.wakes) resume(site, e.machine);
        break;
    }
    if (!outcome.what.empty()) return;
  }
}

}  // namespace ticopd
