#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "ticopd/codecs/bit_stream.hpp"

namespace ticopd {

// Elias' omega code of n >= 1 (P. Elias, "Universal codeword sets", 1975): n in binary; before it
// the number of its bits minus one, coded the same way, down to 1, which is not written; at the end
// a 0. The highest bit of each number comes first, here in the lowest free bit of the stream.
struct Omega {
  explicit constexpr Omega(std::uint64_t n) {
    while (n > 1) {
      const auto width = static_cast<unsigned>(std::bit_width(n));
      code <<= width;
      for (unsigned i = 0; i < width; ++i) code |= (n >> i & 1) << (width - 1 - i);
      length += width;
      n = width - 1;
    }
  }
  std::uint64_t code = 0;  // the first bit lowest
  unsigned length = 1;     // 47 for n < 2^35, which is longer than rows are
};

// Reads numbers bit by bit, and counts the bits.
class OmegaReader {
 public:
  explicit OmegaReader(std::span<const std::byte> in) : in_(in), reader_(in) {}

  std::uint64_t bit() {
    ++bits_;
    return reader_.get(1);
  }

  // Returns 0 for a number of 2^35 or more. Past the end every number is 1.
  std::uint64_t number() {
    std::uint64_t n = 1;
    while (bit() == 1) {
      if (n > 34) return 0;
      std::uint64_t next = 1;
      for (std::uint64_t i = 0; i < n; ++i) next = next << 1 | bit();
      n = next;
    }
    return n;
  }

  // True if all of `in` was read and the bits after the last one are zero.
  bool at_end() const {
    return (bits_ + 7) / 8 == in_.size() &&
           (bits_ % 8 == 0 || std::to_integer<unsigned>(in_.back()) >> bits_ % 8 == 0);
  }

 private:
  std::span<const std::byte> in_;
  BitReader reader_;
  std::uint64_t bits_ = 0;
};

// Writes for each non-zero level: the gap from the one before (at least 1; the first counts from
// coordinate -1), its sign, the level. A gap that leads to coordinate d ends the row.
template <class Level>
class EliasCode {
 public:
  template <class Put>
  static void write(std::span<const Level> levels, std::span<const std::byte> signs, Put put) {
    std::size_t next = 0;  // the coordinate that a gap of 1 leads to
    for (std::size_t k = 0; k < levels.size(); ++k) {
      if (levels[k] == 0) continue;
      const Omega gap(k + 1 - next), level(levels[k]);
      put(gap.code, gap.length);
      put(std::to_integer<std::uint64_t>(signs[k / 8]) >> k % 8 & 1, 1u);
      put(level.code, level.length);
      next = k + 1;
    }
    const Omega gap(levels.size() + 1 - next);
    put(gap.code, gap.length);
  }

  [[nodiscard]] static bool read(std::span<const std::byte> in, std::uint32_t most,
                                 std::span<Level> levels, std::span<std::byte> signs) {
    std::ranges::fill(levels, Level{0});
    std::ranges::fill(signs, std::byte{0});
    OmegaReader reader(in);
    for (std::size_t next = 0;;) {
      const std::uint64_t gap = reader.number();
      if (gap == 0 || gap > levels.size() + 1 - next) return false;
      const std::size_t k = next + gap - 1;
      if (k == levels.size()) return reader.at_end();
      signs[k / 8] |= static_cast<std::byte>(reader.bit() << k % 8);
      const std::uint64_t level = reader.number();
      if (level == 0 || level > most) return false;
      levels[k] = static_cast<Level>(level);
      next = k + 1;
    }
  }
};

}  // namespace ticopd
