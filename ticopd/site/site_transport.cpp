#include "ticopd/site/site_transport.hpp"

#include <algorithm>
#include <utility>

#include "ticopd/system/clock.hpp"

namespace ticopd {

SiteTransport::SiteTransport(World& world, const SiteNames& sites, SessionLimits limits,
                             std::vector<SessionRecord> records)
    : world_(world), sites_(sites) {
  records.resize(sites.names.size());
  const std::uint64_t boot = world.clock.random() | 1;
  for (std::size_t i = 0; i < sites.names.size(); ++i)
    sessions_.push_back(std::make_unique<Session>(sites.names[i], sites.network, boot, limits,
                                                  std::move(records[i])));
}

void SiteTransport::send_due() {
  const Time now = world_.clock.now();
  for (int site = 0; site < size(); ++site)
    while (const std::optional<Message> m = session(site).next(now))
      world_.wire.send(site, encode(*m));
}

// What cannot be read, or comes from nobody, is dropped: the sender will say it again.
void SiteTransport::take(const Wire::Arrived& arrived) {
  if (arrived.site < 0 || arrived.site >= size() || arrived.site == rank()) return;
  if (std::optional<Message> m = decode_message(arrived.message))
    session(arrived.site).take(std::move(*m), world_.clock.now());
  else
    world_.wire.odd(arrived.site);
}

void SiteTransport::pump(Time until) {
  for (;;) {
    send_due();
    Time wait = until;
    for (const auto& s : sessions_) wait = std::min(wait, s->due());
    const std::optional<Wire::Arrived> arrived = world_.wire.receive(wait);
    if (arrived) {
      take(*arrived);
    } else if (world_.clock.now() >= until) {
      return;
    }
  }
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
    Time wait = say;
    for (const auto& other : sessions_) wait = std::min(wait, other->due());
    if (const auto arrived = world_.wire.receive(wait)) take(*arrived);
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
