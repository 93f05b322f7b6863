#include "ticopd/theory/contraction.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ticopd/numeric/sum.hpp"

namespace ticopd {

std::optional<double> contraction_of(const ErrorBound& bound, double gain) {
  if (bound.absolute > 0) return std::nullopt;
  const double g = gain * bound.rescale;  // gain Q = g (Q / rescale)
  // For a biased codec: the triangle inequality on gain Q(v) - v = g (Q(v) / rescale - v) - (1 - g)
  // v.
  const double left = bound.unbiased && bound.rescale == 1
                          ? std::sqrt((1 - g) * (1 - g) + g * g * bound.relative)
                          : std::abs(1 - g) + g * std::sqrt(bound.relative);
  if (!(left < 1)) return std::nullopt;
  return 1 - left;
}

double largest_gain(const ErrorBound& bound) {
  if (!bound.unbiased || bound.absolute > 0 || bound.rescale != 1) return 0;
  return 2 / (1 + bound.relative);
}

double MeasuredContraction::delta() const {
  return 1 - std::sqrt(worst_error);
}

template <class T>
MeasuringCodec<T>::MeasuringCodec(std::shared_ptr<const Codec<T>> codec, int agents, double gain,
                                  int draws)
    : codec_(std::move(codec)),
      gain_(gain),
      draws_(draws),
      of_agent_(static_cast<std::size_t>(agents)) {}

template <class T>
MeasuredContraction MeasuringCodec<T>::measured() const {
  MeasuredContraction all;
  for (const Sums& s : of_agent_) {
    all.messages += s.messages;
    all.mean_error += s.total;
    all.worst_error = std::max(all.worst_error, s.worst);
  }
  if (all.messages > 0) all.mean_error /= static_cast<double>(all.messages);
  return all;
}

template <class T>
void MeasuringCodec<T>::look_at(std::span<const T> v, const MessageId& message) const {
  const double norm2 = sum_of_squares(v);
  if (!(norm2 > 0) || !std::isfinite(norm2)) return;
  Bytes payload;
  std::vector<T> q(v.size());
  double error = 0;
  for (int draw = 1; draw <= draws_; ++draw) {
    MessageId other = message;
    other.seed += static_cast<std::uint64_t>(draw) << 40;
    if (!codec_->encode(v, other, payload)) return;  // not finite: the run will say so
    if (!codec_->decode(payload, other, q))
      throw std::logic_error("a codec refused its own payload");
    error += tree_sum(v.size(), [&](std::size_t k) {
      const double e = gain_ * static_cast<double>(q[k]) - static_cast<double>(v[k]);
      return e * e;
    });
  }
  error /= norm2 * draws_;
  const std::lock_guard lock(mutex_);
  Sums& mine = of_agent_[message.agent % of_agent_.size()];
  ++mine.messages;
  mine.total += error;
  mine.worst = std::max(mine.worst, error);
}

template <class T>
bool MeasuringCodec<T>::encode(std::span<const T> v, const MessageId& message, Bytes& out) const {
  if (!codec_->encode(v, message, out)) return false;
  look_at(v, message);
  return true;
}

template <class T>
bool MeasuringCodec<T>::encode_difference(std::span<const T> x, std::span<const T> h,
                                          const MessageId& message, Bytes& out,
                                          const Use& sent) const {
  std::vector<T> v(x.size());  // before `sent` moves h
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = x[k] - h[k];
  if (!codec_->encode_difference(x, h, message, out, sent)) return false;
  look_at(v, message);
  return true;
}

template <class T>
bool MeasuringCodec<T>::decode(std::span<const std::byte> in, const MessageId& message,
                               std::span<T> q) const {
  return codec_->decode(in, message, q);
}

template <class T>
bool MeasuringCodec<T>::decode_in_chunks(std::span<const std::byte> in, const MessageId& message,
                                         std::size_t d, const Use& use) const {
  return codec_->decode_in_chunks(in, message, d, use);
}

template <class T>
std::size_t MeasuringCodec<T>::payload_bytes(std::size_t d) const {
  return codec_->payload_bytes(d);
}

template class MeasuringCodec<float>;
template class MeasuringCodec<double>;

}  // namespace ticopd
