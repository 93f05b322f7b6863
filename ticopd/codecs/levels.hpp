#pragma once

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// How the symbols of a quantiser become bytes: levels 0 ... most (most < 2^16), and a plane of
// signs (one bit per coordinate, 1 is negative, as take_signs makes it). The sign of a level 0 is
// not sent and comes back as 0. The formats are written out in docs/wire_format.md:
//   fixed    a plane of levels of bit_width(most) bits, a plane of signs
//   entropy  a table of frequencies, then range-ANS (range_ans.hpp); or the planes, where that is
//   not
//            longer. It is at most one byte longer than `fixed`
//   elias    gaps to the non-zero levels, their signs and the levels, in Elias' omega code (QSGD)
// `Level` is std::uint8_t or std::uint16_t.

// Adds the bytes of the levels to the end of `out`. `signs` has at least one bit for each level;
// the bits of zeros, and those after the last, may hold anything.
template <class Level>
void append_levels(Coding coding, std::span<const Level> levels, std::span<const std::byte> signs,
                   std::uint32_t most, Bytes& out);

// Reads them back from all of `in`, into all of `levels` and the first plane_bytes(levels.size(),
// 1) bytes of `signs`; most must fit in a Level. False if `in` is nothing that append_levels makes
// of so many levels; what was written is then unspecified. Never out of bounds, whatever `in`
// holds.
template <class Level>
[[nodiscard]] bool take_levels(Coding coding, std::span<const std::byte> in, std::uint32_t most,
                               std::span<Level> levels, std::span<std::byte> signs);

// The most that append_levels adds for `count` levels; of `fixed`, what it adds.
std::size_t most_level_bytes(Coding coding, std::size_t count, std::uint32_t most);

// Clears the signs of the levels that are 0, and the bits after the last level: what take_levels
// gives at the other end.
template <class Level>
void drop_signs_of_zeros(std::span<const Level> levels, std::span<std::byte> signs);

// The empirical entropy of the signed symbols, times their number: what no code of one symbol after
// another beats.
template <class Level>
double symbol_entropy_bits(std::span<const Level> levels, std::span<const std::byte> signs);

}  // namespace ticopd
