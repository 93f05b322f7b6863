// sparse_sums.hpp in vectors; Highway compiles this file for each instruction set. A row of outputs
// stays in registers while a list is summed, so that an entry costs one load and one fused
// multiply-add for every vector of a row, and the broadcast of its value.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ticopd/kernels/sparse_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "ticopd/kernels/sparse_sums.hpp"

#ifndef TICOPD_PIXEL_VALUES  // once for all instruction sets
#define TICOPD_PIXEL_VALUES
namespace ticopd {
namespace {

// A load is faster than a conversion and a division.
constexpr auto pixel_values = [] {
  std::array<float, 256> table{};
  for (std::size_t v = 0; v < table.size(); ++v) table[v] = static_cast<float>(v) / 255.0f;
  return table;
}();

}  // namespace
}  // namespace ticopd
#endif

HWY_BEFORE_NAMESPACE();
namespace ticopd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr D d;
constexpr std::size_t lanes = hn::MaxLanes(D());

// A row of G groups of 16 floats in registers.
template <std::size_t G>
struct Row {
  static constexpr std::size_t vectors = G * 16 / lanes;
  V v[vectors];

  // Explicit, so that it is compiled for this instruction set too.
  HWY_INLINE Row() {}  // NOLINT(modernize-use-equals-default)

  HWY_INLINE void clear() {
    for (std::size_t k = 0; k < vectors; ++k) v[k] = hn::Zero(d);
  }
  HWY_INLINE void load(const float* from) {
    for (std::size_t k = 0; k < vectors; ++k) v[k] = hn::Load(d, from + k * lanes);
  }
  HWY_INLINE void store(float* to) const {
    for (std::size_t k = 0; k < vectors; ++k) hn::Store(v[k], d, to + k * lanes);
  }
  HWY_INLINE void add_product(V factor, const float* row) {
    for (std::size_t k = 0; k < vectors; ++k)
      v[k] = hn::MulAdd(factor, hn::Load(d, row + k * lanes), v[k]);
  }
  HWY_INLINE void add_to(float* to) const {
    for (std::size_t k = 0; k < vectors; ++k)
      hn::Store(hn::Add(v[k], hn::Load(d, to + k * lanes)), d, to + k * lanes);
  }
  HWY_INLINE void add_times(V factor, float* to) const {
    for (std::size_t k = 0; k < vectors; ++k)
      hn::Store(hn::MulAdd(factor, v[k], hn::Load(d, to + k * lanes)), d, to + k * lanes);
  }
};

