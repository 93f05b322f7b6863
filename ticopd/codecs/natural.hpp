#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/levels.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/codecs/vector_loops.hpp"

namespace ticopd {

// Random rounding to a power of two: |v_k| = 2^e (1 + f) becomes 2^(e + 1) with probability f, else
// 2^e. The powers are those of float's normal numbers, in double runs as well: below 2^-126 it is 0
// or 2^-126 at random, and a row with a magnitude above 2^127 is refused.
// S. Horvath, C.-Y. Ho, L. Horvath, A. N. Sahu, M. Canini, P. Richtarik, "Natural Compression for
// Distributed Deep Learning", 2019. Written from code that cites the paper (GRACE), not from its
// text.
//
// Payload: a plane of exponents (8 bits: 0 is zero, c is 2^(c - 127)), then a plane of signs. Other
// codings: the largest exponent in a byte, then levels, 0 for zero and 1 + largest - c otherwise.
template <class T>
class Natural final : public Codec<T> {
 public:
  static constexpr unsigned most_code = 254;  // 255 would be float's infinities

  explicit Natural(const CodecOptions& options) : coding_(options.coding) {}

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override {
    if (!(largest_magnitude(Source<T>(v)) <= T{0x1p127})) return false;  // a NaN as well
    const std::size_t d = v.size();
    std::vector<std::uint8_t> codes(d);
    for (std::size_t first = 0; first < d; first += codec_stretch) {
      const auto some = v.subspan(first, std::min(codec_stretch, d - first));
      alignas(64) std::uint32_t noise[codec_stretch];
      BestLoops<T>::draw(message, first, some.size(), noise);
      for (std::size_t k = 0; k < some.size(); ++k)
        codes[first + k] = static_cast<std::uint8_t>(code_of(some[k], noise[k] >> 8));
    }
    Bytes signs(plane_bytes(d, 1));
    BestLoops<T>::take_signs(Source<T>(v), signs.data());
    out.clear();
    if (coding_ == Coding::fixed) {
      append_levels<std::uint8_t>(coding_, codes, signs, most_code, out);
    } else {
      const std::uint8_t largest = d == 0 ? 0 : *std::max_element(codes.begin(), codes.end());
      out.push_back(std::byte{largest});
      turn(largest, codes);
      append_levels<std::uint8_t>(coding_, codes, signs, most_level(largest), out);
    }
    return true;
  }

  bool decode(std::span<const std::byte> in, const MessageId&, std::span<T> q) const override {
    const std::size_t d = q.size();
    std::vector<std::uint8_t> codes(d);
    Bytes signs(plane_bytes(d, 1));
    if (coding_ == Coding::fixed) {
      if (!take_levels<std::uint8_t>(coding_, in, most_code, codes, signs)) return false;
    } else {
      if (in.empty()) return false;
      const auto largest = std::to_integer<std::uint8_t>(in[0]);
      if (largest > most_code ||
          !take_levels<std::uint8_t>(coding_, in.subspan(1), most_level(largest), codes, signs))
        return false;
      // Level 1 is the largest: it is there, unless all is zero.
      if ((std::find(codes.begin(), codes.end(), 1) != codes.end()) != (largest > 0)) return false;
      turn(largest, codes);
    }
    for (std::size_t k = 0; k < d; ++k) {
      const std::uint32_t sign = std::to_integer<std::uint32_t>(signs[k / 8]) >> k % 8 & 1;
      q[k] = static_cast<T>(std::bit_cast<float>(sign << 31 | std::uint32_t{codes[k]} << 23));
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return (coding_ != Coding::fixed) + most_level_bytes(coding_, d, most_code);
  }
  bool fixed_length() const override { return coding_ == Coding::fixed; }
  double paper_bits(std::size_t d) const override { return 9.0 * static_cast<double>(d); }

  // f (1 - f) 4^e over (1 + f)^2 4^e is largest at f = 1/3. (Below 2^-126 the error is at most half
  // of that a coordinate, which no row that matters notices.)
  ErrorBound error_bound(std::size_t) const override {
    return {.relative = 0.125, .unbiased = true};
  }

 private:
  // Codes to levels and levels to codes.
  static void turn(std::uint8_t largest, std::span<std::uint8_t> codes) {
    for (std::uint8_t& c : codes) c = c == 0 ? 0 : static_cast<std::uint8_t>(1 + largest - c);
  }

  static std::uint32_t most_level(std::uint8_t largest) {
    return std::max<std::uint32_t>(1, largest);
  }

  // `u` is the draw times 2^24. A float's f has 23 bits, so the odds are exact; a double's are
  // rounded up to a multiple of 2^-24. A float below the normal numbers needs no case of its own: f
  // is then its share of 2^-126, and the code above 0 is 2^-126.
  static unsigned code_of(T x, std::uint32_t u) {
    if constexpr (sizeof(T) == 4) {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(std::abs(x));
      return (bits >> 23) + (u < (bits & 0x7fffffu) << 1 ? 1u : 0u);
    } else {
      const std::uint64_t bits = std::bit_cast<std::uint64_t>(std::abs(x));
      const std::uint64_t exponent = bits >> 52, f = bits & 0xfffffffffffffull;
      constexpr std::uint64_t lowest = 1023 - 127;  // of the code 0
      if (exponent <= lowest) return u < std::abs(x) * 0x1p150 ? 1u : 0u;
      return static_cast<unsigned>(exponent - lowest) + (std::uint64_t{u} << 28 < f ? 1u : 0u);
    }
  }

  Coding coding_;
};

}  // namespace ticopd
