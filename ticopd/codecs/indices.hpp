#pragma once

#include <cstddef>
#include <span>

#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/codec.hpp"

namespace ticopd {

inline unsigned index_bits(std::size_t d) {
  return d <= 1 ? 0 : static_cast<unsigned>(std::bit_width(d - 1));
}

// Strictly ascending indices below d. Coding::fixed is a plane, index_bits(d) bits each. The other
// codings are a byte that says b, then for each index the gap g = index - (one before + 1) as a
// Rice code: g >> b ones and a zero, then the low b bits of g, and zeros up to a byte. That is
// close to the entropy of a random subset. b is the best one, the least of equals.
class IndexCode {
 public:
  explicit IndexCode(Coding coding) : gaps_(coding != Coding::fixed) {}

  // Of k indices. The best b is no worse than b = index_bits(d), which has no ones.
  std::size_t most_bytes(std::size_t k, std::size_t d) const {
    return gaps_ ? 1 + plane_bytes(k, index_bits(d) + 1) : plane_bytes(k, index_bits(d));
  }
  bool fixed_length() const { return !gaps_; }

  void append(std::span<const std::size_t> indices, std::size_t d, Bytes& out) const;

  // Fills `indices` from the front of `in`, which moves on. False for what `append` never makes.
  [[nodiscard]] bool take(std::span<const std::byte>& in, std::size_t d,
                          std::span<std::size_t> indices) const;

 private:
  bool gaps_;
};

}  // namespace ticopd
