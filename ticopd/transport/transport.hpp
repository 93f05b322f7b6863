#pragma once

#include <cstdint>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/error.hpp"

namespace ticopd {

// Mirrors use channels 0, 1, ...; the run loop has its own above them, kept out of the ledger.
enum Channel : std::uint32_t {
  channel_control = 0xff00,
  channel_metrics,
  channel_metrics_scalars,
  channel_digest,
  channel_checkpoint,
};

// Ordered byte strings between ranks. A rank hosts a block of agents.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Never waits for the peer. Frames to one peer on one channel arrive in the order sent.
  virtual void send(int to, std::uint32_t channel, Bytes frame) = 0;

  // Waits; throws Interrupted, naming the rank, when the peer is gone or the deadline has passed.
  virtual Bytes receive(int from, std::uint32_t channel) = 0;
};

// All agents in this process.
class Alone final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void send(int, std::uint32_t, Bytes) override { throw std::logic_error("Alone has no peers"); }
  Bytes receive(int, std::uint32_t) override { throw std::logic_error("Alone has no peers"); }
};

}  // namespace ticopd
