#pragma once

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/identity.hpp"

namespace ticopd {

// Sends the row with probability p, else nothing: the randomised gossip of A. Koloskova, S. U.
// Stich,
// M. Jaggi, "Decentralized Stochastic Optimization and Gossip Algorithms with Compressed
// Communication", 2019. Written without the paper's text; its bound is the variance of one coin
// (docs/limitations.md).
//
// Payload: the row in the run's precision, or no bytes, which decode to zeros. Both ends draw the
// same coin from the message id, and reject a payload of the other kind.
template <class T>
class RandomGossip final : public Codec<T> {
 public:
  static constexpr CodecAbout about{.name = "random_gossip",
                                    .options = {"p"},
                                    .summary = "the row with probability p, else nothing"};

  explicit RandomGossip(const CodecOptions& options) : row_(options), p_(options.p) {}

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override {
    if (travels(message)) return row_.encode(v, message, out);
    out.clear();
    return all_finite(v);
  }

  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<T> q) const override {
    if (travels(message)) return row_.decode(in, message, q);
    std::fill(q.begin(), q.end(), T{0});
    return in.empty();
  }

  std::size_t payload_bytes(std::size_t d) const override { return row_.payload_bytes(d); }
  bool fixed_length() const override { return false; }

  // One flag, plus the row if it is sent: on average, and for one message.
  double paper_bits(std::size_t d) const override { return 1.0 + p_ * row_.paper_bits(d); }
  double paper_bits_of(std::span<const std::byte> in, std::size_t d) const override {
    return 1.0 + (in.empty() ? 0.0 : row_.paper_bits(d));
  }

  // The error is ||v||^2 with probability 1 - p, else 0.
  ErrorBound error_bound(std::size_t) const override {
    return {.relative = 1.0 - p_, .unbiased = p_ == 1};
  }

  // Both ends draw the coin from the message id, so they agree without a byte on the wire.
  bool travels(const MessageId& message) const override {
    Noise coin{message};
    coin.channel |= stream_coin;
    return static_cast<double>(coin.uniform(0)) < p_;
  }

 private:
  Identity<T> row_;
  double p_;
};

}  // namespace ticopd
