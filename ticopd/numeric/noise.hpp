#pragma once

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace ticopd {

// The purpose of a draw. Mirrors use their channel number (0, 1, ...); every other use of random
// numbers has a stream of its own above them, so two purposes never share a draw.
enum Stream : std::uint32_t {
  stream_init = 0xffff0000u,
  stream_batch,
  stream_graph,
  stream_partition,
  stream_synthetic,
  stream_links,                  // which edges are active
  stream_metric_samples,         // which samples metrics look at,
  stream_metric_agents,          // and which agents' models
  stream_subset = 0x80000000u,   // or-ed with the channel: the subset of rand_k
  stream_coin = 0x40000000u,     // or-ed with the channel: whether random_gossip sends
  stream_channel = 0x20000000u,  // or-ed with the channel: what a noisy channel adds
};

// The identity of a message: who sent it, when, and on which channel. Both ends know it, so both
// draw the same noise for the message.
struct MessageId {
  std::uint64_t seed = 0;
  std::uint32_t round = 0;
  std::uint32_t agent = 0;
  std::uint32_t channel = 0;  // a mirror's, or a Stream
};

// The random numbers that belong to an id: a pure function of (seed, agent, channel, round,
// coordinate), by Philox4x32-10, a counter-based generator. Nothing is stored, so any process or
// GPU thread can draw any coordinate at any time, and a resumed or distributed run draws the same
// numbers. The layout is frozen in docs/wire_format.md.
struct Noise : MessageId {
  using Block = std::array<std::uint32_t, 4>;

  // The four draws of coordinates 4 index ... 4 index + 3.
  Block block(std::uint32_t index) const {
    const r123::Philox4x32::ctr_type counter{{index, round, agent, channel}};
    const r123::Philox4x32::key_type key{
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    const auto r = r123::Philox4x32{}(counter, key);
    return {r[0], r[1], r[2], r[3]};
  }

  static constexpr float to_uniform(std::uint32_t bits) {
    return static_cast<float>(bits >> 8) * 0x1p-24f;
  }

  // Uniform on [0, 1), 24 bits, the same in float and double runs.
  float uniform(std::size_t k) const {
    return to_uniform(block(static_cast<std::uint32_t>(k / 4))[k % 4]);
  }
};

// The same noise read in order, for generating graphs, splits and synthetic data.
class Generator {
 public:
  explicit Generator(Noise noise) : noise_(noise) {}

  std::uint32_t bits() {
    if (at_ == 4) {
      block_ = noise_.block(index_++);
      at_ = 0;
    }
    return block_[at_++];
  }

  // Uniform on [0, 1), 53 bits.
  double uniform() {
    const std::uint64_t high = bits();
    const std::uint64_t low = bits();
    return static_cast<double>(((high << 32) | low) >> 11) * 0x1p-53;
  }

  // Uniform on 0 ... n - 1 (n > 0). The product's bias is below n / 2^53: nothing here can see it.
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(n));
  }

  double normal() {  // Box-Muller; one of the pair is enough
    const double u = 1.0 - uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  Noise noise_;
  Noise::Block block_{};
  std::uint32_t index_ = 0;
  std::size_t at_ = 4;
};

}  // namespace ticopd
