#include "ticopd/codecs/frequencies.hpp"

#include <algorithm>
#include <numeric>

namespace ticopd {
namespace {

template <class Put>
void put_gamma(std::uint32_t v, Put put) {
  const unsigned n = exponent_of(v);
  put(std::uint64_t{1} << n, n + 1);
  put(v - (1u << n), n);
}

// Returns 0 if the code is longer than any in a table.
std::uint32_t get_gamma(BitReader& in) {
  unsigned n = 0;
  while (in.get(1) == 0)
    if (++n > frequency_bits) return 0;
  return (1u << n) + static_cast<std::uint32_t>(in.get(n));
}

// Passes the fields of the table to put(field, bits): first the number of tokens, then per token
// the step from the previous token and the frequency. A frequency is the change of its exponent,
// then the bits below its leading one. The last frequency is not written: it is the rest of the
// sum.
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
    put_gamma(exponent_change(e, exponent), put);
    put(f - (1u << e), e);
    exponent = e;
  }
}

}  // namespace

Frequencies normalise(std::span<const std::uint64_t> counts) {
  const std::uint64_t all = std::reduce(counts.begin(), counts.end());
  const auto zeros = std::ranges::count(counts, std::uint64_t{0});
  // Every token that occurs gets 1 first. The rest of the sum is shared in proportion to the
  // counts.
  const std::uint64_t share = frequency_sum - (counts.size() - static_cast<std::size_t>(zeros));
  Frequencies f{};
  std::uint32_t left = frequency_sum;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] == 0) continue;
    f[t] = token_frequency(counts[t], share, all);
    left -= f[t];
  }
  // The most frequent token, the first of equals, takes what rounding left.
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
      if (change == 0 || e >= frequency_bits) return false;  // e < 0 wraps around to a large e
      f = (1u << e) + static_cast<std::uint32_t>(reader.get(e));
      if (f >= left) return false;
      exponent = e;
    }
    frequencies[next - 1] = f;
    left -= f;
  }
  return reader.ok();
}

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
  if (!alone) ans_bytes = ans_bytes_of(cost);
}

std::size_t level_bytes(std::span<const std::uint64_t> counts, std::uint32_t most) {
  const std::uint64_t d = std::reduce(counts.begin(), counts.end());
  const auto bits = static_cast<unsigned>(std::bit_width(most));
  const std::size_t planes = 1 + plane_bytes(d, bits) + plane_bytes(d, 1);
  if (d == 0) return planes;
  return std::min(planes, EntropyLayout(counts, normalise(counts)).bytes());
}

}  // namespace ticopd
