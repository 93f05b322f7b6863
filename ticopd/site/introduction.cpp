#include "ticopd/site/introduction.hpp"

#include <limits>

namespace ticopd {
namespace {

std::string number(std::uint32_t n) {
  return std::to_string(n);
}

// What keeps us from talking; empty: nothing.
std::string difference_of(const std::string& peer, const Message& m, const SiteNames& own) {
  if (m.roster.owner != own.roster.owner)
    return peer + " belongs to another network: its run has another name, or another operator";
  if (m.roster.version != own.roster.version)
    return m.network == own.network
               ? std::string()
               : peer + " follows version " + number(m.roster.version) +
                     " of the roster, and this site version " + number(own.roster.version);
  if (m.roster.bytes != own.roster.bytes)
    return peer + " follows another roster of version " + number(own.roster.version) +
           ": the operator must sign one with a higher version";
  if (m.network != own.network) return peer + " makes another run of the same roster";
  return {};
}

}  // namespace

bool Introduction::fits(const Message& m, const SiteNames& own) {
  difference_ = difference_of(peer_, m, own);
  if (m.roster.owner != own.roster.owner) {
    answer_ = m.type != MessageType::differs;
    return false;
  }
  heard_ = m.roster;
  hand_on_ = m.roster.version < own.roster.version && !own.signed_roster.empty();
  // Else it would not know that we lack its roster, or that ours is another one.
  answer_ = hand_on_ || m.roster.version > own.roster.version ||
            (!difference_.empty() && m.type != MessageType::differs);
  return difference_.empty();
}

void Introduction::other_versions(const Versions& theirs) {
  const auto say = [&](const char* what, int its, int ours) {
    difference_ = peer_ + " speaks version " + std::to_string(its) + " of the " + what +
                  ", and this site version " + std::to_string(ours) +
                  ": both need one version of ticopd";
  };
  if (theirs.protocol != own_versions.protocol)
    say("protocol", theirs.protocol, own_versions.protocol);
  else
    say("frames", theirs.frames, own_versions.frames);
  answer_ = true;
  hand_on_ = false;
}

void Introduction::hand_on(const SiteNames& own) {
  if (heard_ && heard_->version >= own.roster.version) return;
  answer_ = hand_on_ = true;
  answer_at_ = 0;
}

std::optional<Message> Introduction::next(const SiteNames& own, Time now) {
  if (!answer_ || now < answer_at_) return std::nullopt;
  answer_ = false;
  answer_at_ = now + one_second;
  Message m{.type = MessageType::differs, .network = own.network, .roster = own.roster};
  if (hand_on_) {
    m.type = MessageType::roster;
    m.body = own.signed_roster;
  }
  return m;
}

Time Introduction::due() const {
  return answer_ ? answer_at_ : std::numeric_limits<Time>::max();
}

}  // namespace ticopd
