#pragma once

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// Random rounding to points that lie farther apart the larger they are,
//   q_l = sign(l) (step / omega) (r^|l| - 1),  r = (omega + sqrt(1 + omega^2))^2,
// so that sqrt(E|Q(x) - x|^2) <= omega |x| + step for each coordinate. omega = 0 is the limit:
// points 2 step apart. Unbiased. No norm is sent, and small coordinates need few digits.
// N. Michelusi, G. Scutari, C.-S. Lee, "Finite-Bit Quantization for Distributed Algorithms With
// Linear Convergence", 2022. Written without the paper's text: the points follow from the
// inequality, which is derived at error_bound (docs/limitations.md).
//
// Payload: the level of each coordinate in digits {0, 1, stop}. A level of b bits, |l| from 2^(b-1)
// to 2^b - 1, has b digits (the sign, then the bits below the leading one), level 0 has none; then
// comes the stop. A byte holds five digits (ternary.hpp). Other codings: the levels by levels.hpp.
// Levels end at 65535 and points at 2^127: a row beyond is rejected.
template <class T>
class Adaptive final : public Codec<T> {
 public:
  static constexpr CodecAbout about{
      .name = "adaptive",
      .options = {"omega", "step", "coding"},
      .summary = "random rounding to points apart by omega |x| + step, in ternary digits"};

  explicit Adaptive(const CodecOptions& options);

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override;
  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<T> q) const override;

  std::size_t payload_bytes(std::size_t d) const override;
  bool fixed_length() const override { return false; }

  // log2(3) per digit, stops included: the maximum, and the count of one message.
  double paper_bits(std::size_t d) const override;
  double paper_bits_of(std::span<const std::byte> in, std::size_t d) const override;
  ErrorBound error_bound(std::size_t d) const override;

 private:
  std::uint32_t level_of(double magnitude, std::uint32_t word) const;
  [[nodiscard]] bool take(std::span<const std::byte> in, std::span<std::uint16_t> levels,
                          std::span<std::byte> signs) const;
  std::uint32_t top() const { return static_cast<std::uint32_t>(points_.size() - 1); }

  double omega_, step_;
  Coding coding_;
  std::vector<double> points_;         // q_0, q_1, ...
  std::vector<std::uint32_t> starts_;  // by exponent e: the last point not above 2^e
};

extern template class Adaptive<float>;
extern template class Adaptive<double>;

}  // namespace ticopd
