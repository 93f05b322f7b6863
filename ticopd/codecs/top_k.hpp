#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "ticopd/codecs/arithmetic/magnitude.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/kept_values.hpp"
#include "ticopd/codecs/subset_size.hpp"
#include "ticopd/codecs/values.hpp"

namespace ticopd {

// Keeps the k coordinates of largest magnitude; ties go to the lower index. As in the code of
// CHOCO-SGD (epfml/ChocoSGD). Payload: their values in the run's precision in ascending order of
// index, then a plane of the indices, ceil(log2 d) bits each. With `then`: the indices, then the
// values as that codec's row.
template <class T>
class TopK final : public Codec<T> {
 public:
  static constexpr CodecAbout about{.name = "top_k",
                                    .options = {"k", "fraction", "then", "coding"},
                                    .summary = "the k largest magnitudes and their indices"};

  explicit TopK(const CodecOptions& options) : size_(options), kept_(options) {}

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override {
    if (!all_finite(v)) return false;
    out.clear();
    return kept_.append(v, largest(v, size_.of(v.size())), message, out);
  }

  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<T> q) const override {
    return in.size() <= payload_bytes(q.size()) && kept_.take(in, message, size_.of(q.size()), q);
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return kept_.most_bytes(size_.of(d), d);
  }
  bool fixed_length() const override { return kept_.fixed_length(); }
  double paper_bits(std::size_t d) const override { return kept_.paper_bits(size_.of(d), d); }

  // With scaled qsgd, for example: 1 - (k/d) / tau, with the tau of k coordinates.
  ErrorBound error_bound(std::size_t d) const override {
    return error_after_keeping(size_.kept_share(d), kept_.inner().error_bound(size_.of(d)));
  }

 private:
  // Selecting among magnitudes is several times faster than selecting among indices that point at
  // them.
  static std::vector<std::size_t> largest(std::span<const T> v, std::size_t k) {
    std::vector<std::size_t> indices;
    if (k == 0) return indices;
    using Bits = BitsOf<T>;
    std::vector<Bits> magnitudes(v.size());
    std::transform(v.begin(), v.end(), magnitudes.begin(), magnitude_bits<T>);
    const auto kth = magnitudes.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<Bits>());
    const Bits least = *kth;
    const auto above = std::count_if(magnitudes.begin(), kth, [=](Bits m) { return m > least; });
    std::size_t ties = k - static_cast<std::size_t>(above);  // coordinates of just that magnitude
    indices.reserve(k);
    for (std::size_t i = 0; indices.size() < k; ++i) {
      const Bits magnitude = magnitude_bits(v[i]);
      if (magnitude < least || (magnitude == least && ties == 0)) continue;
      if (magnitude == least) --ties;
      indices.push_back(i);
    }
    return indices;
  }

  SubsetSize size_;
  KeptValues<T> kept_;
};

}  // namespace ticopd