// Eight neighbours of a list, the first in the lowest byte. A load for each would compete with
// those of the rows.
constexpr std::size_t few = 8;
HWY_INLINE std::uint64_t few_bytes(const std::uint8_t* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// The values of eight pixels, one after another in all lanes, looked up one by one.
class LookedUp {
 public:
  HWY_INLINE explicit LookedUp(const std::uint8_t* at) : bytes_(few_bytes(at)) {}
  HWY_INLINE V next() {
    const V value = hn::Set(d, pixel_values[bytes_ & 255]);
    bytes_ >>= 8;
    return value;
  }

 private:
  std::uint64_t bytes_;
};

// The same, converted at once and kept in registers, which only the widest vectors have to spare.
class Converted {
  static constexpr hn::RebindToSigned<D> integers() { return {}; }

 public:
  HWY_INLINE explicit Converted(const std::uint8_t* at) : lane_(hn::Zero(integers())) {
    const auto bytes = hn::LoadU(hn::Rebind<std::uint8_t, D>(), at);
    values_ = hn::Div(hn::ConvertTo(d, hn::PromoteTo(integers(), bytes)), hn::Set(d, 255.0f));
  }
  HWY_INLINE V next() {
    const V value = hn::TableLookupLanes(values_, hn::IndicesFromVec(d, lane_));
    lane_ = hn::Add(lane_, hn::Set(integers(), 1));
    return value;
  }

 private:
  V values_;
  hn::Vec<hn::RebindToSigned<D>> lane_;
};

using Values = std::conditional_t<lanes == 16, Converted, LookedUp>;

template <std::size_t G>
const std::uint8_t* add_ink_of(const std::uint8_t* counts, std::size_t lists,
                               const std::uint8_t* ink, const float* rows, float* out) {
  for (std::size_t l = 0; l < lists; ++l, out += G * 16) {
    const std::size_t count = counts[l];
    if (count == 0) continue;
    Row<G> sum;
    sum.clear();
    for (std::size_t first = 0; first < count; first += few) {
      std::uint64_t places = few_bytes(ink + first);
      Values values(ink + count + first);
      for (std::size_t left = std::min(few, count - first); left > 0; --left, places >>= 8)
        sum.add_product(values.next(), rows + (places & 255) * G * 16);
    }
    sum.add_to(out);
    ink += 2 * count;
  }
  return ink;
}

template <std::size_t G>
void gather_rows_of(const std::uint32_t* index, const float* value, std::size_t count,
                    const float* rows, float* out) {
  Row<G> sum;
  sum.clear();
  for (std::size_t e = 0; e < count; ++e)
    sum.add_product(hn::Set(d, value[e]), rows + std::size_t{index[e]} * G * 16);
  sum.store(out);
}

template <std::size_t G>
void scatter_row_of(const std::uint32_t* index, const float* value, std::size_t count,
                    const float* row, float* out) {
  Row<G> mine;
  mine.load(row);
  for (std::size_t e = 0; e < count; ++e)
    mine.add_times(hn::Set(d, value[e]), out + std::size_t{index[e]} * G * 16);
}

// f.template operator()<G>() for the G that makes up a width.
template <class F>
HWY_INLINE auto by_width(std::size_t width, const F& f) {
  switch (width / 16) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    case 5:
      return f.template operator()<5>();
    case 6:
      return f.template operator()<6>();
    case 7:
      return f.template operator()<7>();
    default:
      return f.template operator()<8>();
  }
}

const std::uint8_t* add_ink(const std::uint8_t* counts, std::size_t lists, const std::uint8_t* ink,
                            const float* rows, std::size_t width, float* out) {
  return by_width(width, [&]<std::size_t G>()
                             HWY_ATTR { return add_ink_of<G>(counts, lists, ink, rows, out); });
}

void gather_rows(const std::uint32_t* index, const float* value, std::size_t count,
                 const float* rows, std::size_t width, float* out) {
  by_width(width,
           [&]<std::size_t G>() HWY_ATTR { gather_rows_of<G>(index, value, count, rows, out); });
}

void scatter_row(const std::uint32_t* index, const float* value, std::size_t count,
                 const float* row, std::size_t width, float* out) {
  by_width(width,
           [&]<std::size_t G>() HWY_ATTR { scatter_row_of<G>(index, value, count, row, out); });
}

