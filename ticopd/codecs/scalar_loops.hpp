#pragma once

#include <algorithm>
#include <cstdint>

#include "ticopd/codecs/arithmetic/magnitude.hpp"
#include "ticopd/codecs/arithmetic/measures.hpp"
#include "ticopd/codecs/arithmetic/rounding.hpp"
#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/source.hpp"
#include "ticopd/numeric/noise.hpp"
#include "ticopd/numeric/sum.hpp"

namespace ticopd {

// Codecs walk a row in stretches that are short enough for the L1 cache: each loop still finds
// there what the loop before it wrote. A stretch is a whole number of blocks of every loop below.
inline constexpr std::size_t codec_stretch = 2048;

// The loops of qsgd and sign, one coordinate at a time. They are the reference for
// docs/wire_format.md: tests compare VectorLoops with them. Rows of double and machines without
// vectors use them too. `Level` is std::uint8_t if levels have at most 8 bits, else std::uint16_t.
template <class T>
struct ScalarLoops {
  static double sum_of_squares(Source<T> v) {
    return tree_sum(v.size(), [v](std::size_t k) { return SumOfSquares::term(v[k]); });
  }

  static double sum_of_magnitudes(Source<T> v) {
    return tree_sum(v.size(), [v](std::size_t k) { return SumOfMagnitudes::term(v[k]); });
  }

  // Draws the noise words of the coordinates first ... first + count - 1; `first` is a multiple of
  // four. `out` must have room for a whole stretch, because more than `count` words may be written.
  static void draw(const MessageId& message, std::size_t first, std::size_t count,
                   std::uint32_t* out) {
    for (std::size_t j = 0; j < count; j += 4) {
      const Noise::Block block = Noise{message}.block(static_cast<std::uint32_t>((first + j) / 4));
      std::copy(block.begin(), block.end(), out + j);
    }
  }

  template <class Level>
  static void quantise(Source<T> v, const std::uint32_t* noise, const Scale<T>& by, Level* levels) {
    for (std::size_t k = 0; k < v.size(); ++k)
      levels[k] = static_cast<Level>(by.level(v[k], noise[k]));
  }

  // q_k = level times unit, negated if its bit of the sign plane is set; `first` is the bit of
  // q[0].
  template <class Level>
  static void dequantise(const Level* levels, const std::byte* signs, std::size_t first, T unit,
                         std::span<T> q) {
    const T signed_unit[2] = {unit, -unit};  // signs are coin flips: no branch on them
    for (std::size_t k = 0; k < q.size(); ++k)
      q[k] = level_value(levels[k], signed_unit[sign_bit(signs, first + k)]);
  }

  // Writes a plane of signs, 1 for negative.
  static void take_signs(Source<T> v, std::byte* out) {
    for (std::size_t first = 0; first < v.size(); first += 8) {
      unsigned bits = 0;
      for (std::size_t j = 0; j < 8 && first + j < v.size(); ++j)
        bits |= unsigned{is_negative(v[first + j])} << j;
      out[first / 8] = static_cast<std::byte>(bits);
    }
  }

  // q_k = value, negated if its bit of the sign plane is set.
  static void give_signs(const std::byte* signs, T value, std::span<T> q) {
    const T signed_value[2] = {value, -value};
    for (std::size_t k = 0; k < q.size(); ++k) q[k] = signed_value[sign_bit(signs, k)];
  }

  template <class Level>
  static void pack(std::span<const Level> levels, unsigned bits, std::byte* out) {
    pack_fields(levels, bits, {out, plane_bytes(levels.size(), bits)});
  }

  template <class Level>
  static void unpack(const std::byte* in, unsigned bits, std::span<Level> levels) {
    unpack_fields({in, plane_bytes(levels.size(), bits)}, bits, levels);
  }

 private:
  static unsigned sign_bit(const std::byte* signs, std::size_t k) {
    return std::to_integer<unsigned>(signs[k / 8]) >> k % 8 & 1;
  }
};

}  // namespace ticopd
