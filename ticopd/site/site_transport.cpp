#include "ticopd/site/site_transport.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/site/planted.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

constexpr Time time_to_hand_on = 5 * one_second;

}  // namespace

SiteTransport::SiteTransport(World& world, const SiteNames& sites, SessionLimits limits,
                             std::vector<SessionRecord> records)
    : world_(world), sites_(sites) {
  records.resize(sites.names.size());
  const std::uint64_t boot = world.clock.random() | 1;
  for (const std::string& name : sites.names) introductions_.emplace_back(name);
  knows_end_.resize(sites.names.size());
  for (std::size_t i = 0; i < sites.names.size(); ++i)
    sessions_.push_back(std::make_unique<Session>(sites.names[i], sites.network, boot, limits,
                                                  std::move(records[i])));
}

void SiteTransport::send(int site, Message m) {
  m.roster = sites_.roster;
  world_.wire.send(site, encode(m));
}

void SiteTransport::send_due() {
  const Time now = world_.clock.now();
  for (int site = 0; site < size(); ++site) {
    Introduction& introduction = introductions_[static_cast<std::size_t>(site)];
    while (std::optional<Message> m = introduction.next(sites_, now)) send(site, std::move(*m));
    if (handing_on_) continue;
    if (!end_.empty()) {
      if (now < end_at_ || site == rank()) continue;
      Message m{.type = MessageType::ended, .network = sites_.network};
      m.body = to_bytes(std::span(std::as_const(end_)));
      send(site, std::move(m));
      continue;
    }
    while (std::optional<Message> m = session(site).next(now)) send(site, std::move(*m));
  }
  if (!end_.empty() && now >= end_at_) end_at_ = now + one_second / 2;
}

Time SiteTransport::due() const {
  Time at = std::numeric_limits<Time>::max();
  if (!end_.empty())
    at = end_at_;
  else if (!handing_on_)
    for (const auto& s : sessions_) at = std::min(at, s->due());
  for (const Introduction& i : introductions_) at = std::min(at, i.due());
  return at;
}

// A message that cannot be read, or comes from nobody, is dropped: the sender will say it again.
void SiteTransport::take(const Wire::Arrived& arrived) {
  const int site = arrived.site;
  if (site < 0 || site >= size() || site == rank()) {
    ++dropped_;
    return;
  }
  Introduction& introduction = introductions_[static_cast<std::size_t>(site)];
  std::optional<Message> m = decode_message(arrived.message);
  if (!m) {
    const std::optional<Versions> versions = versions_of(arrived.message);
    if (versions && *versions != own_versions) return introduction.other_versions(*versions);
    ++dropped_;
    return world_.wire.odd(site);
  }
  const bool fits = introduction.fits(*m, sites_) || planted(Bug::any_epoch);
  switch (m->type) {
    case MessageType::roster:
      if (m->roster.owner == sites_.roster.owner && m->roster.version > sites_.roster.version &&
          on_roster_)
        on_roster_(std::span(m->body));
      return;
    case MessageType::ended:
      return fits ? hear_end(site, *m) : void();
    case MessageType::differs:
      return;
    default:
      if (fits && end_.empty() && !handing_on_)
        session(site).take(std::move(*m), world_.clock.now());
  }
}

void SiteTransport::hear_end(int site, const Message& m) {
  knows_end_[static_cast<std::size_t>(site)] = true;
  if (!end_.empty()) return;
  throw Diverged(
      plain(std::string_view(reinterpret_cast<const char*>(m.body.data()), m.body.size())));
}

void SiteTransport::tell_end(const std::string& reason) {
  end_ = reason.substr(0, most_reason_bytes);
  end_at_ = 0;
}

bool SiteTransport::all_know_the_end() const {
  bool anyone = false;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (!sessions_[i]->used() && !introductions_[i].heard()) continue;
    if (!knows_end_[i]) return false;
    anyone = true;
  }
  return anyone;
}

// Names and numbers stay: they are those of the connections.
void SiteTransport::follow(const SiteNames& sites) {
  sites_.network = sites.network;
  sites_.roster = sites.roster;
  sites_.signed_roster = sites.signed_roster;
}

void SiteTransport::hand_on(Time until, bool from_all) {
  handing_on_ = true;
  for (Introduction& i : introductions_) i.hand_on(sites_);
  const auto all_have_it = [&] {
    for (int site = 0; site < size(); ++site)
      if (const auto& heard = introductions_[static_cast<std::size_t>(site)].heard();
          site != rank() && (heard ? heard->version < sites_.roster.version : from_all))
        return false;
    return true;
  };
  while (world_.clock.now() < until && !all_have_it())
    pump(std::min(until, world_.clock.now() + one_second / 10));
}

void SiteTransport::pump(Time until) {
  for (;;) {
    send_due();
    const std::optional<Wire::Arrived> arrived = world_.wire.receive(std::min(until, due()));
    if (arrived) {
      take(*arrived);
    } else if (world_.clock.now() >= until) {
      return;
    }
  }
}

void hand_on_roster(World world, const SiteNames& before, const SiteNames& now) {
  SiteTransport transport(world, before);
  transport.follow(now);
  transport.hand_on(world.clock.now() + time_to_hand_on, true);
}

void SiteTransport::do_send(int to, std::uint32_t channel, Bytes frame) {
  session(to).push(channel, std::move(frame));
  send_due();
}

Transport::Arrival SiteTransport::do_receive(int from, std::uint32_t channel, std::size_t) {
  Session& s = session(from);
  const Time since = world_.clock.now();
  Time say = since + one_second;
  for (;;) {
    if (std::optional<Bytes> frame = s.pop(channel)) return {std::move(*frame), seconds_now()};
    const Time now = world_.clock.now();
    if (now >= say) {
      if (on_wait_) on_wait_(from, since);
      say = now + one_second;
    }
    send_due();
    if (const auto arrived = world_.wire.receive(std::min(say, due()))) take(*arrived);
  }
}

std::vector<SessionRecord> SiteTransport::records() const {
  std::vector<SessionRecord> all;
  for (const auto& s : sessions_) all.push_back(s->record());
  return all;
}

std::vector<std::uint64_t> SiteTransport::consumed() const {
  std::vector<std::uint64_t> all;
  for (const auto& s : sessions_) all.push_back(s->consumed());
  return all;
}

void SiteTransport::make_safe(const std::vector<std::uint64_t>& consumed) {
  for (std::size_t i = 0; i < sessions_.size() && i < consumed.size(); ++i)
    sessions_[i]->make_safe(consumed[i]);
}

std::size_t SiteTransport::unsafe_bytes() const {
  std::size_t most = 0;
  for (const auto& s : sessions_) most = std::max(most, s->unsafe_bytes());
  return most;
}

bool SiteTransport::confirmed() const {
  return std::ranges::all_of(sessions_, [](const auto& s) { return s->confirmed(); });
}

void SiteTransport::say_done() {
  for (const auto& s : sessions_) s->say_done();
}

bool SiteTransport::all_done() const {
  return std::ranges::all_of(sessions_, [](const auto& s) { return !s->used() || s->peer_done(); });
}

std::uint64_t SiteTransport::resent_bytes() const {
  std::uint64_t all = 0;
  for (const auto& s : sessions_) all += s->resent_bytes();
  return all;
}

}  // namespace ticopd
