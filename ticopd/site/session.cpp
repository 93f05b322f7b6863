#include "ticopd/site/session.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/site/planted.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

constexpr Time rewind_pause = one_second / 20;
constexpr Time never = std::numeric_limits<Time>::max();

std::uint64_t hash_of(std::initializer_list<std::uint64_t> numbers) {
  return hash_row(std::as_bytes(std::span(numbers.begin(), numbers.size())));
}

// What a frame takes of the window: small frames are mostly header.
std::size_t weight(std::size_t frame_bytes) {
  return frame_bytes + message_header_bytes;
}
std::size_t weight(const SentFrame& f) {
  return weight(f.frame.size());
}

std::uint64_t next_chain(std::uint64_t chain, std::uint32_t channel, std::uint64_t frame_hash) {
  return hash_of({chain, channel, frame_hash});
}

}  // namespace

Session::Session(std::string peer, std::uint64_t network, std::uint64_t boot, SessionLimits limits,
                 SessionRecord record)
    : peer_(std::move(peer)),
      network_(network),
      boot_(boot),
      limits_(limits),
      sent_(record.sent),
      sent_chain_(record.sent_chain),
      trimmed_(record.trimmed),
      trimmed_chain_(record.trimmed_chain),
      outbox_(std::move(record.outbox)),
      cursor_(record.trimmed + 1),
      peer_have_(record.trimmed),
      peer_safe_(record.trimmed),
      peer_chain_(record.trimmed_chain),
      have_(record.consumed),
      have_chain_(record.consumed_chain),
      base_chain_(record.consumed_chain),
      consumed_(record.consumed) {}

void Session::refuse(const std::string& why) const {
  throw FormatError("site " + peer_ + ": " + why);
}

void Session::push(std::uint32_t channel, Bytes frame) {
  ++sent_;
  SentFrame& sent = outbox_.emplace_back(SentFrame{channel, std::move(frame)});
  sent.chain = sent_chain_ = next_chain(sent_chain_, channel, sent.frame.hash());
  compare_chain();
  trim();
}

// A neighbour may have frames that this process has yet to make again.
void Session::compare_chain() {
  if (peer_have_ > sent_ || peer_have_ < trimmed_) return;
  if (chain_at(peer_have_) != peer_chain_)
    refuse(
        "the frames that this site makes differ from those that it sent before: another "
        "processor, changed data, or an old copy of its folder");
}

std::uint64_t Session::chain_at(std::uint64_t sequence) const {
  return sequence == trimmed_ ? trimmed_chain_ : outbox_[sequence - trimmed_ - 1].chain;
}

void Session::trim() {
  const std::uint64_t safe = planted(Bug::trim_received) ? peer_have_ : peer_safe_;
  while (trimmed_ < std::min(safe, sent_)) {
    trimmed_chain_ = outbox_.front().chain;
    outbox_.pop_front();
    ++trimmed_;
  }
  if (cursor_ <= trimmed_) {
    cursor_ = trimmed_ + 1;
    cursor_offset_ = 0;
  }
}

std::optional<Bytes> Session::pop(std::uint32_t channel) {
  used_ = true;
  std::deque<Kept>& frames = inbox_[planted(Bug::mix_channels) ? 0 : channel];
  if (frames.empty()) return std::nullopt;
  Bytes frame = std::move(frames.front().frame);
  frames.pop_front();
  unread_bytes_ -= weight(frame.size());
  if (!planted(Bug::forget_consumed)) ++consumed_;
  return frame;
}

SessionRecord Session::record() const {
  for (const auto& [channel, frames] : inbox_)
    if (!frames.empty() && frames.front().sequence <= consumed_)
      refuse("it sent a frame that its rounds do not have: another version of the program");
  SessionRecord r;
  r.consumed = planted(Bug::save_received) ? have_ : consumed_;
  const std::uint64_t base = have_ - received_.size();
  r.consumed_chain = consumed_ == base ? base_chain_ : received_[consumed_ - base - 1].chain;
  r.sent = sent_ - (planted(Bug::miscount_sent) && sent_ > trimmed_ ? 1 : 0);
  r.sent_chain = sent_chain_;
  r.trimmed = trimmed_;
  r.trimmed_chain = trimmed_chain_;
  r.outbox = outbox_;
  if (planted(Bug::miscount_sent) && sent_ > trimmed_) r.outbox.pop_back();
  if (planted(Bug::forget_outbox)) {
    r.trimmed = r.sent;
    r.trimmed_chain = r.sent_chain;
    r.outbox.clear();
  }
  return r;
}

