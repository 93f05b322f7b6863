#pragma once

#include <bit>
#include <cstdint>

namespace ticopd {

// The lengths of an entropy-coded message (frequencies.hpp): integers alone, so that any machine
// finds the same.
inline constexpr unsigned frequency_bits = 14;
inline constexpr std::uint32_t frequency_sum = 1u << frequency_bits;
inline constexpr unsigned cost_bits = 20;  // of fraction

constexpr std::uint32_t exponent_of(std::uint32_t v) {
  return static_cast<std::uint32_t>(std::bit_width(v)) - 1;
}

// Elias' gamma code of v >= 1: as many zeros as v has bits after its first, a one, those bits.
constexpr std::uint32_t gamma_bits(std::uint32_t v) {
  return 2 * exponent_of(v) + 1;
}

// How a table says the exponent of a frequency after the one before: a number of at least 1.
constexpr std::uint32_t exponent_change(std::uint32_t exponent, std::uint32_t before) {
  return exponent >= before ? 2 * (exponent - before) + 1 : 2 * (before - exponent);
}

// The frequency of a token that occurs `count` times in `all`, beside others: `share` is what
// frequency_sum leaves after 1 for each. The first of the most frequent takes what rounding leaves.
constexpr std::uint32_t token_frequency(std::uint64_t count, std::uint64_t share,
                                        std::uint64_t all) {
  return static_cast<std::uint32_t>(1 + count * share / all);
}

// log2(f) in 1 / 2^20, rounded down: the mantissa is squared, and each carry is a bit of the
// result.
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

// A bound on what range-ANS spends on one token of this frequency, in bits / 2^20. With x the
// state, it makes x' <= x 2^14 / f + 2^14 - f of it, and x >= f 2^9 then: so its logarithm grows by
// at most log2(2^14 / f) + (2^14 - f) 2^-23 log2(e), and log2(e) / 8 < 185/1024.
constexpr std::uint64_t token_cost(std::uint32_t frequency) {
  const std::uint32_t others = frequency_sum - frequency;
  if (others == 0) return 0;
  return (std::uint64_t{frequency_bits} << cost_bits) - log2_below(frequency) +
         (others * 185 >> 10) + 1;
}

// Bytes that range-ANS needs for tokens of these costs together. The states start at 2^46 and end
// at 2^46 or above. Their logarithm grows by no more than the costs, and shrinks by 8 for every
// byte that leaves: so there are never more bytes than an eighth of the costs.
inline constexpr std::uint32_t ans_states = 2;
inline constexpr std::uint32_t ans_state_bytes = ans_states * sizeof(std::uint32_t);

constexpr std::uint64_t ans_bytes_of(std::uint64_t cost) {
  return ans_state_bytes + (cost >> (cost_bits + 3));
}

}  // namespace ticopd
