#pragma once

#include <cstdint>
#include <memory>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"
#include "ticopd/network/channel_noise.hpp"

namespace ticopd::cuda {

// A message: its row, the slot of its surrogate, and the agent and channel that its noise is drawn
// by.
struct Message {
  std::uint32_t row, slot, agent, channel;
};

// The counts of one slot's messages, made where the codec encodes them.
struct Counters {
  unsigned long long messages, bytes;
  double paper_bits;
  unsigned long long saturated;
};

// The first message that could not be encoded: it was not finite, or outside the codec's range.
struct Trouble {
  std::uint32_t any, agent, round, channel;
};

// The arguments that all messages of one exchange share. For each message:
//   q = DEC(ENC(v - h)), or of v if `raw`, plus the noise of the channel,
//   sent = q, estimate = h + q (q if `raw`), h += gain q (h = q if `raw`).
// A lossless codec carries v: estimate = v, h = v if the gain is 1, sent = v - h.
struct Exchange {
  Rows v;                       // by agent
  Rows h, estimate, sent;       // by slot; the last two may be null
  const Message* messages;      // on the device, `count` of them
  const std::uint8_t* skipped;  // null, or by message: 1 if nothing is sent (q = 0)
  Counters* counters;           // by slot
  Trouble* trouble;
  std::uint64_t seed;
  std::uint64_t d;
  double noise_scale;
  std::uint32_t count;
  float gain;
  std::uint32_t raw;         // h = Q(v) instead of h += gain Q(v - h)
  std::uint32_t noise_kind;  // ChannelNoise::Kind
  double flag_bits;          // paper bits of the flag that says if there is a message
  // By agent, or null: the sums of (v - h)^2 over blocks of 128 coordinates, if the kernel that
  // wrote v left them (DeviceCodec::wants_squares).
  const double* squares;
  std::uint64_t squares_stride;
};

// Q on the device. It makes the same bytes of a row as the CPU's codec (docs/wire_format.md).
class DeviceCodec {
 public:
  virtual ~DeviceCodec() = default;
  // Records the exchange: encodes, counts, and moves surrogates. Every mirror has a codec of its
  // own.
  virtual void exchange(Queue& queue, const Exchange& exchange) = 0;
  // True if it would use Exchange::squares.
  virtual bool wants_squares() const { return false; }
  // The payload of message m in the last exchange, if the codec really makes one; for tests.
  virtual Bytes payload(std::size_t message) const = 0;
};

// Makes a codec for at most `messages` messages of d coordinates. Returns null if the device has no
// such codec; the exchange then goes through the host.
std::unique_ptr<DeviceCodec> make_device_codec(const CodecOptions& options, std::size_t d,
                                               std::size_t messages);

}  // namespace ticopd::cuda
