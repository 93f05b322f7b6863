#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ticopd/bytes.hpp"
#include "ticopd/site/messages.hpp"
#include "ticopd/site/shared_bytes.hpp"
#include "ticopd/site/world.hpp"

namespace ticopd {

// The numbers of a session that have defaults.
struct SessionLimits {
  std::size_t piece = piece_bytes;     // of a frame in one message, at most
  std::size_t window = 8 << 20;        // bytes on their way to a peer, at most
  std::size_t frame = 2147483647;      // bytes of a frame, at most
  std::size_t unread = 1ull << 32;     // bytes that came and were not popped; more is not taken
  Time hello = one_second / 2;         // between two hellos that nobody answers
  Time idle = one_second;              // between two `have` when nothing else is said
  Time resend = one_second;            // without progress: send again
  Time acknowledge = one_second / 10;  // after a frame came, at the latest
};

// More than any stream has. Numbers behind it are refused before they are added to.
inline constexpr std::uint64_t most_frames = std::uint64_t{1} << 62;

// A frame that the peer has not yet said to be safe.
struct SentFrame {
  std::uint32_t channel = 0;
  SharedBytes frame;        // the checkpoint that is being written has it, too
  std::uint64_t chain = 0;  // over all frames up to this one
};

// What a checkpoint keeps of a session.
struct SessionRecord {
  std::uint64_t consumed = 0, consumed_chain = 0;
  std::uint64_t sent = 0, sent_chain = 0;
  std::uint64_t trimmed = 0, trimmed_chain = 0;
  std::deque<SentFrame> outbox = {};  // trimmed + 1 ... sent
};

// The two streams of frames between this site and one neighbour, numbered from 1 each. A frame is
// kept until the neighbour has it in a checkpoint that it will not go back behind. So a process may
// die at any moment: it begins at a checkpoint, asks for the frames after it, and makes again what
// it sent since. A chain of hashes over each stream shows when what it makes differs.
//
// A state machine without I/O and without a clock: the caller brings messages and the time, and
// takes the messages that are due.
class Session {
 public:
  // `boot` is random and other at every start of a process. `network` names the run.
  Session(std::string peer, std::uint64_t network, std::uint64_t boot, SessionLimits limits = {},
          SessionRecord record = {});

  // The stream that goes out.
  void push(std::uint32_t channel, Bytes frame);
  // The streams that come in, one for each channel. Empty: no such frame is here yet.
  std::optional<Bytes> pop(std::uint32_t channel);

  // A message came. FormatError for a neighbour that cannot be the one of this session: it went
  // back behind what it had confirmed, makes other frames than before, or is there twice.
  void take(Message message, Time now);
  // The next message that is due, if there is one.
  std::optional<Message> next(Time now);
  Time due() const;  // when `next` may have another, if nothing else happens

  // All that was sent up to now, for a checkpoint. Every frame of the rounds up to it must have
  // been popped, so that what was popped is the beginning of the stream.
  SessionRecord record() const;
  // The frames up to here will not be asked for again: they are in a checkpoint that stays.
  void make_safe(std::uint64_t consumed);

  std::uint64_t consumed() const { return consumed_; }
  std::size_t unsafe_bytes() const {
    return unsafe_bytes_;
  }  // of frames that came and are not safe
  std::size_t unread_bytes() const { return unread_bytes_; }  // of frames to be popped
  bool connected() const { return peer_boot_ != 0; }
  bool confirmed() const { return peer_safe_ >= sent_; }  // the peer needs nothing more
  bool peer_done() const { return peer_done_; }
  void say_done();  // the next messages tell the peer that all that was sent to it is safe
  bool used() const { return used_ || sent_ > 0 || have_ > 0; }
  void use() { used_ = true; }  // frames will come from there

  std::uint64_t resent_bytes() const { return resent_bytes_; }
  const std::string& peer() const { return peer_; }

 private:
  Message blank(MessageType type) const;
  Message state(MessageType type) const;
  std::optional<Message> next_piece(Time now);
  void welcome(const Message& m, Time now);
  void piece(Message m, Time now);
  void acknowledged(const Message& m, Time now);
  void rewind(Time now);
  Time say_at() const;  // what came, at the latest
  void trim();
  void compare_chain();
  std::uint64_t chain_at(std::uint64_t sequence) const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::string peer_;
  std::uint64_t network_, boot_;
  SessionLimits limits_;
  bool used_ = false;

  // Who is there.
  std::uint64_t peer_boot_ = 0;
  std::set<std::uint64_t> earlier_boots_;
  std::uint64_t hellos_ = 0;
  std::uint64_t nonce_ = 0;   // of the hello that waits for an answer; 0: none
  Time hello_at_ = 0;         // when the next one is due
  bool probe_ = true;         // say hello
  std::uint64_t answer_ = 0;  // the nonce of a hello to be answered; 0: none

  // Out.
  std::uint64_t sent_, sent_chain_, trimmed_, trimmed_chain_;
  std::deque<SentFrame> outbox_;
  std::uint64_t cursor_ = 1, cursor_offset_ = 0;  // the next piece to go
  std::uint64_t reached_ = 0;                     // the furthest frame that was on its way
  std::uint64_t peer_have_ = 0, peer_safe_ = 0, peer_chain_ = 0;
  std::size_t in_flight_ = 0;  // bytes of frames after peer_have_ that were sent, with headers
  Time progress_at_ = 0, rewound_at_ = 0;
  std::uint64_t resent_bytes_ = 0;
  bool done_ = false, peer_done_ = false;

  // In.
  std::uint64_t have_, have_chain_;
  std::uint64_t base_chain_;  // up to the frame before the first of received_
  std::uint64_t consumed_, safe_ = 0;
  struct Received {
    std::uint64_t chain;
    std::size_t bytes;
  };
  std::deque<Received> received_;  // the frames up to have_ that are not safe
  struct Kept {
    std::uint64_t sequence;
    Bytes frame;
  };
  std::map<std::uint32_t, std::deque<Kept>> inbox_;
  Bytes partial_;
  std::size_t unsafe_bytes_ = 0, unread_bytes_ = 0;
  bool acknowledge_ = false, gap_ = false;
  std::size_t unsaid_bytes_ = 0;  // of frames that came since the peer was told
  Time unsaid_since_ = 0, said_at_ = 0;
};

}  // namespace ticopd
