#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ticopd/site/introduction.hpp"
#include "ticopd/site/session.hpp"
#include "ticopd/site/world.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {

// Frames between sites as a transport: a rank is a site. A frame is kept until the other site has
// it in a checkpoint, so a site that is down for a while loses nothing; whoever needs its frames
// waits. Nothing else is shared: no rank decides for others, and no value is gathered.
class SiteTransport final : public Transport {
 public:
  // Called about once a second of waiting in `receive`; may throw to end the wait.
  using OnWait = std::function<void(int site, Time since)>;

  SiteTransport(World& world, const SiteNames& sites, SessionLimits limits = {},
                std::vector<SessionRecord> records = {});

  int rank() const override { return sites_.own; }
  int size() const override { return static_cast<int>(sites_.names.size()); }
  void abandon(int, const std::string&) override {}  // others wait until this site is back

  void on_wait(OnWait f) { on_wait_ = std::move(f); }

  // Called for a roster with a higher version than ours; may throw.
  using OnRoster = std::function<void(std::span<const std::byte> signed_roster)>;
  void on_roster(OnRoster f) { on_roster_ = std::move(f); }
  // The roster is another one from now on.
  void follow(const SiteNames& sites);
  // Nothing is said any more but that, until every neighbour that was heard has it, or that time
  // has come.
  // `from_all`: neighbours that were not heard yet are waited for, too.
  void hand_on(Time until, bool from_all = false);

  // The run has diverged: neighbours are told, again and again. Whoever is told throws Diverged
  // with this reason.
  void tell_end(const std::string& reason);
  bool all_know_the_end() const;

  // Sends what is due and takes in what comes, until then.
  void pump(Time until);

  std::vector<SessionRecord> records() const;
  void make_safe(const std::vector<std::uint64_t>& consumed);  // by site
  std::vector<std::uint64_t> consumed() const;
  std::size_t unsafe_bytes() const;
  bool confirmed() const;  // every neighbour has all it needs
  void say_done();
  const Session& at(int site) const { return *sessions_[static_cast<std::size_t>(site)]; }
  bool all_done() const;  // every neighbour has said so, too
  std::uint64_t resent_bytes() const;
  // Why this site and that one do not talk, in words; empty: they do, as far as is known.
  const std::string& difference(int site) const {
    return introductions_[static_cast<std::size_t>(site)].difference();
  }
  std::uint64_t dropped() const { return dropped_; }  // messages that cannot be read

 protected:
  void do_send(int to, std::uint32_t channel, Bytes frame) override;
  Arrival do_receive(int from, std::uint32_t channel, std::size_t most) override;

 private:
  Session& session(int site) { return *sessions_[static_cast<std::size_t>(site)]; }
  void send_due();
  Time due() const;
  void send(int site, Message m);
  void hear_end(int site, const Message& m);
  void take(const Wire::Arrived& arrived);

  World& world_;
  SiteNames sites_;
  std::vector<std::unique_ptr<Session>> sessions_;  // by site; our own stays unused
  std::vector<Introduction> introductions_;         // by site
  std::uint64_t dropped_ = 0;
  bool handing_on_ = false;
  std::string end_;              // why the run has ended; empty: it has not
  Time end_at_ = 0;              // when to say so again
  std::vector<bool> knows_end_;  // by site
  OnWait on_wait_;
  OnRoster on_roster_;
};

// For a site that is started with a roster of another run than before: it tells its neighbours of
// that run, which may not be those of the new one. Waits for them, a few seconds at most.
void hand_on_roster(World world, const SiteNames& before, const SiteNames& now);

}  // namespace ticopd
