#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/indices.hpp"

namespace ticopd {

// Makes the codec for the values that top_k, rand_k and threshold keep. It sees these values as a
// row of their own. codec.then names its kind, with the same options; without codec.then the values
// are sent unchanged.
template <class T>
std::unique_ptr<Codec<T>> make_codec_of_kept(CodecOptions options) {
  const std::string then = std::exchange(options.then, "");
  options.kind = then.empty() ? "identity" : then;
  if (!has_coding(options.kind)) options.coding = Coding::fixed;  // `coding` is for the indices
  return make_codec<T>(options);
}

// The error bound of keeping some coordinates and coding them. Let w, the kept part of v, have at
// least `share` of ||v||^2 (on average for rand_k), and let `inner` bound the error of coding w.
// v - w and w have no coordinate in common, so
//   E||Q(v) / r - v||^2 = ||v||^2 - ||w||^2 + E||Q(w) / r - w||^2 <= ||v||^2 - (1 - inner) ||w||^2.
inline ErrorBound error_after_keeping(double share, ErrorBound inner) {
  inner.relative = inner.relative <= 1 ? 1.0 - share * (1.0 - inner.relative) : inner.relative;
  inner.unbiased = inner.unbiased && share >= 1;
  return inner;
}

// Some coordinates of a row: `values in T | indices`, or, if a codec follows, `indices | its
// payload`. The number of coordinates is not part of it.
template <class T>
class KeptValues {
 public:
  explicit KeptValues(const CodecOptions& options)
      : inner_(make_codec_of_kept<T>(options)),
        indices_(options.coding),
        values_first_(options.then.empty()) {}

  const Codec<T>& inner() const { return *inner_; }
  bool fixed_length() const { return inner_->fixed_length() && indices_.fixed_length(); }
  std::size_t most_bytes(std::size_t k, std::size_t d) const {
    return inner_->payload_bytes(k) + indices_.most_bytes(k, d);
  }
  double paper_bits(std::size_t k, std::size_t d) const {
    return inner_->paper_bits(k) + static_cast<double>(k) * index_bits(d);
  }

  [[nodiscard]] bool append(std::span<const T> v, std::span<const std::size_t> indices,
                            const MessageId& message, Bytes& out) const {
    std::vector<T> values(indices.size());
    for (std::size_t j = 0; j < indices.size(); ++j) values[j] = v[indices[j]];
    Bytes payload;
    if (!inner_->encode(values, message, payload)) return false;
    if (!values_first_) indices_.append(indices, v.size(), out);
    out.insert(out.end(), payload.begin(), payload.end());
    if (values_first_) indices_.append(indices, v.size(), out);
    return true;
  }

  // Writes the k coordinates in `in` to q, and zeros elsewhere. k is at most q.size().
  [[nodiscard]] bool take(std::span<const std::byte> in, const MessageId& message, std::size_t k,
                          std::span<T> q) const {
    std::vector<T> values(k);
    if (values_first_) {
      const std::size_t bytes = inner_->payload_bytes(k);
      if (in.size() < bytes || !inner_->decode(in.first(bytes), message, values)) return false;
      in = in.subspan(bytes);
    }
    std::vector<std::size_t> indices(k);
    if (!indices_.take(in, q.size(), indices)) return false;
    if (values_first_ ? !in.empty() : !inner_->decode(in, message, values)) return false;
    std::fill(q.begin(), q.end(), T{0});
    for (std::size_t j = 0; j < k; ++j) q[indices[j]] = values[j];
    return true;
  }

 private:
  std::unique_ptr<Codec<T>> inner_;
  IndexCode indices_;
  bool values_first_;
};

}  // namespace ticopd
