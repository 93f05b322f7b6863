#pragma once

#include <cstddef>
#include <cstdint>

namespace ticopd {

// The inner loops of the sparse kernels, in float vectors. A row here is `width` floats, a multiple
// of 16 and at most sparse_width, at a multiple of 64 bytes: all outputs of one feature (weights or
// their gradient), or all outputs of one sample (z or deltas).
inline constexpr std::size_t sparse_width = 128;  // eight registers of 16

// The width of the panels into which `outputs` are cut, all of them alike.
constexpr std::size_t panel_width(std::size_t outputs) {
  const std::size_t panels = (outputs + sparse_width - 1) / sparse_width;
  return ((outputs + panels - 1) / panels + 15) / 16 * 16;
}

// A pixel with ink: its place among at most 256, and its value 1 ... 255.
using Ink = std::uint16_t;
constexpr Ink make_ink(std::size_t place, std::uint8_t value) {
  return static_cast<Ink>(place << 8 | value);
}
constexpr std::size_t place_of(Ink ink) {
  return ink >> 8;
}

// out[l] += sum over the next counts[l] entries of value / 255 * rows[place], for `lists` lists one
// after another. Each list is summed by itself first, which also keeps long sums accurate. Returns
// the entry after the last.
const Ink* add_ink(const std::uint8_t* counts, std::size_t lists, const Ink* entries,
                   const float* rows, std::size_t width, float* out);

// out = sum of value[e] * rows[index[e]] over `count` entries.
void gather_rows(const std::uint32_t* index, const float* value, std::size_t count,
                 const float* rows, std::size_t width, float* out);
// out[index[e]] += value[e] * row
void scatter_row(const std::uint32_t* index, const float* value, std::size_t count,
                 const float* row, std::size_t width, float* out);

// out(place[c], r) = in(r, c), for the columns that have a place below `no_place`: the rows of the
// transpose, in another order. A row of `out` has `width` floats, and zeros past `rows`.
inline constexpr std::uint32_t no_place = 0xffffffff;
void place_columns(const float* in, std::size_t rows, std::size_t columns,
                   const std::uint32_t* place, float* out, std::size_t width);

// out(c, r) = in(r, c) for rows and columns that are multiples of 4, both aligned to 16 bytes.
void transpose(const float* in, std::size_t in_stride, std::size_t rows, std::size_t columns,
               float* out, std::size_t out_stride);

}  // namespace ticopd