// In squares of 4 x 4 along the rows of `out`, each of which is a few cache lines. Read column by
// column, `in` would cost a cache line for every number.
void place_columns(const float* in, std::size_t rows, std::size_t columns,
                   const std::uint32_t* place, float* out, std::size_t width) {
  std::size_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> d4;
  const std::size_t whole = rows / 4 * 4;
  for (; c + 4 <= columns; c += 4) {
    float* to[4];
    alignas(16) float unused[sparse_width];  // for columns without a place
    for (std::size_t k = 0; k < 4; ++k) {
      to[k] = place[c + k] == no_place ? unused : out + std::size_t{place[c + k]} * width;
      for (std::size_t r = whole; r < width; ++r)
        to[k][r] = r < rows ? in[r * columns + c + k] : 0.0f;
    }
    for (std::size_t r = 0; r < whole; r += 4) {
      const float* from = in + r * columns + c;
      const auto r0 = hn::LoadU(d4, from), r1 = hn::LoadU(d4, from + columns);
      const auto r2 = hn::LoadU(d4, from + 2 * columns), r3 = hn::LoadU(d4, from + 3 * columns);
      const auto even = hn::InterleaveLower(d4, r0, r2), odd = hn::InterleaveLower(d4, r1, r3);
      hn::Store(hn::InterleaveLower(d4, even, odd), d4, to[0] + r);
      hn::Store(hn::InterleaveUpper(d4, even, odd), d4, to[1] + r);
      const auto high = hn::InterleaveUpper(d4, r0, r2), top = hn::InterleaveUpper(d4, r1, r3);
      hn::Store(hn::InterleaveLower(d4, high, top), d4, to[2] + r);
      hn::Store(hn::InterleaveUpper(d4, high, top), d4, to[3] + r);
    }
  }
#endif
  for (; c < columns; ++c) {
    if (place[c] == no_place) continue;
    float* to = out + std::size_t{place[c]} * width;
    for (std::size_t r = 0; r < width; ++r) to[r] = r < rows ? in[r * columns + c] : 0.0f;
  }
}

// In 4 x 4 squares: at most a hundredth of the time of a gradient.
void transpose(const float* in, std::size_t in_stride, std::size_t rows, std::size_t columns,
               float* out, std::size_t out_stride) {
  const hn::CappedTag<float, 4> d4;
#if HWY_TARGET != HWY_SCALAR
  for (std::size_t r = 0; r < rows; r += 4)
    for (std::size_t c = 0; c < columns; c += 4) {
      const float* from = in + r * in_stride + c;
      float* to = out + c * out_stride + r;
      const auto r0 = hn::Load(d4, from), r1 = hn::Load(d4, from + in_stride);
      const auto r2 = hn::Load(d4, from + 2 * in_stride), r3 = hn::Load(d4, from + 3 * in_stride);
      const auto even = hn::InterleaveLower(d4, r0, r2), odd = hn::InterleaveLower(d4, r1, r3);
      hn::Store(hn::InterleaveLower(d4, even, odd), d4, to);
      hn::Store(hn::InterleaveUpper(d4, even, odd), d4, to + out_stride);
      const auto high = hn::InterleaveUpper(d4, r0, r2), top = hn::InterleaveUpper(d4, r1, r3);
      hn::Store(hn::InterleaveLower(d4, high, top), d4, to + 2 * out_stride);
      hn::Store(hn::InterleaveUpper(d4, high, top), d4, to + 3 * out_stride);
    }
#else
  (void)d4;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out[c * out_stride + r] = in[r * in_stride + c];
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace ticopd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ticopd {

HWY_EXPORT(add_ink);
HWY_EXPORT(gather_rows);
HWY_EXPORT(scatter_row);
HWY_EXPORT(place_columns);
HWY_EXPORT(transpose);

const std::uint8_t* add_ink(const std::uint8_t* counts, std::size_t lists, const std::uint8_t* ink,
                            const float* rows, std::size_t width, float* out) {
  return HWY_DYNAMIC_DISPATCH(add_ink)(counts, lists, ink, rows, width, out);
}

void gather_rows(const std::uint32_t* index, const float* value, std::size_t count,
                 const float* rows, std::size_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(gather_rows)(index, value, count, rows, width, out);
}

void scatter_row(const std::uint32_t* index, const float* value, std::size_t count,
                 const float* row, std::size_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(scatter_row)(index, value, count, row, width, out);
}

void place_columns(const float* in, std::size_t rows, std::size_t columns,
                   const std::uint32_t* place, float* out, std::size_t width) {
  HWY_DYNAMIC_DISPATCH(place_columns)(in, rows, columns, place, out, width);
}

void transpose(const float* in, std::size_t in_stride, std::size_t rows, std::size_t columns,
               float* out, std::size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(transpose)(in, in_stride, rows, columns, out, out_stride);
}

}  // namespace ticopd
#endif
