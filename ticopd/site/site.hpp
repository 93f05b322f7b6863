#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/run/setup.hpp"
#include "ticopd/site/site_state.hpp"
#include "ticopd/site/site_transport.hpp"
#include "ticopd/site/world.hpp"

namespace ticopd {

struct SiteOptions {
  SiteNames sites;
  SessionLimits limits = {};
  std::uint32_t checkpoint_rounds = 0;     // one every so many rounds; 0: by time alone
  Time checkpoint_time = 60 * one_second;  // or when so much time has passed
  std::size_t unsafe_bytes = 64 << 20;     // or so much came that is not safe
  Time linger = 10 * one_second;           // at the end, for neighbours that missed the last word
  Time unconfirmed = 60 * one_second;      // at the end, how long to wait for neighbours
  SiteTransport::OnWait on_wait = {};
  std::function<void(std::uint32_t round)> on_round = {};
  std::function<void(const LoggedRows&)> on_log = {};
  std::function<void()> on_parting = {};    // ten times a second, while others need this site
  const std::atomic<bool>* stop = nullptr;  // set from outside: saves after the round, and ends
  bool measure = false;                     // logged rounds have metrics
  std::function<void(const std::string& what)> on_trouble = {};  // a checkpoint failed; goes on
  // A neighbour has a roster of a higher version. Whoever runs the site checks it, and keeps it in
  // the folder before it says yes by what the site follows from now on; empty: it is not taken.
  std::function<std::optional<SiteNames>(std::span<const std::byte> signed_roster)> on_roster = {};
};

enum class SiteEnd : unsigned char {
  confirmed,    // every neighbour has what it needs: this process is not needed any more
  stopped,      // asked to stop: saved, start it again
  unconfirmed,  // finished and saved; some neighbour may need frames: start it again
  superseded,   // a new roster begins another epoch: make a Site for that, on the same folder
};

// One site's part of a run, from its newest checkpoint to the end. The bits do not depend on how
// often this process, or any other, was killed and started again.
//
// In the first epoch all agents start where the objective says. A later epoch is a run that begins
// with the models that this folder has of the last complete round before it.
template <class T>
class Site {
 public:
  // The placement of agents on sites is that of ranks: blocks of agents in the order of the sites.
  // FormatError for a folder that is further than the roster.
  Site(const RunFactory<T>& algorithm, const Setup<T>& setup, World world, SiteOptions options);
  ~Site();

  // Throws FormatError (a neighbour, or this folder, is not what it was), Diverged (this site, or
  // another one that says so), DiskError (the last checkpoint could not be written), and what
  // on_wait throws.
  SiteEnd run();

  std::uint32_t round() const;
  double seconds() const;         // in the run, of all processes of this site
  nlohmann::json ledger() const;  // of the hosted agents, as checkpoints have it
  const SiteTransport& transport() const;
  const std::vector<LoggedRows>& logged() const;
  const Field<T>& x() const;      // once it runs
  const Field<T>& start() const;  // of the hosted agents; empty in the first epoch
  int first_agent() const;
  std::uint64_t resent_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class Site<float>;
extern template class Site<double>;

}  // namespace ticopd