void Session::make_safe(std::uint64_t consumed) {
  if (consumed <= safe_) return;
  safe_ = consumed;
  while (!received_.empty() && have_ - received_.size() < safe_) {
    unsafe_bytes_ -= received_.front().bytes;
    base_chain_ = received_.front().chain;
    received_.pop_front();
  }
  acknowledge_ = true;
}

void Session::say_done() {
  done_ = acknowledge_ = true;
}

Message Session::blank(MessageType type) const {
  return {.type = type, .network = network_, .from = boot_, .to = peer_boot_};
}

Message Session::state(MessageType type) const {
  Message m = blank(type);
  m.sequence = have_;
  m.safe = planted(Bug::confirm_received) ? have_ : std::min(safe_, have_);
  m.chain = have_chain_;
  return m;
}

std::optional<Message> Session::next(Time now) {
  if (answer_ != 0) {
    Message m = state(MessageType::welcome);
    m.nonce = std::exchange(answer_, 0);
    m.to = 0;
    return m;
  }
  if ((probe_ || !connected()) && used() && now >= hello_at_) {
    hello_at_ = now + limits_.hello;
    Message m = blank(MessageType::hello);
    m.nonce = nonce_ = hash_of({boot_, ++hellos_}) | 1;
    m.to = 0;
    return m;
  }
  if (!connected()) return std::nullopt;
  if (acknowledge_ || (used() && now >= say_at())) {
    acknowledge_ = false;
    unsaid_bytes_ = 0;
    said_at_ = now;
    Message m = state(done_ ? MessageType::done : MessageType::have);
    m.gap = std::exchange(gap_, false);
    return m;
  }
  return next_piece(now);
}

std::optional<Message> Session::next_piece(Time now) {
  const bool outstanding = cursor_ > peer_have_ + 1 || cursor_offset_ > 0;
  if (outstanding && now >= progress_at_ + limits_.resend && !planted(Bug::never_resend))
    rewind(now);
  if (cursor_ > sent_ || in_flight_ >= limits_.window) return std::nullopt;
  if (cursor_ == peer_have_ + 1 && cursor_offset_ == 0) progress_at_ = now;
  const SentFrame& f = outbox_[cursor_ - trimmed_ - 1];
  Message m = blank(MessageType::data);
  m.sequence = cursor_;
  m.chain = f.chain;
  m.channel = f.channel;
  m.offset = cursor_offset_;
  m.length = f.frame.size();
  const std::size_t size = std::min(limits_.piece, f.frame.size() - cursor_offset_);
  m.body = f.frame.part(cursor_offset_, size);
  if (cursor_ <= reached_) resent_bytes_ += size;
  cursor_offset_ += size;
  if (cursor_offset_ == f.frame.size()) {
    in_flight_ += weight(f);
    reached_ = std::max(reached_, cursor_);
    ++cursor_;
    cursor_offset_ = 0;
  }
  return m;
}

void Session::rewind(Time now) {
  cursor_ = peer_have_ + 1;
  cursor_offset_ = 0;
  in_flight_ = 0;
  progress_at_ = rewound_at_ = now;
}

Time Session::due() const {
  Time at = never;
  if (answer_ != 0 || (connected() && acknowledge_)) return 0;
  if ((probe_ || !connected()) && used()) at = std::min(at, hello_at_);
  if (!connected()) return at;
  if (cursor_ <= sent_ && in_flight_ < limits_.window) return 0;
  if (cursor_ > peer_have_ + 1 || cursor_offset_ > 0)
    at = std::min(at, progress_at_ + limits_.resend);
  return used() ? std::min(at, say_at()) : at;
}

Time Session::say_at() const {
  const Time idle = said_at_ + limits_.idle;
  return unsaid_bytes_ > 0 ? std::min(idle, unsaid_since_ + limits_.acknowledge) : idle;
}

void Session::take(Message m, Time now) {
  if (m.network != network_ && !planted(Bug::any_epoch)) return;
  if (m.sequence > most_frames) return;
  if (m.type == MessageType::hello) {
    answer_ = m.nonce;
    if (m.from != peer_boot_ && !probe_ && !planted(Bug::no_probe)) {  // it was started again
      probe_ = true;
      hello_at_ = now;
    }
    return;
  }
  if (m.type == MessageType::welcome) return welcome(m, now);
  if (m.from != peer_boot_ || m.to != boot_) {
    if (m.from != peer_boot_ && !probe_ && !planted(Bug::no_probe)) {
      probe_ = true;
      hello_at_ = now;
    }
    return;
  }
  if (m.type == MessageType::data) return piece(std::move(m), now);
  if (m.type == MessageType::done) peer_done_ = true;
  acknowledged(m, now);
}

