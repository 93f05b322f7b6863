#pragma once

#include <cstring>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/values.hpp"

namespace ticopd {

// Sends the row itself, uncompressed.
template <class T>
class Identity final : public Codec<T> {
 public:
  static constexpr CodecAbout about{.name = "identity",
                                    .summary = "the row itself, in the run's precision",
                                    .in_words = "uncompressed"};

  explicit Identity(const CodecOptions&) {}

  bool encode(std::span<const T> v, const MessageId&, Bytes& out) const override {
    const auto bytes = std::as_bytes(v);
    out.assign(bytes.begin(), bytes.end());
    return all_finite(v);
  }

  bool decode(std::span<const std::byte> in, const MessageId&, std::span<T> q) const override {
    if (in.size() != payload_bytes(q.size())) return false;
    if (!q.empty()) std::memcpy(q.data(), in.data(), in.size());
    return all_finite(std::span<const T>(q));
  }

  std::size_t payload_bytes(std::size_t d) const override { return d * sizeof(T); }
  double paper_bits(std::size_t d) const override { return 32.0 * static_cast<double>(d); }
  ErrorBound error_bound(std::size_t) const override { return {.unbiased = true}; }
  bool lossless() const override { return true; }
};

}  // namespace ticopd
