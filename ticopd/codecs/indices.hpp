#pragma once

#include <cstddef>
#include <span>

#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// The width of an index below d.
inline unsigned index_bits(std::size_t d) {
  return d <= 1 ? 0 : static_cast<unsigned>(std::bit_width(d - 1));
}

// Codes strictly ascending indices below d. Coding::fixed is a plane of index_bits(d) bits each.
// The other codings are one byte b, then per index the gap g = index - (previous index + 1) as a
// Rice code: g >> b ones, a zero, the b low bits of g; zeros fill the last byte. That is close to
// the entropy of a random subset. b is the one with the shortest result, the smallest of equals.
class IndexCode {
 public:
  explicit IndexCode(Coding coding) : gaps_(coding != Coding::fixed) {}

  // The most bytes of k indices. The best b is no worse than b = index_bits(d), which writes no
  // ones.
  std::size_t most_bytes(std::size_t k, std::size_t d) const {
    return gaps_ ? 1 + plane_bytes(k, index_bits(d) + 1) : plane_bytes(k, index_bits(d));
  }
  bool fixed_length() const { return !gaps_; }

  void append(std::span<const std::size_t> indices, std::size_t d, Bytes& out) const;

  // Fills `indices` from the front of `in`, and moves `in` past them. Returns false for bytes that
  // `append` never makes.
  [[nodiscard]] bool take(std::span<const std::byte>& in, std::size_t d,
                          std::span<std::size_t> indices) const;

 private:
  bool gaps_;
};

}  // namespace ticopd
