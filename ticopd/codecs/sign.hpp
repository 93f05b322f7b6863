#pragma once

#include <cmath>
#include <limits>

#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/network/sum.hpp"

namespace ticopd {

// Q(v) = (||v||_1 / d) sign(v), with sign(0) = +. Payload: the scale (fp32), then a plane of signs.
// S. P. Karimireddy, Q. Rebjock, S. Stich, M. Jaggi, "Error Feedback Fixes SignSGD and other
// Gradient Compression Schemes", 2019.
template <class T>
class Sign final : public Codec<T> {
 public:
  explicit Sign(const CodecOptions&) {}

  bool encode(std::span<const T> v, const Noise&, Bytes& out) const override {
    const std::size_t d = v.size();
    const double sum =
        tree_sum(d, [v](std::size_t k) { return static_cast<double>(std::abs(v[k])); });
    const double mean = d == 0 ? 0.0 : sum / static_cast<double>(d);
    // One comparison for a NaN, an infinity and a mean that float cannot hold.
    if (!(mean <= std::numeric_limits<float>::max())) return false;
    out.resize(payload_bytes(d));
    const std::span<std::byte> bytes(out);
    store_value(static_cast<float>(mean), 0, bytes);
    const auto signs = bytes.subspan(sizeof(float));
    for (std::size_t first = 0; first < d; first += chunk)
      store_word(sign_word(v.subspan(first, std::min(chunk, d - first))), signs.subspan(first / 8));
    return true;
  }

  bool decode(std::span<const std::byte> in, const Noise&, std::span<T> q) const override {
    const std::size_t d = q.size();
    if (in.size() != payload_bytes(d)) return false;
    const float scale = load_value<float>(in, 0);
    const auto signs = in.subspan(sizeof(float));
    if (!std::isfinite(scale) || std::signbit(scale) || !padding_is_zero(signs, d, 1)) return false;
    const T value[2] = {static_cast<T>(scale), -static_cast<T>(scale)};
    for (std::size_t first = 0; first < d; first += chunk) {
      const std::uint64_t word = load_word(signs.subspan(first / 8));
      const std::size_t count = std::min(chunk, d - first);
      for (std::size_t j = 0; j < count; ++j) q[first + j] = value[word >> j & 1];
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return sizeof(float) + plane_bytes(d, 1);
  }
  double paper_bits(std::size_t d) const override { return static_cast<double>(d) + 32.0; }

  // ||Q(v) - v||^2 = ||v||^2 - ||v||_1^2 / d, and ||v||_1 >= ||v||: equal for one nonzero
  // coordinate.
  std::optional<double> contraction(std::size_t d) const override {
    return d == 0 ? 1.0 : 1.0 - std::sqrt(1.0 - 1.0 / static_cast<double>(d));
  }
};

}  // namespace ticopd
