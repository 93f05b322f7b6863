#pragma once

#include <cstdint>
#include <memory>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"
#include "ticopd/network/channel_noise.hpp"

namespace ticopd::cuda {

// A row on its way: whose, where its surrogate lies, and the name its noise is drawn by.
struct Message {
  std::uint32_t row, slot, agent, channel;
};

// What was sent from one slot, counted where the codec made it.
struct Counters {
  unsigned long long messages, bytes;
  double paper_bits;
  unsigned long long saturated;
};

// The first message that could not be encoded, because it was not finite or beyond the codec.
struct Trouble {
  std::uint32_t any, agent, round, channel;
};

// What all messages of one exchange have in common. Of each message m:
//   q = DEC(ENC(v - h)), or of v where `raw`, plus the noise of the channel,
//   sent = q, estimate = h + q (q where `raw`), h += gain q (h = q where `raw`);
// a lossless codec carries v, which is estimate and, with gain 1, h; sent = v - h.
struct Exchange {
  Rows v;                       // by agent
  Rows h, estimate, sent;       // by slot; the last two may be null
  const Message* messages;      // on the device, `count` of them
  const std::uint8_t* skipped;  // null, or by message: 1 where nothing travels (q = 0)
  Counters* counters;           // by slot
  Trouble* trouble;
  std::uint64_t seed;
  std::uint64_t d;
  double noise_scale;
  std::uint32_t count;
  float gain;
  std::uint32_t raw;         // h = Q(v) instead of h += gain Q(v - h)
  std::uint32_t noise_kind;  // ChannelNoise::Kind
  double flag_bits;          // paper bits that say whether there is a message at all
  // By agent, or null: the sums of (v - h)^2 over blocks of 128 coordinates, where somebody left
  // them already (DeviceCodec::wants_squares).
  const double* squares;
  std::uint64_t squares_stride;
};

// Q on the device: the same bytes as the CPU's codec makes of the same row (docs/wire_format.md).
class DeviceCodec {
 public:
  virtual ~DeviceCodec() = default;
  // Records the exchange: encodes, counts, and moves surrogates. Every mirror has a codec of its
  // own.
  virtual void exchange(Queue& queue, const Exchange& exchange) = 0;
  // Whether it would use Exchange::squares.
  virtual bool wants_squares() const { return false; }
  // The payload that message m had in the last exchange, where the codec really makes one; for
  // tests.
  virtual Bytes payload(std::size_t message) const = 0;
};

// For at most `messages` messages of d coordinates. Null: the device has no such codec, and the
// exchange goes through the host.
std::unique_ptr<DeviceCodec> make_device_codec(const CodecOptions& options, std::size_t d,
                                               std::size_t messages);

}  // namespace ticopd::cuda
