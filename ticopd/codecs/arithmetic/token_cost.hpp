#pragma once

#include <bit>
#include <cstdint>

namespace ticopd {

// The lengths of an entropy-coded message (frequencies.hpp), in integers only, so that every
// machine computes the same.
inline constexpr unsigned frequency_bits = 14;
inline constexpr std::uint32_t frequency_sum = 1u << frequency_bits;
inline constexpr unsigned cost_bits = 20;  // fraction bits of a cost

constexpr std::uint32_t exponent_of(std::uint32_t v) {
  return static_cast<std::uint32_t>(std::bit_width(v)) - 1;
}

// The length of Elias' gamma code of v >= 1: with n = bit_width(v) - 1, it is n zeros, a one, and
// the n low bits of v.
constexpr std::uint32_t gamma_bits(std::uint32_t v) {
  return 2 * exponent_of(v) + 1;
}

// How a table codes the change of an exponent from one frequency to the next: a number of at least
// 1.
constexpr std::uint32_t exponent_change(std::uint32_t exponent, std::uint32_t before) {
  return exponent >= before ? 2 * (exponent - before) + 1 : 2 * (before - exponent);
}

// The frequency of a token that occurs `count` times in `all`. Every token gets 1 first, and
// `share` is the rest of frequency_sum. The first of the most frequent tokens takes what rounding
// leaves.
constexpr std::uint32_t token_frequency(std::uint64_t count, std::uint64_t share,
                                        std::uint64_t all) {
  return static_cast<std::uint32_t>(1 + count * share / all);
}

// log2(f) in units of 2^-20, rounded down. Each step squares the mantissa; the carry is the next
// bit of the result.
constexpr std::uint32_t log2_below(std::uint32_t f) {
  const std::uint32_t e = exponent_of(f);
  std::uint32_t log = e;
  std::uint64_t m = std::uint64_t{f} << (31 - e);  // in [2^31, 2^32)
  for (unsigned i = 0; i < cost_bits; ++i) {
    m = m * m >> 31;
    const auto carry = static_cast<std::uint32_t>(m >> 32);
    m >>= carry;
    log = log << 1 | carry;
  }
  return log;
}

// An upper bound on the cost of one token of this frequency in range-ANS, in units of 2^-20 bit.
// The state x becomes x' <= x 2^14 / f + 2^14 - f, where x >= f 2^9. So log2 of the state grows by
// at most log2(2^14 / f) + (2^14 - f) 2^-23 log2(e), and log2(e) / 8 < 185/1024.
constexpr std::uint64_t token_cost(std::uint32_t frequency) {
  const std::uint32_t others = frequency_sum - frequency;
  if (others == 0) return 0;
  return (std::uint64_t{frequency_bits} << cost_bits) - log2_below(frequency) +
         (others * 185 >> 10) + 1;
}

// The bytes that range-ANS needs for tokens with this total cost. The product of the two states
// starts at 2^46 and ends at 2^46 or above. Its logarithm grows by no more than the costs and
// shrinks by 8 for every byte written. So the number of bytes is never more than an eighth of the
// costs.
inline constexpr std::uint32_t ans_states = 2;
inline constexpr std::uint32_t ans_state_bytes = ans_states * sizeof(std::uint32_t);

constexpr std::uint64_t ans_bytes_of(std::uint64_t cost) {
  return ans_state_bytes + (cost >> (cost_bits + 3));
}

}  // namespace ticopd
