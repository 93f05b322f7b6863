#pragma once

#include <algorithm>
#include <cmath>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/subset_size.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/network/permutation.hpp"

namespace ticopd {

// k coordinates drawn without replacement. Both ends derive the subset from the message's name, so
// the payload is the values alone: v[p(0)], v[p(1)], ... in the run's precision, p the permutation.
template <class T>
class RandK final : public Codec<T> {
 public:
  explicit RandK(const CodecOptions& options) : size_(options), unbiased_(options.unbiased) {}

  bool encode(std::span<const T> v, const Noise& message, Bytes& out) const override {
    if (!all_finite(v)) return false;
    const std::size_t d = v.size();
    const std::size_t k = size_.of(d);
    const Permutation subset = subset_of(d, message);
    out.resize(payload_bytes(d));
    const T scale = scale_of(d, k);
    for (std::size_t i = 0; i < k; ++i) {
      const T value = v[subset(i)];
      if (!std::isfinite(value * scale)) return false;  // DEC would refuse it
      store_value(value, i, std::span<std::byte>(out));
    }
    return true;
  }

  bool decode(std::span<const std::byte> in, const Noise& message, std::span<T> q) const override {
    const std::size_t d = q.size();
    const std::size_t k = size_.of(d);
    if (in.size() != payload_bytes(d)) return false;
    const Permutation subset = subset_of(d, message);
    const T scale = scale_of(d, k);
    std::fill(q.begin(), q.end(), T{0});
    for (std::size_t i = 0; i < k; ++i) {
      const T value = load_value<T>(in, i) * scale;
      if (!std::isfinite(value)) return false;
      q[subset(i)] = value;
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override { return size_.of(d) * sizeof(T); }

  // The papers' codes send a seed of 64 bits with each message.
  double paper_bits(std::size_t d) const override {
    return 32.0 * static_cast<double>(size_.of(d)) + 64.0;
  }
  ErrorBound error_bound(std::size_t d) const override {
    if (!unbiased_) return {size_.lost_share(d)};
    const double k = static_cast<double>(size_.of(d));
    return {.relative = d == 0 ? 0.0 : static_cast<double>(d) / k - 1, .unbiased = true};
  }

 private:
  T scale_of(std::size_t d, std::size_t k) const {
    return unbiased_ && k > 0 ? static_cast<T>(d) / static_cast<T>(k) : T{1};
  }

  static Permutation subset_of(std::size_t d, Noise message) {
    message.channel |= stream_subset;
    return Permutation(d, message);
  }

  SubsetSize size_;
  bool unbiased_;
};

}  // namespace ticopd
