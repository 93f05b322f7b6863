#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/kept_values.hpp"
#include "ticopd/codecs/subset_size.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/numeric/permutation.hpp"

namespace ticopd {

// Keeps k coordinates drawn without replacement, as in the code of CHOCO-SGD (epfml/ChocoSGD). Both
// ends derive the subset from the message id, so the payload holds only the values: v[p(0)],
// v[p(1)], ... in the run's precision, where p is the permutation. With `then`: that codec's
// payload of these values.
template <class T>
class RandK final : public Codec<T> {
 public:
  static constexpr CodecAbout about{
      .name = "rand_k",
      .options = {"k", "fraction", "unbiased", "then"},
      .summary = "k coordinates that both ends draw from the seed: values only",
      .unbiased_with = "unbiased = true"};

  explicit RandK(const CodecOptions& options)
      : size_(options), inner_(make_codec_of_kept<T>(options)), unbiased_(options.unbiased) {}

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override {
    if (!all_finite(v)) return false;
    const std::size_t d = v.size();
    const Permutation subset = subset_of(d, message);
    std::vector<T> values(size_.of(d));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = v[subset(i)];
    if (!inner_->encode(values, message, out)) return false;
    // DEC scales the values and rejects a payload if a scaled value is not finite. So ENC rejects
    // it too.
    return !unbiased_ || (inner_->decode(out, message, values) && scale(d, values));
  }

  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<T> q) const override {
    const std::size_t d = q.size();
    std::vector<T> values(size_.of(d));
    if (!inner_->decode(in, message, values) || !scale(d, values)) return false;
    const Permutation subset = subset_of(d, message);
    std::fill(q.begin(), q.end(), T{0});
    for (std::size_t i = 0; i < values.size(); ++i) q[subset(i)] = values[i];
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return inner_->payload_bytes(size_.of(d));
  }
  bool fixed_length() const override { return inner_->fixed_length(); }

  // The papers' codes send a 64-bit seed with each message.
  double paper_bits(std::size_t d) const override { return inner_->paper_bits(size_.of(d)) + 64.0; }

  // If unbiased_ and the inner codec is unbiased: (d/k)^2 E||Q(w)||^2 - ||v||^2. A biased inner
  // codec leaves (d/k) (Q(w) - w) + (d/k - 1) w on the kept coordinates.
  ErrorBound error_bound(std::size_t d) const override {
    ErrorBound bound = inner_->error_bound(size_.of(d));
    const double share = size_.kept_share(d);
    if (!unbiased_) return error_after_keeping(share, bound);
    const double kept = std::sqrt(bound.relative) / share + 1.0 / share - 1.0;
    bound.relative =
        bound.unbiased ? (1.0 + bound.relative) / share - 1.0 : 1.0 - share + share * kept * kept;
    return bound;
  }

 private:
  // Multiplies by d / k if unbiased_. Returns false if a result is not finite.
  bool scale(std::size_t d, std::span<T> values) const {
    if (!unbiased_ || values.empty()) return true;
    const T by = static_cast<T>(d) / static_cast<T>(values.size());
    for (T& x : values) x *= by;
    return all_finite(std::span<const T>(values));
  }

  // The subset has a random stream of its own, apart from the noise of the inner codec.
  static Permutation subset_of(std::size_t d, const MessageId& message) {
    Noise noise{message};
    noise.channel |= stream_subset;
    return Permutation(d, noise);
  }

  SubsetSize size_;
  std::unique_ptr<Codec<T>> inner_;
  bool unbiased_;
};

}  // namespace ticopd
