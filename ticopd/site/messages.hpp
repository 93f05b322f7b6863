#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ticopd/bytes.hpp"

namespace ticopd {

// What two sites say to each other (docs/wire_format.md, "Between sites").
enum class MessageType : std::uint8_t {
  hello = 1,    // who are you? `nonce`
  welcome = 2,  // the answer: `nonce` again, and what the answering site has
  data = 3,     // a piece of a frame
  have = 4,     // what this site has
  done = 5,     // as have; and this site has heard that all it sent is safe
};

struct Message {
  MessageType type = MessageType::hello;
  std::uint64_t network = 0;  // which run this is about: sites of other runs are strangers
  std::uint64_t from = 0;     // boot of the sender
  std::uint64_t to = 0;       // boot of the receiver; 0 in a hello, and in its answer
  std::uint64_t nonce = 0;    // hello, welcome
  // welcome, have, done: the last frame received, the last that is safe, and the chain over all
  // frames up to the last received. data: the frame's number, `offset` of the piece, and the chain.
  std::uint64_t sequence = 0, safe = 0, chain = 0;
  std::uint64_t offset = 0, length = 0;  // data: of the piece in the frame, and of the frame
  std::uint32_t channel = 0;             // data
  bool gap = false;                      // have: a later frame came than the next
  Bytes body = {};                       // data

  bool operator==(const Message&) const = default;
};

inline constexpr std::size_t piece_bytes = 256 << 10;  // of a frame in one message, at most
inline constexpr std::size_t message_header_bytes = 96;

Bytes encode(const Message& message);

// Empty unless `bytes` is one whole undamaged message of this version. Never throws; allocates no
// more than the length of `bytes`.
std::optional<Message> decode_message(std::span<const std::byte> bytes);

}  // namespace ticopd
