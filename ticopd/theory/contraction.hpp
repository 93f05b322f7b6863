#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// delta of Assumption 3, E||gain Q(v) - v||^2 <= (1 - delta)^2 ||v||^2, as the codec promises it: a
// surrogate that moves by gain Q(v) has the compressor gain Q. Empty if that does not contract. A
// gain below one makes an unbiased codec of any variance omega contract: E||gain Q(v) - v||^2 <=
// ((1 - gain)^2 + gain^2 omega) ||v||^2.
std::optional<double> contraction_of(const ErrorBound& bound, double gain);

// An unbiased codec contracts with every gain below this one; 0 for other codecs.
double largest_gain(const ErrorBound& bound);

// The contraction measured on a codec's messages.
struct MeasuredContraction {
  std::size_t messages = 0;  // whose v is not zero
  double worst_error = 0;  // the largest ||gain Q(v) - v||^2 / ||v||^2 of a message, over its draws
  double mean_error = 0;   // of all messages
  // delta of Assumption 3 for the worst message; at most 0 if that did not contract.
  double delta() const;
};

// Wraps a codec and measures its error on the messages it encodes: it draws each message `draws`
// times, with noise of its own, besides the one that travels.
template <class T>
class MeasuringCodec final : public Codec<T> {
 public:
  using typename Codec<T>::Use;

  MeasuringCodec(std::shared_ptr<const Codec<T>> codec, int agents, double gain, int draws);

  MeasuredContraction measured() const;

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override;
  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<T> q) const override;
  bool encode_difference(std::span<const T> x, std::span<const T> h, const MessageId& message,
                         Bytes& out, const Use& sent) const override;
  bool decode_in_chunks(std::span<const std::byte> in, const MessageId& message, std::size_t d,
                        const Use& use) const override;
  std::size_t payload_bytes(std::size_t d) const override;
  bool fixed_length() const override { return codec_->fixed_length(); }
  double paper_bits(std::size_t d) const override { return codec_->paper_bits(d); }
  double paper_bits_of(std::span<const std::byte> in, std::size_t d) const override {
    return codec_->paper_bits_of(in, d);
  }
  ErrorBound error_bound(std::size_t d) const override { return codec_->error_bound(d); }
  std::uint64_t saturated(const Source<T>& v, const MessageId& message) const override {
    return codec_->saturated(v, message);
  }
  bool lossless() const override { return codec_->lossless(); }

 private:
  // By agent, so that the sums do not depend on the order of threads.
  struct Sums {
    std::size_t messages = 0;
    double worst = 0, total = 0;
  };
  void look_at(std::span<const T> v, const MessageId& message) const;

  std::shared_ptr<const Codec<T>> codec_;
  double gain_;
  int draws_;
  mutable std::vector<Sums> of_agent_;
  mutable std::mutex mutex_;  // with links that come and go an agent has several messages
};

extern template class MeasuringCodec<float>;
extern template class MeasuringCodec<double>;

}  // namespace ticopd
