#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/sim/faults.hpp"
#include "ticopd/sim/fiber.hpp"
#include "ticopd/sim/play.hpp"
#include "ticopd/sim/sim_store.hpp"
#include "ticopd/site/site_state.hpp"
#include "ticopd/site/world.hpp"

namespace ticopd {

// Thrown where a process dies: not an Error, so that nobody takes it for one.
struct Killed {};

// Who is in a roster, and who talks to whom in it.
struct SimSites {
  std::vector<std::string> names;
  std::vector<std::vector<bool>> neighbours;  // by site
  int find(const std::string& name) const;    // -1: it is not there
};

class SimWorld;

// A machine with its disk and the process of a site on it. What that asks of the world comes here.
class SimSite final : public Clock, public Wire, public Store {
 public:
  SimSite(SimWorld& world, int machine, std::string site, std::uint64_t seed)
      : name(std::move(site)), world_(world), machine_(machine), random_(seed) {}

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

  std::string name;         // of the site
  std::size_t given = 0;    // the roster that its processes are started with
  std::size_t follows = 0;  // the one that the process follows
  std::size_t wire = 0;     // ... and the one that its connections are of
  SimDisk disk, backup;
  std::deque<Arrived> inbox;
  std::unique_ptr<Fiber> fiber;     // null: no process runs
  bool finished = false;            // nobody needs this site any more, as far as it knows
  bool clone = false;               // a second machine for the site
  bool waiting = false;             // in receive
  std::uint64_t wakes = 0;          // the number of the last wait
  std::int64_t calls_to_live = -1;  // -1: no end is near
  bool power_fails = false;
  bool fsync_fails = false;
  Time paused_until = 0, away_until = 0;
  std::vector<LoggedRows> logged;  // of the last process that ended well, and where it began
  KeptRows start;
  std::set<std::uint64_t> models;  // hashes of all rows that a complete round has ended with
  std::string diverged;            // why the last process ended, if it was that

  SimRandom& dice() { return random_; }

 private:
  void point();  // a process may die here

  SimWorld& world_;
  int machine_;
  SimRandom random_;
  Time counted_at_ = -1;
  std::int64_t calls_now_ = 0;
};

// The world of one seed: machines, what is on its way between them, and what befalls them.
class SimWorld {
 public:
  // `rosters`: those of this seed, the first one included.
  SimWorld(std::vector<SimSites> rosters, std::uint64_t seed, const Faults& faults);

  Time now() const { return now_; }
  void note(std::uint64_t what, std::uint64_t more = 0);
  void carry(int from, int site, Bytes message);
  void wake_at(Time at, int machine, std::uint64_t number);
  // Somebody starts a site again that has ended, since another one needs it.
  void start_again(const std::string& site);
  // A site is put back to an older state, or is there twice: whoever says so is right.
  bool may_refuse(const std::string& refusing, const std::string& why) const;

  // Until every site has ended for good, or something is wrong. `start` makes the body of a site's
  // process.
  using Start = std::function<std::function<void()>(SimSite&)>;
  void run(const Start& start);

  const SimSites& sites(std::size_t roster) const { return rosters_[roster]; }
  std::size_t last_roster() const { return rosters_.size() - 1; }
  SimSite& machine_of(const std::string& site);  // not a clone

  std::vector<std::unique_ptr<SimSite>> all;
  SimOutcome outcome;

 private:
  enum class EventType : unsigned char { deliver, wake, start, fault, heal, hand_out, look };
  struct Event {
    Time at;
    std::uint64_t order;
    EventType type;
    int machine;
    std::uint64_t number = 0;  // of the wait, the fault, or the roster
    int from = 0;              // deliver: the machine
    Bytes message = {};

    bool operator>(const Event& other) const {
      return std::pair(at, order) > std::pair(other.at, other.order);
    }
  };

  void add(Event e);
  void add_machine(const std::string& site);
  void plan();
  void strike(const Event& e);
  void hand_out(std::size_t roster);
  void look();
  void give(SimSite& site, int machine, std::size_t roster);
  void deliver(const Event& e);
  void resume(SimSite& site, int machine);
  void doom(SimSite& site, int machine, bool power, std::int64_t calls);
  bool cut(int from, int to) const;
  bool over();

  std::vector<SimSites> rosters_;
  const Faults& faults_;
  SimRandom random_;
  Time now_ = 0;
  Time healed_ = 0;  // no fault begins after that
  std::size_t handed_out_ = 0;
  std::uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<std::pair<int, int>, Time> cut_until_;     // by machines, one way
  std::map<std::pair<int, std::string>, int> route_;  // from a machine to a site that has a clone
  std::int64_t loss_ = 0, duplicate_ = 0;             // in a thousand
  Time latency_ = 0, jitter_ = 0;
  std::map<int, int> flips_;        // by machine
  std::set<std::string> suspects_;  // sites of which a refusal is right
};

}  // namespace ticopd
