#pragma once

#include <algorithm>
#include <cstdint>

#include "ticopd/codecs/arithmetic/powers.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/levels.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/codecs/vector_loops.hpp"

namespace ticopd {

// Random rounding to a power of two: |v_k| = 2^e (1 + f) becomes 2^(e + 1) with probability f, else
// 2^e. The powers are those of float's normal numbers, in double runs too. A magnitude below 2^-126
// becomes 0 or 2^-126 at random; a row with a magnitude above 2^127 is rejected.
// S. Horvath, C.-Y. Ho, L. Horvath, A. N. Sahu, M. Canini, P. Richtarik, "Natural Compression for
// Distributed Deep Learning", 2019. Written from code that cites the paper (GRACE), not from its
// text.
//
// Payload: a plane of exponents (8 bits: 0 is zero, c is 2^(c - 127)), then a plane of signs. With
// other codings: one byte for the largest exponent, then levels: 0 for zero, else 1 + largest - c.
template <class T>
class Natural final : public Codec<T> {
 public:
  static constexpr CodecAbout about{
      .name = "natural",
      .options = {"coding"},
      .summary = "random rounding to powers of two: signs and exponents",
      .may_follow = true};
  static constexpr unsigned most_code = most_power_code;

  explicit Natural(const CodecOptions& options) : coding_(options.coding) {}

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override {
    if (!(largest_magnitude(Source<T>(v)) <= T{largest_power})) return false;  // rejects NaN too
    const std::size_t d = v.size();
    std::vector<std::uint8_t> codes(d);
    for (std::size_t first = 0; first < d; first += codec_stretch) {
      const auto some = v.subspan(first, std::min(codec_stretch, d - first));
      alignas(64) std::uint32_t noise[codec_stretch];
      BestLoops<T>::draw(message, first, some.size(), noise);
      for (std::size_t k = 0; k < some.size(); ++k)
        codes[first + k] = static_cast<std::uint8_t>(power_code(some[k], noise[k]));
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
      append_levels<std::uint8_t>(coding_, codes, signs, most_turned_power(largest), out);
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
          !take_levels<std::uint8_t>(coding_, in.subspan(1), most_turned_power(largest), codes,
                                     signs))
        return false;
      // Level 1 is the largest exponent: it must occur, unless all is zero.
      if ((std::find(codes.begin(), codes.end(), 1) != codes.end()) != (largest > 0)) return false;
      turn(largest, codes);
    }
    for (std::size_t k = 0; k < d; ++k) {
      const bool negative = (std::to_integer<unsigned>(signs[k / 8]) >> k % 8 & 1) != 0;
      q[k] = static_cast<T>(power_value(codes[k], negative));
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return (coding_ != Coding::fixed) + most_level_bytes(coding_, d, most_code);
  }
  bool fixed_length() const override { return coding_ == Coding::fixed; }
  double paper_bits(std::size_t d) const override { return 9.0 * static_cast<double>(d); }

  // f (1 - f) 4^e / ((1 + f)^2 4^e) is largest at f = 1/3. (Below 2^-126 the error of a coordinate
  // is at most half of 2^-126, which is negligible in every practical row.)
  ErrorBound error_bound(std::size_t) const override {
    return {.relative = 0.125, .unbiased = true};
  }

 private:
  // Turns codes into levels and levels into codes: it is its own inverse.
  static void turn(std::uint8_t largest, std::span<std::uint8_t> codes) {
    for (std::uint8_t& c : codes) c = static_cast<std::uint8_t>(turned_power(c, largest));
  }

  Coding coding_;
};

}  // namespace ticopd
