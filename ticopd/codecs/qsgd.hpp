#pragma once

#include <algorithm>
#include <cmath>

#include "ticopd/codecs/buckets.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/vector_loops.hpp"

namespace ticopd {

// The norm by which Qsgd divides a bucket, and its number of levels.
struct EuclideanNorm {
  static constexpr CodecAbout about{
      .name = "qsgd",
      .options = {"bits", "bucket", "scaled", "coding"},
      .summary = "random rounding to 2^bits levels of the norm, and a sign",
      .may_follow = true,
      .unbiased_with = "scaled = false"};

  static constexpr std::uint32_t top_level(unsigned bits) { return (1u << bits) - 1; }
  static constexpr bool can_scale = true, sums_squares = true;

  template <class T>
  using Measure = SumOfSquares;
  template <class Loops, class T>
  static double measured(Source<T> v) {
    return Loops::sum_of_squares(v);
  }
  template <class Real>
  static constexpr double scale(Real sum, std::size_t) {
    return std::sqrt(sum);
  }

  // The variance of n coordinates: E||Q(v) - v||^2 <= omega ||v||^2 without tau.
  template <class Real>
  static constexpr Real omega(Real n, Real s) {
    return std::min(n / (s * s), std::sqrt(n) / s);
  }

  // The bits that the papers count for one level.
  static double paper_bits(double s) { return std::log2(s); }
};

// Random rounding to s + 1 levels of the norm:
//   Q(v)_k = sign(v_k) ||v|| / (s tau) floor(s |v_k| / ||v|| + u_k),  s = 2^bits - 1,
// with tau = 1 + min(d / s^2, sqrt(d) / s) where scaled (it then contracts), else 1 (unbiased).
// D. Alistarh, D. Grubic, J. Li, R. Tomioka, M. Vojnovic, "QSGD", 2017; tau from A. Koloskova,
// S. Stich, M. Jaggi, "Decentralized Stochastic Optimization and Gossip Algorithms with Compressed
// Communication", 2019.
//
// Payload: the norms (fp32, one per bucket), a plane of levels (`bits` bits each), a plane of
// signs. With other codings: the norms, then levels and signs in that coding (levels.hpp). The
// order of operations is frozen (docs/wire_format.md): every `Loops` and the GPU code produce these
// bytes.
//
// `Norm` may be another norm than ||v||: infinity.hpp uses the largest magnitude.
template <class T, class Loops = BestLoops<T>, class Norm = EuclideanNorm>
class Qsgd final : public Codec<T> {
 public:
  static constexpr CodecAbout about = Norm::about;
  using typename Codec<T>::Use;

  explicit Qsgd(const CodecOptions& options);

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override;
  bool encode_into(std::span<const T> v, const MessageId& message,
                   std::span<std::byte> out) const override;
  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<T> q) const override;
  bool encode_difference(std::span<const T> x, std::span<const T> h, const MessageId& message,
                         Bytes& out, const Use& sent) const override;
  bool decode_in_chunks(std::span<const std::byte> in, const MessageId& message, std::size_t d,
                        const Use& use) const override;

  std::size_t payload_bytes(std::size_t d) const override;
  bool fixed_length() const override { return coding_ == Coding::fixed; }
  double paper_bits(std::size_t d) const override {
    const double norms = static_cast<double>(Buckets(d, bucket_).count);
    const double n = static_cast<double>(d);
    return n * Norm::paper_bits(static_cast<double>(s_)) + n + 32.0 * norms;
  }

  // The largest bucket has the largest omega, hence the worst bound.
  ErrorBound error_bound(std::size_t d) const override {
    const double worst = omega(Buckets(d, bucket_).length_of(0));
    if (scaled_) return {.relative = 1.0 - 1.0 / (1.0 + worst)};
    return {.relative = worst, .unbiased = true};
  }

 private:
  struct Payload;  // of a row of d coordinates

  // One sweep over the row computes the norms, a second one, in stretches, the levels. `out` and
  // `in` begin with the norms.
  bool encode_norms(const Payload& row, Source<T> v, std::span<std::byte> out) const;
  bool norms_are_right(const Payload& row, std::span<const std::byte> in) const;
  template <class Level>
  void quantise(const Payload& row, Source<T> v, const MessageId& message, std::size_t first,
                std::size_t count, std::span<const std::byte> norms, Level* levels) const;
  template <class Level>
  void dequantise(const Payload& row, std::span<const std::byte> norms, const Level* levels,
                  const std::byte* signs, std::size_t first, std::span<T> q) const;

  // Planes of fixed width are written and read stretch by stretch.
  void encode_stretch(const Payload& row, Source<T> v, const MessageId& message, std::size_t first,
                      std::size_t count, std::span<std::byte> out) const;
  bool is_payload(const Payload& row, std::span<const std::byte> in) const;
  bool levels_are_right(const Payload& row, std::span<const std::byte> in) const;
  void decode_stretch(const Payload& row, std::span<const std::byte> in, std::size_t first,
                      std::span<T> q) const;

  // Other codings need the levels of the whole row. `sent` may be empty.
  template <class Level>
  bool encode_coded(Source<T> v, const MessageId& message, Bytes& out, const Use& sent) const;
  template <class Level>
  bool decode_coded(std::span<const std::byte> in, std::size_t d, const Use& use) const;

  double omega(std::size_t length) const {
    return Norm::omega(static_cast<double>(length), static_cast<double>(s_));
  }

  unsigned bits_;
  std::uint32_t s_;
  bool scaled_;
  std::size_t bucket_;
  Coding coding_;
};

extern template class Qsgd<float>;
extern template class Qsgd<double>;
extern template class Qsgd<float, ScalarLoops<float>>;  // the reference of the vector tests

}  // namespace ticopd
