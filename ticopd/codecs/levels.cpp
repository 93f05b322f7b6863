#include "ticopd/codecs/levels.hpp"

#include <cmath>

#include "ticopd/codecs/elias.hpp"
#include "ticopd/codecs/range_ans.hpp"

namespace ticopd {
namespace {

constexpr std::byte as_planes{0}, as_tokens{1};  // the first byte of an entropy-coded message

unsigned width_of(std::uint32_t most) {
  return static_cast<unsigned>(std::bit_width(most));
}

std::size_t planes_bytes(std::size_t count, std::uint32_t most) {
  return plane_bytes(count, width_of(most)) + plane_bytes(count, 1);
}

// At most 64 coordinates, so that their signs are one word.
template <class Span>
Span chunk_of(Span row, std::size_t first) {
  return row.subspan(first, std::min(chunk, row.size() - first));
}

// Coding::fixed.
template <class Level>
void put_planes(std::span<const Level> levels, std::span<const std::byte> signs, std::uint32_t most,
                std::span<std::byte> out) {
  const unsigned bits = width_of(most);
  const std::span<std::byte> plane = out.subspan(plane_bytes(levels.size(), bits));
  if (bits > 0) pack_fields(levels, bits, out.first(out.size() - plane.size()));
  std::copy_n(signs.begin(), plane.size(), plane.begin());
  drop_signs_of_zeros(levels, plane);
}

// Coding::fixed. Levels above `most` and signs of zeros are rejected: no writer makes them.
template <class Level>
bool take_planes(std::span<const std::byte> in, std::uint32_t most, std::span<Level> levels,
                 std::span<std::byte> signs) {
  const unsigned bits = width_of(most);
  if (in.size() != planes_bytes(levels.size(), most)) return false;
  const auto plane = in.first(plane_bytes(levels.size(), bits));
  std::ranges::copy(in.subspan(plane.size()), signs.begin());
  if (!padding_is_zero(plane, levels.size(), bits) || !padding_is_zero(signs, levels.size(), 1))
    return false;
  if (bits > 0)
    unpack_fields(plane, bits, levels);
  else
    std::ranges::fill(levels, Level{0});
  std::uint32_t largest = 0;
  for (const Level level : levels) largest = std::max<std::uint32_t>(largest, level);
  if (largest > most) return false;
  std::uint64_t of_zeros = 0;
  for (std::size_t k = 0; k < levels.size(); k += chunk)
    of_zeros |= load_word(signs.subspan(k / 8)) &
                ~nonzero_mask(std::span<const Level>(chunk_of(levels, k)));
  return of_zeros == 0;
}

// Writes for each non-zero level its sign, then the low bits that its token leaves out.
template <class Level>
void put_raw(std::span<const Level> levels, std::span<const std::byte> signs,
             std::span<std::byte> out) {
  BitWriter writer(out);
  for (std::size_t k = 0; k < levels.size(); k += chunk) {
    const std::uint64_t word = load_word(signs.subspan(k / 8));
    for (std::uint64_t left = nonzero_mask(chunk_of(levels, k)); left != 0; left &= left - 1) {
      const auto j = static_cast<unsigned>(std::countr_zero(left));
      writer.put(word >> j & 1, 1);
      const std::uint32_t level = levels[k + j];
      if (level >= 256) {
        const unsigned bits = low_bits(token_of(level));
        writer.put(level & ((1u << bits) - 1), bits);
      }
    }
  }
  writer.finish();
}

// Adds signs and low bits. On entry `levels` holds the lowest level of each token.
template <class Level>
bool take_raw(std::span<const std::byte> in, std::uint32_t most, std::span<Level> levels,
              std::span<std::byte> signs) {
  BitReader reader(in);
  std::uint32_t largest = 0;
  for (std::size_t k = 0; k < levels.size(); k += chunk) {
    const std::span<Level> some = chunk_of(levels, k);
    std::uint64_t word = 0;
    for (std::uint64_t left = nonzero_mask(std::span<const Level>(some)); left != 0;
         left &= left - 1) {
      const auto j = static_cast<unsigned>(std::countr_zero(left));
      word |= reader.get(1) << j;
      const std::uint32_t level = some[j];
      if (level >= 256) {
        const auto low = static_cast<std::uint32_t>(reader.get(low_bits(token_of(level))));
        largest = std::max(largest, level + low);
        some[j] = static_cast<Level>(level + low);
      }
    }
    store_word(word, signs.subspan(k / 8, plane_bytes(some.size(), 1)));
  }
  return largest <= most;
}

// Coding::entropy: tokens, or planes if these are not longer.
template <class Level>
void put_entropy(std::span<const Level> levels, std::span<const std::byte> signs,
                 std::uint32_t most, Bytes& out) {
  const std::size_t at = out.size(), planes = planes_bytes(levels.size(), most);
  const auto grow = [&](std::byte first, std::size_t bytes) {
    out.resize(at + bytes);
    out[at] = first;
    return std::span(out).subspan(at + 1);
  };
  if (levels.empty()) return void(grow(as_planes, 1));
  const TokenCounts counts = count_tokens(levels);
  const Frequencies frequencies = normalise(counts);
  const EntropyLayout layout(counts, frequencies);
  if (layout.bytes() > planes) return put_planes(levels, signs, most, grow(as_planes, 1 + planes));
  const std::span<std::byte> parts = grow(as_tokens, layout.bytes());
  put_table(frequencies, parts.first(layout.table_bytes));
  if (layout.ans_bytes > 0)
    AnsEncoder(frequencies).encode(levels, parts.subspan(layout.table_bytes, layout.ans_bytes));
  put_raw(levels, signs, parts.subspan(layout.table_bytes + layout.ans_bytes));
}

// True if the bits after the first `bits` are zero up to the end of their byte.
bool ends_with_zeros(std::span<const std::byte> in, std::size_t bits) {
  return bits % 8 == 0 || std::to_integer<unsigned>(in[bits / 8]) >> bits % 8 == 0;
}

// Each message has exactly one valid encoding. The tokens determine everything else, also the table
// and the length, so all of that is checked against them.
template <class Level>
bool take_tokens(std::span<const std::byte> in, std::uint32_t most, std::span<Level> levels,
                 std::span<std::byte> signs) {
  Frequencies frequencies;
  if (levels.empty() || !take_table(in, most, frequencies)) return false;
  const std::size_t bits = table_bits(frequencies), ans_at = (bits + 7) / 8;
  const auto alone = std::ranges::find(frequencies, frequency_sum);
  std::size_t used = 0;
  if (alone != frequencies.end())
    std::ranges::fill(
        levels,
        static_cast<Level>(lowest_level(static_cast<std::uint32_t>(alone - frequencies.begin()))));
  else if (!AnsDecoder<Level>(frequencies).decode(in.subspan(ans_at), levels, used))
    return false;
  const TokenCounts counts = count_tokens(std::span<const Level>(levels));
  const EntropyLayout layout(counts, frequencies);
  if (layout.bytes() != 1 + in.size() || in.size() >= planes_bytes(levels.size(), most))
    return false;
  const std::size_t raw_at = ans_at + layout.ans_bytes;
  if (used > layout.ans_bytes || normalise(counts) != frequencies) return false;
  const auto padding = in.subspan(ans_at + used, layout.ans_bytes - used);
  return std::ranges::count(padding, std::byte{0}) == std::ssize(padding) &&
         ends_with_zeros(in, bits) && ends_with_zeros(in.subspan(raw_at), layout.raw_bits) &&
         take_raw(in.subspan(raw_at), most, levels, signs);
}

// Coding::entropy. Planes are rejected if the writer would have chosen tokens.
template <class Level>
bool take_entropy(std::span<const std::byte> in, std::uint32_t most, std::span<Level> levels,
                  std::span<std::byte> signs) {
  if (in.empty()) return false;
  if (in[0] == as_planes)
    return take_planes(in.subspan(1), most, levels, signs) &&
           level_bytes(count_tokens(std::span<const Level>(levels)), most) == in.size();
  return in[0] == as_tokens && take_tokens(in.subspan(1), most, levels, signs);
}

// Coding::elias. The first sweep counts the bits, the second writes them.
template <class Level>
void put_elias(std::span<const Level> levels, std::span<const std::byte> signs, Bytes& out) {
  std::size_t bits = 0;
  EliasCode<Level>::write(levels, signs, [&](std::uint64_t, unsigned n) { bits += n; });
  const std::size_t at = out.size();
  out.resize(at + (bits + 7) / 8);
  BitWriter writer{std::span(out).subspan(at)};
  EliasCode<Level>::write(levels, signs,
                          [&](std::uint64_t code, unsigned n) { writer.put(code, n); });
  writer.finish();
}

}  // namespace

template <class Level>
void append_levels(Coding coding, std::span<const Level> levels, std::span<const std::byte> signs,
                   std::uint32_t most, Bytes& out) {
  if (coding == Coding::entropy) return put_entropy(levels, signs, most, out);
  if (coding == Coding::elias) return put_elias(levels, signs, out);
  const std::size_t at = out.size();
  out.resize(at + planes_bytes(levels.size(), most));
  put_planes(levels, signs, most, std::span(out).subspan(at));
}

template <class Level>
bool take_levels(Coding coding, std::span<const std::byte> in, std::uint32_t most,
                 std::span<Level> levels, std::span<std::byte> signs) {
  const auto plane = signs.first(plane_bytes(levels.size(), 1));
  if (coding == Coding::entropy) return take_entropy(in, most, levels, plane);
  if (coding == Coding::elias) return EliasCode<Level>::read(in, most, levels, plane);
  return take_planes(in, most, levels, plane);
}

// Elias: a long gap takes no more bits than the skipped coordinates would with gap 1 and level
// `most`.
std::size_t most_level_bytes(Coding coding, std::size_t count, std::uint32_t most) {
  if (coding == Coding::elias) return (count * (2 + Omega(std::max(most, 1u)).length) + 1 + 7) / 8;
  return planes_bytes(count, most) + (coding == Coding::entropy ? 1 : 0);
}

template <class Level>
void drop_signs_of_zeros(std::span<const Level> levels, std::span<std::byte> signs) {
  for (std::size_t k = 0; k < levels.size(); k += chunk) {
    const auto some = chunk_of(levels, k);
    const auto plane = signs.subspan(k / 8, plane_bytes(some.size(), 1));
    store_word(load_word(plane) & nonzero_mask(some), plane);
  }
}

template <class Level>
double symbol_entropy_bits(std::span<const Level> levels, std::span<const std::byte> signs) {
  std::vector<std::uint64_t> counts(2 * (std::size_t{1} << 8 * sizeof(Level)));
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const unsigned sign = std::to_integer<unsigned>(signs[k / 8]) >> k % 8 & 1;
    ++counts[levels[k] == 0 ? 0 : 2u * levels[k] + sign];
  }
  const double all = static_cast<double>(levels.size());
  double bits = 0;
  for (const std::uint64_t n : counts)
    if (n > 0) bits += static_cast<double>(n) * std::log2(all / static_cast<double>(n));
  return bits;
}

#define TICOPD_LEVELS(Level)                                                                     \
  template void append_levels(Coding, std::span<const Level>, std::span<const std::byte>,        \
                              std::uint32_t, Bytes&);                                            \
  template bool take_levels(Coding, std::span<const std::byte>, std::uint32_t, std::span<Level>, \
                            std::span<std::byte>);                                               \
  template void drop_signs_of_zeros(std::span<const Level>, std::span<std::byte>);               \
  template double symbol_entropy_bits(std::span<const Level>, std::span<const std::byte>)
TICOPD_LEVELS(std::uint8_t);
TICOPD_LEVELS(std::uint16_t);
#undef TICOPD_LEVELS

}  // namespace ticopd
