#pragma once

#include <cmath>
#include <limits>

#include "ticopd/codecs/buckets.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/codecs/vector_loops.hpp"

namespace ticopd {

// Q(v) = scale sign(v), with sign(0) = +. Derived classes define the scale of a bucket. Payload:
// the scales (fp32, one per bucket), then a plane of signs. The signs of differences are close to
// random, so an entropy coder gains nothing, and other codings are refused.
template <class T, class Loops>
class ScaledSigns : public Codec<T> {
 public:
  using typename Codec<T>::Use;

  explicit ScaledSigns(const CodecOptions& options) : bucket_(options.bucket) {}

  bool encode(std::span<const T> v, const MessageId&, Bytes& out) const override {
    return encode_source(Source<T>(v), out);
  }

  bool encode_difference(std::span<const T> x, std::span<const T> h, const MessageId& message,
                         Bytes& out, const Use& sent) const override {
    return encode_source(Source<T>(x, h), out) && decode_in_chunks(out, message, x.size(), sent);
  }

  bool decode(std::span<const std::byte> in, const MessageId&, std::span<T> q) const override {
    const Buckets row(q.size(), bucket_);
    if (!is_payload(row, in)) return false;
    give(row, in, 0, q);
    return true;
  }

  bool decode_in_chunks(std::span<const std::byte> in, const MessageId&, std::size_t d,
                        const Use& use) const override {
    const Buckets row(d, bucket_);
    if (!is_payload(row, in)) return false;
    alignas(64) T q[codec_stretch];
    for (std::size_t first = 0; first < d; first += codec_stretch) {
      const std::span<T> some(q, std::min(codec_stretch, d - first));
      give(row, in, first, some);
      use(first, some);
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return Buckets(d, bucket_).count * sizeof(float) + plane_bytes(d, 1);
  }
  double paper_bits(std::size_t d) const override {
    return static_cast<double>(d) + 32.0 * static_cast<double>(Buckets(d, bucket_).count);
  }

 protected:
  // The scale of one bucket; not finite if the bucket is not finite.
  virtual double scale_of(Source<T> bucket) const = 0;

  std::size_t longest_bucket(std::size_t d) const { return Buckets(d, bucket_).length_of(0); }

 private:
  bool encode_source(Source<T> v, Bytes& out) const {
    const Buckets row(v.size(), bucket_);
    out.resize(payload_bytes(v.size()));
    for (std::size_t b = 0; b < row.count; ++b) {
      const double scale = scale_of(v.part(row.first_of(b), row.length_of(b)));
      // One comparison rejects a NaN, an infinity and a scale that float cannot hold.
      if (!(scale <= std::numeric_limits<float>::max())) return false;
      store_value(static_cast<float>(scale), b, std::span<std::byte>(out));
    }
    Loops::take_signs(v, out.data() + row.count * sizeof(float));
    return true;
  }

  bool is_payload(const Buckets& row, std::span<const std::byte> in) const {
    if (in.size() != payload_bytes(row.d)) return false;
    for (std::size_t b = 0; b < row.count; ++b) {
      const float scale = load_value<float>(in, b);
      if (!std::isfinite(scale) || std::signbit(scale)) return false;
    }
    return padding_is_zero(in.subspan(row.count * sizeof(float)), row.d, 1);
  }

  void give(const Buckets& row, std::span<const std::byte> in, std::size_t first,
            std::span<T> q) const {
    const std::byte* signs = in.data() + row.count * sizeof(float);
    row.each_part(first, first + q.size(), [&](std::size_t b, std::size_t k, std::size_t n) {
      const T value = static_cast<T>(load_value<float>(in, b));
      const std::span<T> some = q.subspan(k - first, n);
      if (k % 8 == 0) return Loops::give_signs(signs + k / 8, value, some);
      for (std::size_t j = 0; j < n; ++j, ++k)  // a bucket that begins inside a byte
        some[j] = (std::to_integer<unsigned>(signs[k / 8]) >> k % 8 & 1) != 0 ? -value : value;
    });
  }

  std::size_t bucket_;
};

}  // namespace ticopd
