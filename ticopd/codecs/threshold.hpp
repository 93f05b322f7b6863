#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ticopd/codecs/arithmetic/kept.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/kept_values.hpp"
#include "ticopd/codecs/values.hpp"

namespace ticopd {

// Keeps the nonzero coordinates with |v_k| >= threshold ||v||_inf. Defined here, from no paper.
// Payload: their number, in as many bytes as d needs, then values and indices in the format of
// top_k, with or without `then`.
template <class T>
class Threshold final : public Codec<T> {
 public:
  static constexpr CodecAbout about{
      .name = "threshold",
      .options = {"threshold", "then", "coding"},
      .summary = "the magnitudes of at least threshold times the largest"};

  explicit Threshold(const CodecOptions& options)
      : kept_(options), plain_(options.then.empty()), threshold_(options.threshold) {}

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override {
    const T largest = largest_magnitude(Source<T>(v));
    if (!std::isfinite(largest)) return false;
    const auto least = least_kept(static_cast<T>(threshold_), largest);
    std::vector<std::size_t> indices;
    for (std::size_t k = 0; k < v.size(); ++k)
      if (magnitude_bits(v[k]) >= least) indices.push_back(k);
    out.resize(count_bytes(v.size()));
    store_word(indices.size(), out);
    return kept_.append(v, indices, message, out);
  }

  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<T> q) const override {
    const std::size_t d = q.size();
    if (in.size() < count_bytes(d) || in.size() > payload_bytes(d)) return false;
    const std::uint64_t k = load_word(in.first(count_bytes(d)));
    if (k > d || !kept_.take(in.subspan(count_bytes(d)), message, k, q)) return false;
    return !plain_ || would_be_kept(k, q);
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return count_bytes(d) + kept_.most_bytes(d, d);
  }
  bool fixed_length() const override { return false; }

  // The maximum, and the count of one message.
  double paper_bits(std::size_t d) const override { return kept_.paper_bits(d, d); }
  double paper_bits_of(std::span<const std::byte> in, std::size_t d) const override {
    if (in.size() < count_bytes(d)) return 0.0;
    return kept_.paper_bits(std::min<std::size_t>(d, load_word(in.first(count_bytes(d)))), d);
  }

  // At most d - 1 coordinates are dropped, each below t M with M = ||v||_inf, and one of magnitude
  // M is kept. So at most the fraction (d - 1) t^2 / (1 + (d - 1) t^2) of ||v||^2 is dropped. The
  // bound of the inner codec for d values also holds for fewer.
  ErrorBound error_bound(std::size_t d) const override {
    const double lost = d == 0 ? 0.0 : static_cast<double>(d - 1) * threshold_ * threshold_;
    return error_after_keeping(1.0 / (1.0 + lost), kept_.inner().error_bound(d));
  }

 private:
  static std::size_t count_bytes(std::size_t d) {
    return (static_cast<std::size_t>(std::bit_width(d)) + 7) / 8;
  }

  // True if encode would keep just these k values. Another codec may change the values, so this
  // check is for plain values only.
  bool would_be_kept(std::size_t k, std::span<const T> q) const {
    const auto least = least_kept(static_cast<T>(threshold_), largest_magnitude(Source<T>(q)));
    return k == static_cast<std::size_t>(std::count_if(
                    q.begin(), q.end(), [&](T x) { return magnitude_bits(x) >= least; }));
  }

  KeptValues<T> kept_;
  bool plain_;
  double threshold_;
};

}  // namespace ticopd
