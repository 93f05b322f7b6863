#include "ticopd/codecs/indices.hpp"

namespace ticopd {
namespace {

// The most ones in one put(), whose field has at most 63 bits.
constexpr unsigned run = 32;

// A Rice code's parameter, and the bits it needs for all gaps.
struct Rice {
  unsigned b = 0;
  std::size_t bits = 0;
};

template <class Visit>
void each_gap(std::span<const std::size_t> indices, Visit visit) {
  std::size_t next = 0;
  for (const std::size_t i : indices) {
    visit(i - next);
    next = i + 1;
  }
}

// Tries every b. The receiver repeats the search, since a message has only one valid b.
Rice best_rice(std::span<const std::size_t> indices, std::size_t d) {
  Rice best;
  for (unsigned b = 0; b <= index_bits(d); ++b) {
    std::size_t bits = indices.size() * (b + 1);
    each_gap(indices, [&](std::size_t gap) { bits += gap >> b; });
    if (b == 0 || bits < best.bits) best = {b, bits};
  }
  return best;
}

}  // namespace

void IndexCode::append(std::span<const std::size_t> indices, std::size_t d, Bytes& out) const {
  const std::size_t at = out.size();
  if (!gaps_) {
    out.resize(at + plane_bytes(indices.size(), index_bits(d)));
    BitWriter writer(std::span<std::byte>(out).subspan(at));
    for (const std::size_t i : indices) writer.put(i, index_bits(d));
    writer.finish();
    return;
  }
  const Rice rice = best_rice(indices, d);
  out.resize(at + 1 + (rice.bits + 7) / 8);
  out[at] = static_cast<std::byte>(rice.b);
  BitWriter writer(std::span<std::byte>(out).subspan(at + 1));
  each_gap(indices, [&](std::size_t gap) {
    std::size_t ones = gap >> rice.b;
    for (; ones >= run; ones -= run) writer.put((std::uint64_t{1} << run) - 1, run);
    writer.put((std::uint64_t{1} << ones) - 1, static_cast<unsigned>(ones) + 1);
    writer.put(gap & ((std::uint64_t{1} << rice.b) - 1), rice.b);
  });
  writer.finish();
}

bool IndexCode::take(std::span<const std::byte>& in, std::size_t d,
                     std::span<std::size_t> indices) const {
  const unsigned width = index_bits(d);
  if (!gaps_) {
    const std::size_t bytes = plane_bytes(indices.size(), width);
    if (in.size() < bytes || !padding_is_zero(in.first(bytes), indices.size(), width)) return false;
    BitReader reader(in.first(bytes));
    std::size_t next = 0;
    for (std::size_t& i : indices) {
      i = reader.get(width);
      if (i < next || i >= d) return false;
      next = i + 1;
    }
    in = in.subspan(bytes);
    return true;
  }
  if (in.empty()) return false;
  const auto b = std::to_integer<unsigned>(in[0]);
  if (b > width) return false;
  BitReader reader(in.subspan(1));
  std::size_t next = 0;
  for (std::size_t& i : indices) {
    std::size_t ones = 0;
    while (reader.get(1) != 0)  // past the end there are only zeros
      if (++ones > (d >> b)) return false;
    i = next + (ones << b) + reader.get(b);
    if (i >= d || !reader.ok()) return false;
    next = i + 1;
  }
  const Rice rice = best_rice(indices, d);
  const std::size_t bytes = (rice.bits + 7) / 8;
  if (rice.b != b || in.size() < 1 + bytes || !padding_is_zero(in.subspan(1, bytes), rice.bits, 1))
    return false;
  in = in.subspan(1 + bytes);
  return true;
}

}  // namespace ticopd
