#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/site/messages.hpp"
#include "ticopd/site/world.hpp"

namespace ticopd {

// The sites of a network, as one of them sees them, and the roster that it follows.
struct SiteNames {
  std::vector<std::string> names;  // by number
  int own = 0;
  std::uint64_t network = 0;  // a number that all sites of this run share, and no others
  RosterMark roster = {};
  Bytes signed_roster = {};  // to be handed on; empty: there is none to give
};

// Whether a neighbour follows the roster that this site follows: every message says it. If not,
// both can say in a line what differs, and the site with the older roster gets the newer one. A
// state machine without I/O and without a clock, as a session is.
class Introduction {
 public:
  explicit Introduction(std::string peer) : peer_(std::move(peer)) {}

  // True if the message is of our run, so that its session may take it. A `roster` message is for
  // the caller, too.
  bool fits(const Message& message, const SiteNames& own);
  // A message of another protocol came, or of frames that we do not make.
  void other_versions(const Versions& theirs);

  // Gives the roster to a neighbour that was not yet heard with it.
  void hand_on(const SiteNames& own);
  // The answer, at most once a second.
  std::optional<Message> next(const SiteNames& own, Time now);
  Time due() const;

  // In words; empty: nothing does, as far as is known.
  const std::string& difference() const { return difference_; }
  // The roster that the neighbour was last heard with.
  const std::optional<RosterMark>& heard() const { return heard_; }

 private:
  std::string peer_, difference_;
  std::optional<RosterMark> heard_;
  bool answer_ = false, hand_on_ = false;
  Time answer_at_ = 0;
};

}  // namespace ticopd
