#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ticopd/codecs/bit_stream.hpp"

namespace ticopd {

// The symbols of the entropy coder. A level below 256 is its own token. A larger level has the
// token of its exponent and its next three bits; the bits below those are sent uncoded. Smooth
// distributions lose nothing by that, and the table of frequencies stays short.
inline constexpr std::size_t most_tokens = 256 + 8 * 8;

constexpr std::uint32_t token_of(std::uint32_t level) {
  if (level < 256) return level;
  static_assert(sizeof level == 4);  // in device code nvcc 13 makes 0 of 64 bits
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(level)) - 1;
  return 256 + (exponent - 8) * 8 + (level >> (exponent - 3) & 7);
}

// The number of low bits that a token leaves out.
constexpr unsigned low_bits(std::uint32_t token) {
  return token < 256 ? 0 : 5 + (token - 256) / 8;
}

// The smallest level that has this token.
constexpr std::uint32_t lowest_level(std::uint32_t token) {
  return token < 256 ? token : (8 + (token - 256) % 8) << low_bits(token);
}

// How often each token occurs in a row.
using TokenCounts = std::array<std::uint64_t, most_tokens>;

template <class Level>
TokenCounts count_tokens(std::span<const Level> levels) {
  // Neighbours are often equal, and an increment would wait for the last one at the same place.
  // Four tables of counts avoid that.
  std::array<TokenCounts, 4> counts{};
  std::size_t k = 0;
  for (; k + 4 <= levels.size(); k += 4)
    for (std::size_t j = 0; j < 4; ++j) ++counts[j][token_of(levels[k + j])];
  for (; k < levels.size(); ++k) ++counts[0][token_of(levels[k])];
  for (std::size_t t = 0; t < most_tokens; ++t)
    counts[0][t] += counts[1][t] + counts[2][t] + counts[3][t];
  return counts[0];
}

// Bit j is set if level j is not zero. There are at most 64 levels.
template <class Level>
std::uint64_t nonzero_mask(std::span<const Level> levels) {
  std::uint64_t mask = 0;
  if constexpr (sizeof(Level) == 1)
    if (levels.size() == chunk) {
      constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7f;
      for (std::size_t j = 0; j < chunk; j += 8) {
        const std::uint64_t word = load_word(std::as_bytes(levels.subspan(j, 8)));
        const std::uint64_t tops = ((word & low) + low) | word;  // bit 7 of each byte: it is not 0
        mask |= ((tops >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56) << j;
      }
      return mask;
    }
  for (std::size_t j = 0; j < levels.size(); ++j)
    mask |= static_cast<std::uint64_t>(levels[j] != 0) << j;
  return mask;
}

}  // namespace ticopd
