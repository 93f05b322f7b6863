#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ticopd/bytes.hpp"
#include "ticopd/site/shared_bytes.hpp"

namespace ticopd {

// What two sites say to each other (docs/wire_format.md, "Between sites").
enum class MessageType : std::uint8_t {
  hello = 1,    // who are you? `nonce`
  welcome = 2,  // the answer: `nonce` again, and what the answering site has
  data = 3,     // a piece of a frame
  have = 4,     // what this site has
  done = 5,     // as have; and this site has heard that all it sent is safe
  ended = 6,    // the run has diverged; the body says where
  roster = 7,   // the body is the sender's roster and its signature
  differs = 8,  // the answer to a message that does not fit: see what this site has
};

// The versions of this protocol, and of the frames in it. They stand where every version has them.
struct Versions {
  std::uint8_t protocol = 0, frames = 0;
  bool operator==(const Versions&) const = default;
};
extern const Versions own_versions;

// What a message says of its sender's roster.
struct RosterMark {
  std::uint64_t owner = 0;  // the operator and the run's name: sites of other owners are strangers
  std::uint64_t bytes = 0;  // a hash over the whole roster
  std::uint32_t version = 1, epoch = 1;
  bool operator==(const RosterMark&) const = default;
};

struct Message {
  MessageType type = MessageType::hello;
  std::uint64_t network = 0;  // which run this is about, and in which epoch
  RosterMark roster = {};
  std::uint64_t from = 0;   // boot of the sender
  std::uint64_t to = 0;     // boot of the receiver; 0 in a hello, and in its answer
  std::uint64_t nonce = 0;  // hello, welcome
  // welcome, have, done: the last frame received, the last that is safe, and the chain over all
  // frames up to the last received. data: the frame's number, `offset` of the piece, and the chain.
  std::uint64_t sequence = 0, safe = 0, chain = 0;
  std::uint64_t offset = 0, length = 0;  // data: of the piece in the frame, and of the frame
  std::uint32_t channel = 0;             // data
  bool gap = false;                      // have: a later frame came than the next
  SharedBytes body = {};                 // data, ended, roster

  bool operator==(const Message&) const = default;
};

inline constexpr std::size_t piece_bytes = 256 << 10;  // of a frame in one message, at most
inline constexpr std::size_t most_reason_bytes = 512;  // of the text of `ended`
inline constexpr std::size_t message_header_bytes = 120;

Bytes encode(const Message& message);

// The versions of the sender; empty for bytes that no version of this protocol would send.
std::optional<Versions> versions_of(std::span<const std::byte> bytes);

// Empty unless `bytes` is one whole undamaged message of our versions, whose body then is a part of
// them. Never throws.
std::optional<Message> decode_message(const SharedBytes& bytes);

}  // namespace ticopd
