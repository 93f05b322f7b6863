#include "ticopd/codecs/codec.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ticopd {
namespace {

// Any free thread may work on any row, so each thread keeps two scratch rows of its own.
template <class T>
std::span<T> scratch(int which, std::size_t d) {
  thread_local std::vector<T> rows[2];
  if (rows[which].size() < d) rows[which].resize(d);
  return {rows[which].data(), d};
}

}  // namespace

template <class T>
bool Codec<T>::encode_into(std::span<const T> v, const MessageId& message,
                           std::span<std::byte> out) const {
  thread_local Bytes payload;
  if (!encode(v, message, payload)) return false;
  if (payload.size() != out.size()) throw std::logic_error("encode_into: the length is not fixed");
  std::ranges::copy(payload, out.begin());
  return true;
}

template <class T>
bool Codec<T>::encode_difference(std::span<const T> x, std::span<const T> h,
                                 const MessageId& message, Bytes& out, const Use& sent) const {
  const std::span<T> v = scratch<T>(0, x.size());
  for (std::size_t k = 0; k < x.size(); ++k) v[k] = x[k] - h[k];
  if (!encode(v, message, out)) return false;
  if (!decode_in_chunks(out, message, x.size(), sent))
    throw std::logic_error("a codec refused its own payload");
  return true;
}

template <class T>
bool Codec<T>::decode_in_chunks(std::span<const std::byte> in, const MessageId& message,
                                std::size_t d, const Use& use) const {
  const std::span<T> q = scratch<T>(1, d);
  if (!decode(in, message, q)) return false;
  use(0, q);
  return true;
}

template <class T>
std::optional<double> Codec<T>::contraction(std::size_t d) const {
  const ErrorBound bound = error_bound(d);
  if (!(bound.relative < 1) || bound.absolute > 0 || bound.rescale != 1) return std::nullopt;
  return 1.0 - std::sqrt(bound.relative);
}

template class Codec<float>;
template class Codec<double>;

}  // namespace ticopd
