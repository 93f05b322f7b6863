#pragma once

#include <cstdint>

#include "ticopd/numeric/noise.hpp"

namespace ticopd {

// A keyed permutation of 0 ... n - 1 that can be evaluated at one point, forwards or backwards,
// without a table. It is a four-round Feistel network on the next even number of bits, repeated
// until the result is below n, then rotated by a distance that is drawn separately. For small n the
// repetition favours some places by several per cent; after the rotation every place is equally
// likely, which makes rand_k unbiased. rand_k takes the first k values as its subset, mini-batches
// as their samples. Frozen in docs/wire_format.md: both ends of a message must draw the same
// subset. All of it is constexpr, so that device code can call it too.
class Permutation {
 public:
  Permutation(std::uint64_t n, const Noise& key) : Permutation(n, key.block(0), key.block(1)) {}
  constexpr Permutation(std::uint64_t n, const Noise::Block& keys, const Noise::Block& turn)
      : n_(n),
        half_((bits_of(n > 1 ? n - 1 : 1) + 1) / 2),
        mask_((1ull << half_) - 1),
        turn_(n > 1 ? (std::uint64_t{turn[1]} << 32 | turn[0]) % n : 0),
        keys_(keys) {}

  constexpr std::uint64_t operator()(std::uint64_t i) const {
    do i = forward(i);
    while (i >= n_);
    return i < n_ - turn_ ? i + turn_ : i - (n_ - turn_);
  }

  constexpr std::uint64_t inverse(std::uint64_t j) const {
    j = j < turn_ ? j + (n_ - turn_) : j - turn_;
    do j = backward(j);
    while (j >= n_);
    return j;
  }

 private:
  // std::bit_width: for 64 bits nvcc 13 silently compiles it to 0 in device code.
  static constexpr int bits_of(std::uint64_t v) {
    int bits = 0;
    for (; v != 0; v >>= 1) ++bits;
    return bits;
  }

  constexpr std::uint64_t mix(std::uint64_t half, std::uint32_t key) const {
    std::uint64_t z = (half ^ key) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    return (z >> 32) & mask_;
  }
  constexpr std::uint64_t forward(std::uint64_t v) const {
    std::uint64_t left = v >> half_;
    std::uint64_t right = v & mask_;
    for (const std::uint32_t key : keys_) {
      const std::uint64_t next = left ^ mix(right, key);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }
  constexpr std::uint64_t backward(std::uint64_t v) const {
    std::uint64_t left = v >> half_;
    std::uint64_t right = v & mask_;
    for (int r = 3; r >= 0; --r) {
      const std::uint64_t last = right ^ mix(left, keys_[static_cast<std::size_t>(r)]);
      right = left;
      left = last;
    }
    return left << half_ | right;
  }

  std::uint64_t n_;
  int half_;
  std::uint64_t mask_;
  std::uint64_t turn_;
  Noise::Block keys_;
};

}  // namespace ticopd
