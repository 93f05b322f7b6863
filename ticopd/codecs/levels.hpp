#pragma once

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// Turns the symbols of a quantiser into bytes: levels 0 ... most (most < 2^16) and a plane of signs
// (one bit per coordinate, 1 is negative, as take_signs makes it). The sign of a level 0 is not
// sent and decodes as 0. docs/wire_format.md specifies the formats:
//   fixed    a plane of levels of bit_width(most) bits, a plane of signs
//   entropy  a table of frequencies, then range-ANS (range_ans.hpp); or the planes, if they are not
//            longer. The result is at most one byte longer than `fixed`
//   elias    gaps to the non-zero levels, their signs and the levels, in Elias' omega code (QSGD)
// `Level` is std::uint8_t or std::uint16_t.

// Appends the bytes of the levels to `out`. `signs` has at least one bit per level. The bits of
// zero levels and the bits after the last level may hold anything.
template <class Level>
void append_levels(Coding coding, std::span<const Level> levels, std::span<const std::byte> signs,
                   std::uint32_t most, Bytes& out);

// Reads the levels back from all of `in`, into all of `levels` and the first
// plane_bytes(levels.size(), 1) bytes of `signs`. `most` must fit in a Level. Returns false if
// append_levels cannot have produced `in` from this many levels; the output is then unspecified.
// Never reads or writes out of bounds, whatever `in` holds.
template <class Level>
[[nodiscard]] bool take_levels(Coding coding, std::span<const std::byte> in, std::uint32_t most,
                               std::span<Level> levels, std::span<std::byte> signs);

// The most bytes that append_levels adds for `count` levels; exact for `fixed`.
std::size_t most_level_bytes(Coding coding, std::size_t count, std::uint32_t most);

// Clears the signs of zero levels and the bits after the last level. The receiver gets the same
// plane from take_levels.
template <class Level>
void drop_signs_of_zeros(std::span<const Level> levels, std::span<std::byte> signs);

// The empirical entropy of the signed symbols, times their number: a lower bound for every code
// that codes one symbol at a time.
template <class Level>
double symbol_entropy_bits(std::span<const Level> levels, std::span<const std::byte> signs);

}  // namespace ticopd
