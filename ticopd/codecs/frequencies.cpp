#include "ticopd/codecs/frequencies.hpp"

#include <algorithm>
#include <numeric>

#include "ticopd/codecs/range_ans.hpp"

namespace ticopd {
namespace {

constexpr unsigned cost_bits = 20;  // of fraction

// Elias' gamma code of v >= 1: as many zeros as v has bits after its first, a one, those bits.
template <class Put>
void put_gamma(std::uint32_t v, Put put) {
  const auto n = static_cast<unsigned>(std::bit_width(v)) - 1;
  put(std::uint64_t{1} << n, n + 1);
  put(v - (1u << n), n);
}

// 0 if it is longer than any that a table has.
std::uint32_t get_gamma(BitReader& in) {
  unsigned n = 0;
  while (in.get(1) == 0)
    if (++n > frequency_bits) return 0;
  return (1u << n) + static_cast<std::uint32_t>(in.get(n));
}

unsigned exponent_of(std::uint32_t frequency) {
  return static_cast<unsigned>(std::bit_width(frequency)) - 1;
}

// Hands the fields of the table to put(field, bits): how many tokens there are; of each the step
// from the one before, and its frequency: the change of its exponent, then the bits below its
// first. The last frequency is what is left of the sum.
template <class Put>
void write_table(const Frequencies& frequencies, Put put) {
  const auto used = most_tokens - static_cast<std::size_t>(std::ranges::count(frequencies, 0u));
  put_gamma(static_cast<std::uint32_t>(used), put);
  std::uint32_t next = 0, left = frequency_sum;
  unsigned exponent = frequency_bits - 1;
  for (std::uint32_t t = 0; t < most_tokens; ++t) {
    const std::uint32_t f = frequencies[t];
    if (f == 0) continue;
    put_gamma(t - next + 1, put);
    next = t + 1;
    if (f == left) return;
    left -= f;
    const unsigned e = exponent_of(f);
    put_gamma(e >= exponent ? 2 * (e - exponent) + 1 : 2 * (exponent - e), put);
    put(f - (1u << e), e);
    exponent = e;
  }
}

// log2(f) in 1 / 2^20, rounded down: the mantissa is squared, and each carry is a bit of the
// result.
std::uint64_t log2_below(std::uint32_t f) {
  const unsigned e = exponent_of(f);
  std::uint64_t log = e, m = std::uint64_t{f} << (31 - e);  // in [2^31, 2^32)
  for (unsigned i = 0; i < cost_bits; ++i) {
    m = m * m >> 31;
    const std::uint64_t carry = m >> 32;
    m >>= carry;
    log = log << 1 | carry;
  }
  return log;
}

}  // namespace

Frequencies normalise(std::span<const std::uint64_t> counts) {
  const std::uint64_t all = std::reduce(counts.begin(), counts.end());
  const auto zeros = std::ranges::count(counts, std::uint64_t{0});
  const std::uint64_t share = frequency_sum - (counts.size() - static_cast<std::size_t>(zeros));
  Frequencies f{};
  std::uint32_t left = frequency_sum;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] == 0) continue;
    f[t] = static_cast<std::uint32_t>(1 + counts[t] * share / all);
    left -= f[t];
  }
  // The first of the most frequent tokens takes what rounding left.
  f[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())] += left;
  return f;
}

std::size_t table_bits(const Frequencies& frequencies) {
  std::size_t bits = 0;
  write_table(frequencies, [&](std::uint64_t, unsigned n) { bits += n; });
  return bits;
}

void put_table(const Frequencies& frequencies, std::span<std::byte> out) {
  BitWriter writer(out);
  write_table(frequencies, [&](std::uint64_t field, unsigned n) { writer.put(field, n); });
  writer.finish();
}

bool take_table(std::span<const std::byte> in, std::uint32_t most, Frequencies& frequencies) {
  frequencies.fill(0);
  BitReader reader(in);
  const std::uint32_t tokens = token_of(most) + 1, used = get_gamma(reader);
  if (used == 0 || used > tokens) return false;
  std::uint32_t next = 0, left = frequency_sum;
  unsigned exponent = frequency_bits - 1;
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint32_t step = get_gamma(reader);
    if (step == 0 || step > tokens - next) return false;
    next += step;
    std::uint32_t f = left;
    if (i + 1 < used) {
      const std::uint32_t change = get_gamma(reader);
      const unsigned e = change % 2 == 1 ? exponent + change / 2 : exponent - change / 2;
      if (change == 0 || e >= frequency_bits) return false;  // below zero is above it, too
      f = (1u << e) + static_cast<std::uint32_t>(reader.get(e));
      if (f >= left) return false;
      exponent = e;
    }
    frequencies[next - 1] = f;
    left -= f;
  }
  return reader.ok();
}

// With x the state, range-ANS makes x' <= x 2^14 / f + 2^14 - f of it, and x >= f 2^9 then: so its
// logarithm grows by at most log2(2^14 / f) + (2^14 - f) 2^-23 log2(e), and log2(e) / 8 < 185/1024.
std::uint64_t token_cost(std::uint32_t frequency) {
  const std::uint64_t others = frequency_sum - frequency;
  if (others == 0) return 0;
  return (std::uint64_t{frequency_bits} << cost_bits) - log2_below(frequency) +
         (others * 185 >> 10) + 1;
}

// Together the states start at 2^46 and end at 2^46 or above. Their logarithm grows by no more than
// the costs, and shrinks by 8 for every byte that leaves: so there are never more bytes than an
// eighth of the costs.
EntropyLayout::EntropyLayout(std::span<const std::uint64_t> counts, const Frequencies& frequencies)
    : table_bytes((table_bits(frequencies) + 7) / 8), ans_bytes(0), raw_bits(0) {
  std::uint64_t cost = 0;
  bool alone = false;
  for (std::uint32_t t = 0; t < counts.size(); ++t) {
    if (counts[t] == 0) continue;
    cost += counts[t] * token_cost(frequencies[t]);
    alone = frequencies[t] == frequency_sum;
    if (t > 0) raw_bits += counts[t] * (1 + low_bits(t));
  }
  if (!alone) ans_bytes = ans_state_bytes + (cost >> (cost_bits + 3));
}

std::size_t level_bytes(std::span<const std::uint64_t> counts, std::uint32_t most) {
  const std::uint64_t d = std::reduce(counts.begin(), counts.end());
  const auto bits = static_cast<unsigned>(std::bit_width(most));
  const std::size_t planes = 1 + plane_bytes(d, bits) + plane_bytes(d, 1);
  if (d == 0) return planes;
  return std::min(planes, EntropyLayout(counts, normalise(counts)).bytes());
}

}  // namespace ticopd
