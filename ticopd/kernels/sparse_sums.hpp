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

// A list of pixels with ink, two bytes for each: first the places of all, each below 256, then
// their values 1 ... 255. Behind the last list there must be `ink_margin` bytes that may be read.
inline constexpr std::size_t ink_margin = 16;

// out[l] += sum over list l of value / 255 * rows[place], for `lists` lists one after another, of
// counts[l] pixels each. A list is summed by itself first, which also keeps long sums accurate.
// Returns the end of the last list.
const std::uint8_t* add_ink(const std::uint8_t* counts, std::size_t lists, const std::uint8_t* ink,
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
