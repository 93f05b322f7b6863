#pragma once

#include <cstddef>
#include <cstdint>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/network/mirror.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd::cuda {

// The fields and mirrors that a run keeps on the device.
struct Footprint {
  std::size_t fields = 0;      // one row per agent
  std::size_t surrogates = 0;  // fields of mirrors: one row per agent, or per link
  std::size_t coded = 0;       // mirrors whose rows go through the codec

  // Fields and surrogates, as AnyNetwork::state_bytes counts them. `links` counts both directions
  // if links come and go; else it is 0.
  std::size_t state_bytes(std::size_t agents, std::size_t links, std::size_t d) const;
  // The most that its mirrors' codecs need besides.
  std::size_t codec_bytes(std::size_t agents, std::size_t links, std::size_t d,
                          const CodecOptions& codec) const;
};

// A network without memory. It counts what an algorithm asks for when its run is made.
class CountingNetwork {
 public:
  using Scalar = float;
  struct Field {};
  struct Matrix {};
  struct Operand {};

  class Mirror {
   public:
    Mirror(CountingNetwork& net, Matrix, std::uint16_t, MirrorOptions options = {}) {
      if (!options.dense) ++net.counted_.coded;
      net.counted_.surrogates += 1u + options.estimate + options.sent;
    }
    void start_at_common(const Field&) {}
    void start_at(const Field&) {}
    void send(const Field&, float = 1) {}
    void send_raw(const Field&) {}
    void send_moved(const Field&, float, float = 1) {}
    void receive() {}
    const Field& own() const { return rows_; }
    const Field& estimate() const { return rows_; }
    const Field& sent() const { return rows_; }
    Operand mixed() const { return {}; }
    Operand mixed_estimate() const { return {}; }

   private:
    Field rows_;
  };

  Field field() {
    ++counted_.fields;
    return {};
  }
  Field start() { return field(); }
  std::uint32_t round() const { return 0; }
  void gradient(const Field&, Field&) {}
  void full_gradient(const Field&, Field&) {}
  template <class... A>
  void map(const A&...) {}
  Matrix laplacian() const { return {}; }
  Matrix w_minus_i() const { return {}; }
  Matrix w_neighbours() const { return {}; }
  Matrix to_centre() const { return {}; }
  Matrix from_centre() const { return {}; }
  Operand self_weight() const { return {}; }
  Operand degree() const { return {}; }

  const Footprint& counted() const { return counted_; }

 private:
  Footprint counted_;
};

static_assert(Network<CountingNetwork>);

template <class Algorithm>
Footprint footprint_of(const Algorithm& params) {
  CountingNetwork net;
  [[maybe_unused]] const typename Algorithm::template Run<CountingNetwork> run(params, net);
  return net.counted();
}

}  // namespace ticopd::cuda
