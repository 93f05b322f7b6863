#pragma once

#include <cmath>
#include <limits>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/codecs/vector_loops.hpp"

namespace ticopd {

// Q(v) = (||v||_1 / d) sign(v), with sign(0) = +. Payload: the scale (fp32), then a plane of signs.
// S. P. Karimireddy, Q. Rebjock, S. Stich, M. Jaggi, "Error Feedback Fixes SignSGD and other
// Gradient Compression Schemes", 2019.
template <class T, class Loops = BestLoops<T>>
class Sign final : public Codec<T> {
 public:
  using typename Codec<T>::Use;

  explicit Sign(const CodecOptions&) {}

  bool encode(std::span<const T> v, const Noise&, Bytes& out) const override {
    return encode_source(Source<T>(v), out);
  }

  bool encode_difference(std::span<const T> x, std::span<const T> h, const Noise& message,
                         Bytes& out, const Use& sent) const override {
    return encode_source(Source<T>(x, h), out) && decode_stretches(out, message, x.size(), sent);
  }

  bool decode(std::span<const std::byte> in, const Noise&, std::span<T> q) const override {
    if (!is_payload(in, q.size())) return false;
    Loops::give_signs(in.data() + sizeof(float), static_cast<T>(load_value<float>(in, 0)), q);
    return true;
  }

  bool decode_stretches(std::span<const std::byte> in, const Noise&, std::size_t d,
                        const Use& use) const override {
    if (!is_payload(in, d)) return false;
    alignas(64) T q[codec_stretch];
    for (std::size_t first = 0; first < d; first += codec_stretch) {
      const std::span<T> some(q, std::min(codec_stretch, d - first));
      Loops::give_signs(in.data() + sizeof(float) + first / 8,
                        static_cast<T>(load_value<float>(in, 0)), some);
      use(first, some);
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return sizeof(float) + plane_bytes(d, 1);
  }
  double paper_bits(std::size_t d) const override { return static_cast<double>(d) + 32.0; }

  // ||Q(v) - v||^2 = ||v||^2 - ||v||_1^2 / d, and ||v||_1 >= ||v||: equal for one nonzero
  // coordinate.
  ErrorBound error_bound(std::size_t d) const override {
    return {.relative = d == 0 ? 0.0 : 1.0 - 1.0 / static_cast<double>(d)};
  }

 private:
  bool encode_source(Source<T> v, Bytes& out) const {
    const std::size_t d = v.size();
    const double mean = d == 0 ? 0.0 : Loops::sum_of_magnitudes(v) / static_cast<double>(d);
    // One comparison for a NaN, an infinity and a mean that float cannot hold.
    if (!(mean <= std::numeric_limits<float>::max())) return false;
    out.resize(payload_bytes(d));
    store_value(static_cast<float>(mean), 0, std::span<std::byte>(out));
    Loops::take_signs(v, out.data() + sizeof(float));
    return true;
  }

  bool is_payload(std::span<const std::byte> in, std::size_t d) const {
    if (in.size() != payload_bytes(d)) return false;
    const float scale = load_value<float>(in, 0);
    return std::isfinite(scale) && !std::signbit(scale) &&
           padding_is_zero(in.subspan(sizeof(float)), d, 1);
  }
};

}  // namespace ticopd
