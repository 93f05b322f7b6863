#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

inline constexpr MessageId fuzzed_message{1, 2, 3, 0};

// An input of fuzz_decode is four bytes, which say the codec, the scalar, d and the options, and
// then the payload. `hammer` writes what it finds in the same form.
inline constexpr std::size_t decode_head_bytes = 4;
inline constexpr std::size_t decode_dimensions = 1025;  // d is 0 ... 1024

// Decodes a payload that may hold anything and aborts if an invariant of decoders is broken.
// Returns whether it was accepted. `q` is overwritten; `again` is memory that may be reused.
template <class T>
bool check_decode(const Codec<T>& codec, std::span<const std::byte> payload, std::span<T> q,
                  Bytes& again) {
  if (!codec.decode(payload, fuzzed_message, q)) return false;
  const bool fixed = codec.fixed_length();
  const std::size_t longest = codec.payload_bytes(q.size());
  if (payload.size() > longest || (fixed && payload.size() < longest)) std::abort();
  for (const T x : q)
    if (!std::isfinite(x)) std::abort();
  // A decoded row is an ordinary row: encode() rejects it as too large, or its payload can be
  // decoded.
  if (!codec.encode(q, fuzzed_message, again)) return true;
  if (fixed && again.size() != payload.size()) std::abort();
  if (!codec.decode(again, fuzzed_message, q)) std::abort();
  return true;
}

// The other way to decode accepts the same payloads and gives the same bits, in ascending chunks.
template <class T>
void check_chunks(const Codec<T>& codec, std::span<const std::byte> payload, std::size_t d) {
  std::vector<T> whole(d), chunked(d);
  std::size_t reached = 0;
  const auto use = [&](std::size_t first, std::span<const T> q) {
    if (first != reached || q.size() > d - first) std::abort();
    std::copy(q.begin(), q.end(), chunked.begin() + static_cast<std::ptrdiff_t>(first));
    reached += q.size();
  };
  const bool accepted = codec.decode_in_chunks(payload, fuzzed_message, d, use);
  if (accepted != codec.decode(payload, fuzzed_message, whole)) std::abort();
  if (reached != (accepted ? d : 0)) std::abort();
  if (accepted && d > 0 && std::memcmp(whole.data(), chunked.data(), d * sizeof(T)) != 0)
    std::abort();
}

}  // namespace ticopd
