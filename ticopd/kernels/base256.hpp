#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ticopd/kernels/features.hpp"
#include "ticopd/kernels/tiles.hpp"

namespace ticopd {

// Rows of floats as three rows of signed base-256 digits each: v = step * (65536 high + 256 middle
// + low) up to rounding, with a step of the row's own, so that its largest entry has 23 bits.
// Pixels times digits are integers, and sums of them are exact.

// 127 (65536 + 256 + 1) = 8,355,711 is the largest number in three digits; the margin above covers
// the rounding of scale.
inline constexpr float most_of_three_digits = 8355000.0f;
inline constexpr std::size_t digit_count = 3;

// max |v|; infinity or NaN if the row has one.
float largest_magnitude(const float* v, std::size_t count);

struct DigitScale {
  float lift, scale;  // v * lift * scale is rounded to the integer that the digits write
  float step;         // and integer * pixel * 2^-30 * step is v times the pixel over 255
};
DigitScale digit_scale(float largest);

// `steps` times 64 entries of v; the digits of one step lie together, the next `tile_pair` on.
void split_digits(const float* v, std::size_t steps, const DigitScale& scale, std::int8_t* high,
                  std::int8_t* middle, std::int8_t* low);

// Joins sums of digits times pixels: three rows of 32 sums for each output, high digits first.
// Writes row j of `out` or, with `add`, adds to it.
void join_digits(const std::int32_t* sums, std::size_t outputs, const float* step, bool add,
                 float* out, std::size_t stride);

// The first operand of the tile unit: three rows of digits for each output, cut into tiles of 16
// rows x 64 columns. In memory two tiles above each other come first, then those of the next 64
// columns, in the order in which a product reads them. An output's three rows are neighbours: 32
// outputs fill three pairs of tiles, and the three digits are close together when they are joined.
class DigitRows {
 public:
  static constexpr std::size_t rows = 2 * tile_rows;  // of a pair of tiles

  // Uses the caller's memory: `bytes` for the digits, one float for each output.
  static std::size_t bytes(std::size_t outputs, std::size_t steps) {
    return pairs(outputs) * steps * tile_pair;
  }
  DigitRows(std::int8_t* digits, float* step, std::size_t outputs, std::size_t steps)
      : digits_(digits), step_(step), outputs_(outputs), steps_(steps) {}

  // Sets row j from 64 entries for each step. False if one is NaN or infinite: then its products
  // are all NaN.
  bool split(std::size_t j, const float* row) const;

  std::size_t outputs() const { return outputs_; }
  std::size_t row_tiles() const { return (digit_count * outputs_ + tile_rows - 1) / tile_rows; }
  const std::int8_t* tiles(std::size_t pair, std::size_t step) const {
    return digits_ + (pair * steps_ + step) * tile_pair;
  }
  const float* step(std::size_t output) const { return step_ + output; }

 private:
  static std::size_t pairs(std::size_t outputs) {
    return (digit_count * outputs + rows - 1) / rows;
  }

  std::int8_t* digits_;
  float* step_;
  std::size_t outputs_, steps_;
};

// int8_pixels (features.hpp) on emulated tiles, for tests: the same code on any machine.
std::unique_ptr<Features<float>> int8_pixels_emulated(Dataset<float> data, std::size_t outputs,
                                                      Sweeps sweeps);

}  // namespace ticopd
