#pragma once

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/vector_loops.hpp"

namespace ticopd {

// Random rounding to s + 1 levels of the norm:
//   Q(v)_k = sign(v_k) ||v|| / (s tau) floor(s |v_k| / ||v|| + u_k),  s = 2^bits - 1,
// with tau = 1 + min(d / s^2, sqrt(d) / s) where scaled (it then contracts), else 1 (unbiased).
// D. Alistarh, D. Grubic, J. Li, R. Tomioka, M. Vojnovic, "QSGD", 2017; tau from A. Koloskova,
// S. Stich, M. Jaggi, "Decentralized Stochastic Optimization and Gossip Algorithms with Compressed
// Communication", 2019.
//
// Payload: the norms (fp32, one per bucket), a plane of levels (`bits` bits each), a plane of
// signs. The order of operations is frozen (docs/wire_format.md): whatever `Loops` it runs on, and
// GPU code as well, make these bytes.
template <class T, class Loops = BestLoops<T>>
class Qsgd final : public Codec<T> {
 public:
  using typename Codec<T>::Use;

  // The largest norm that travels: level times unit, rounded, then still fits in a float.
  static constexpr float largest_norm = 0x1p127f;

  explicit Qsgd(const CodecOptions& options);  // ConfigError unless bits is 1 ... 16

  bool encode(std::span<const T> v, const Noise& message, Bytes& out) const override;
  bool decode(std::span<const std::byte> in, const Noise& message, std::span<T> q) const override;
  bool encode_difference(std::span<const T> x, std::span<const T> h, const Noise& message,
                         Bytes& out, const Use& sent) const override;
  bool decode_stretches(std::span<const std::byte> in, const Noise& message, std::size_t d,
                        const Use& use) const override;

  std::size_t payload_bytes(std::size_t d) const override;
  double paper_bits(std::size_t d) const override;
  ErrorBound error_bound(std::size_t d) const override;

 private:
  struct Layout;  // of a row of d coordinates

  // A row is one sweep for the norms, then one over stretches.
  bool encode_norms(const Layout& row, Source<T> v, Bytes& out) const;
  void encode_stretch(const Layout& row, Source<T> v, const Noise& message, std::size_t first,
                      std::size_t count, std::span<std::byte> out) const;
  bool is_payload(const Layout& row, std::span<const std::byte> in) const;
  void decode_stretch(const Layout& row, std::span<const std::byte> in, std::size_t first,
                      std::span<T> q) const;

  // The variance bound of one bucket: E||Q(v) - v||^2 <= omega ||v||^2 without tau.
  double omega(std::size_t length) const;

  unsigned bits_;
  std::uint32_t s_;
  bool scaled_;
  std::size_t bucket_;
};

extern template class Qsgd<float>;
extern template class Qsgd<double>;
extern template class Qsgd<float, ScalarLoops<float>>;  // what tests compare the vectors with

}  // namespace ticopd
