#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "ticopd/codecs/arithmetic/magnitude.hpp"

namespace ticopd {

// Random rounding to powers of two (natural.hpp). A code is the exponent field of a float: 0 is
// zero, c is 2^(c - 127).
inline constexpr std::uint32_t most_power_code = 254;  // 255 would be float's infinities
inline constexpr double largest_power = 0x1p127;

// Rounds up if the draw, 24 bits of a noise word, is below f, where |v| = 2^e (1 + f). A float's f
// has 23 bits, so its probabilities are exact; a double's are rounded up to a multiple of 2^-24. A
// subnormal float needs no case of its own: f is then its fraction of 2^-126, and the code above 0
// is 2^-126.
template <class T>
constexpr std::uint32_t power_code(T v, std::uint32_t word) {
  const std::uint32_t u = word >> 8;
  const BitsOf<T> bits = magnitude_bits(v);
  if constexpr (sizeof(T) == 4) {
    return (bits >> 23) + (u < (bits & 0x7fffffu) << 1 ? 1u : 0u);
  } else {
    const std::uint64_t exponent = bits >> 52, f = bits & 0xfffffffffffffull;
    constexpr std::uint64_t lowest = 1023 - 127;  // the exponent of code 0
    if (exponent <= lowest) return u < std::abs(v) * 0x1p150 ? 1u : 0u;
    return static_cast<std::uint32_t>(exponent - lowest) + (std::uint64_t{u} << 28 < f ? 1u : 0u);
  }
}

constexpr float power_value(std::uint32_t code, bool negative) {
  return std::bit_cast<float>((negative ? 0x80000000u : 0u) | code << 23);
}

// Codings count from the largest code of a row: 0 stays, the largest becomes 1. The map is its own
// inverse.
constexpr std::uint32_t turned_power(std::uint32_t code, std::uint32_t largest) {
  return code == 0 ? 0 : 1 + largest - code;
}
constexpr std::uint32_t most_turned_power(std::uint32_t largest) {
  return largest < 1 ? 1 : largest;
}

}  // namespace ticopd
