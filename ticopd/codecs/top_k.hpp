#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/subset_size.hpp"
#include "ticopd/codecs/values.hpp"

namespace ticopd {

// The k coordinates of largest magnitude, ties to the lower index. Payload: their values in the
// run's precision in ascending order of index, then a plane of the indices, ceil(log2 d) bits each.
template <class T>
class TopK final : public Codec<T> {
 public:
  explicit TopK(const CodecOptions& options) : size_(options) {}

  bool encode(std::span<const T> v, const Noise&, Bytes& out) const override {
    if (!all_finite(v)) return false;
    const std::size_t d = v.size();
    const std::size_t k = size_.of(d);
    out.resize(payload_bytes(d));
    if (k == 0) return true;
    auto [threshold, at_threshold] = smallest_kept(v, k);
    const std::span<std::byte> bytes(out);
    const auto values = bytes.first(k * sizeof(T));
    BitWriter indices(bytes.subspan(values.size()));
    for (std::size_t i = 0, kept = 0; kept < k; ++i) {
      const T magnitude = std::abs(v[i]);
      if (magnitude < threshold || (magnitude == threshold && at_threshold == 0)) continue;
      if (magnitude == threshold) --at_threshold;
      store_value(v[i], kept++, values);
      indices.put(i, index_bits(d));
    }
    indices.finish();
    return true;
  }

  bool decode(std::span<const std::byte> in, const Noise&, std::span<T> q) const override {
    const std::size_t d = q.size();
    const std::size_t k = size_.of(d);
    if (in.size() != payload_bytes(d)) return false;
    const auto plane = in.subspan(k * sizeof(T));
    if (!padding_is_zero(plane, k, index_bits(d))) return false;
    std::fill(q.begin(), q.end(), T{0});
    BitReader indices(plane);
    for (std::size_t kept = 0, least = 0; kept < k; ++kept) {
      const std::uint64_t i = indices.get(index_bits(d));
      const T value = load_value<T>(in, kept);
      if (i < least || i >= d || !std::isfinite(value)) return false;
      q[i] = value;
      least = i + 1;
    }
    return indices.ok();
  }

  std::size_t payload_bytes(std::size_t d) const override {
    const std::size_t k = size_.of(d);
    return k * sizeof(T) + plane_bytes(k, index_bits(d));
  }
  double paper_bits(std::size_t d) const override {
    return static_cast<double>(size_.of(d)) * (32.0 + index_bits(d));
  }
  ErrorBound error_bound(std::size_t d) const override { return {size_.lost_share(d)}; }

 private:
  static unsigned index_bits(std::size_t d) {
    return d <= 1 ? 0 : static_cast<unsigned>(std::bit_width(d - 1));
  }

  // The k-th largest magnitude, and how many coordinates of just that magnitude are kept. Selecting
  // among bare magnitudes is several times quicker than among indices that point at them.
  static std::pair<T, std::size_t> smallest_kept(std::span<const T> v, std::size_t k) {
    std::vector<T> magnitudes(v.size());
    std::transform(v.begin(), v.end(), magnitudes.begin(), [](T x) { return std::abs(x); });
    const auto kth = magnitudes.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<T>());
    const T threshold = *kth;
    const auto above = std::count_if(magnitudes.begin(), kth, [=](T m) { return m > threshold; });
    return {threshold, k - static_cast<std::size_t>(above)};
  }

  SubsetSize size_;
};

}  // namespace ticopd