// The answer to the last hello. Only a process that lives can give it, so a boot that was replaced
// and answers again is a second process of that site.
void Session::welcome(const Message& m, Time now) {
  if ((nonce_ == 0 || m.nonce != nonce_ || m.from == 0) && !planted(Bug::any_nonce)) return;
  nonce_ = 0;
  probe_ = false;
  if (m.from == peer_boot_) return acknowledged(m, now);
  if (earlier_boots_.contains(m.from)) refuse("two processes run as this site");
  if (peer_boot_ != 0) earlier_boots_.insert(peer_boot_);
  // It may have confirmed more than this process has made again, and thrown away, so far.
  if (m.sequence < std::max(trimmed_, peer_safe_))
    refuse("it lost frames that it had confirmed: an old copy of its folder, or a lost disk");
  peer_boot_ = m.from;
  peer_done_ = false;
  peer_have_ = m.sequence;
  peer_chain_ = m.chain;
  peer_safe_ = std::max(peer_safe_, m.safe);
  partial_.clear();
  if (!planted(Bug::keep_cursor)) rewind(now);
  compare_chain();
  trim();
  acknowledge_ = true;
}

void Session::acknowledged(const Message& m, Time now) {
  if (m.sequence > peer_have_) {
    for (std::uint64_t s = std::max(peer_have_, trimmed_) + 1; s <= std::min(m.sequence, sent_);
         ++s)
      if (s < cursor_) in_flight_ -= std::min(in_flight_, weight(outbox_[s - trimmed_ - 1]));
    peer_have_ = m.sequence;
    peer_chain_ = m.chain;
    progress_at_ = now;
    if (cursor_ <= peer_have_) {
      cursor_ = peer_have_ + 1;
      cursor_offset_ = 0;
    }
    compare_chain();
  } else if (m.gap && !planted(Bug::never_resend) && m.sequence == peer_have_ &&
             cursor_ > peer_have_ + 1 && now >= rewound_at_ + rewind_pause) {
    rewind(now);
  }
  peer_safe_ = std::max(peer_safe_, m.safe);
  trim();
}

// The peer is told what came at once when it seems not to know, and else after some frames: an
// answer to each would double the messages of a lockstep.
void Session::piece(Message m, Time now) {
  if (m.sequence <= have_ && !planted(Bug::take_twice)) {  // it came before
    acknowledge_ = true;
    return;
  }
  if (m.length > limits_.frame)
    refuse("a frame of " + std::to_string(m.length) + " bytes; allowed are " +
           std::to_string(limits_.frame));
  if ((m.sequence > have_ + 1 && !planted(Bug::skip_gaps)) ||
      (m.offset > partial_.size() && !planted(Bug::any_offset))) {
    gap_ = acknowledge_ = true;
    return;
  }
  if (m.offset < partial_.size() && !planted(Bug::any_offset)) {
    acknowledge_ = true;
    return;
  }
  // The neighbour sends it again. A frame may always wait alone.
  if (unread_bytes_ > 0 && unread_bytes_ + weight(m.length) > limits_.unread) return;
  partial_.insert(partial_.end(), m.body.begin(), m.body.end());
  if (partial_.size() < m.length) return;
  if (partial_.size() > m.length) refuse("the pieces of a frame do not fit together");
  const bool in_one_piece = m.body.size() == partial_.size();  // its hash is known already
  const std::uint64_t chain =
      next_chain(have_chain_, m.channel, in_one_piece ? m.body.hash() : hash_row(partial_));
  if (chain != m.chain && !planted(Bug::skip_gaps) && !planted(Bug::take_twice) &&
      !planted(Bug::any_offset))
    refuse(
        "its frames differ from those that it sent before: another processor, changed data, or an "
        "old copy of its folder");
  ++have_;
  have_chain_ = chain;
  received_.push_back({chain, partial_.size()});
  unsafe_bytes_ += partial_.size();
  if (unsaid_bytes_ == 0) unsaid_since_ = now;
  unsaid_bytes_ += partial_.size() + message_header_bytes;
  if (unsaid_bytes_ >= limits_.window / 8) acknowledge_ = true;
  unread_bytes_ += weight(partial_.size());
  inbox_[planted(Bug::mix_channels) ? 0 : m.channel].push_back(
      {have_, std::exchange(partial_, {})});
}

}  // namespace ticopd
