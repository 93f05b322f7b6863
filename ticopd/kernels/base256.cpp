#include "ticopd/kernels/base256.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ticopd/kernels/clones.hpp"

namespace ticopd {

// Compares magnitudes by their bits, which are ordered like integers, with infinity above all
// numbers and NaN above infinity. A maximum of floats could lose a NaN.
TICOPD_CLONES float largest_magnitude(const float* v, std::size_t count) {
  std::int32_t most = 0;
  for (std::size_t k = 0; k < count; ++k)
    most = std::max(most, std::bit_cast<std::int32_t>(v[k]) & 0x7fffffff);
  return std::bit_cast<float>(most);
}

// The step is computed from the rounded scale, so the two agree to one rounding. If a row is so
// small that its scale would overflow, it is first multiplied by a power of two, which is exact.
// The factor 2^-30 is not part of the step for the same reason: the step has the size of the row's
// largest entry and stays within the range of floats.
DigitScale digit_scale(float largest) {
  if (!std::isfinite(largest)) return {0.0f, 0.0f, std::numeric_limits<float>::quiet_NaN()};
  if (largest == 0.0f) return {0.0f, 0.0f, 0.0f};
  const float lift = largest < 0x1p-64f ? 0x1p64f : 1.0f;
  const float scale = most_of_three_digits / (largest * lift);
  const double step = 0x1p30 / (255.0 * static_cast<double>(scale) * static_cast<double>(lift));
  return {lift, scale, static_cast<float>(step)};
}

// A digit is the integer's low byte, read as signed; the rest is a multiple of 256.
TICOPD_CLONES void split_digits(const float* __restrict v, std::size_t steps,
                                const DigitScale& scale, std::int8_t* __restrict high,
                                std::int8_t* __restrict middle, std::int8_t* __restrict low) {
  const float lift = scale.lift, times = scale.scale;
  for (std::size_t s = 0; s < steps; ++s) {
    for (std::size_t k = 0; k < tile_row_bytes; ++k) {
      const auto q = static_cast<std::int32_t>(std::rint(v[k] * lift * times));
      const std::int32_t above = (q + 128) >> 8;
      low[k] = static_cast<std::int8_t>(q);
      middle[k] = static_cast<std::int8_t>(above);
      high[k] = static_cast<std::int8_t>((above + 128) >> 8);
    }
    v += tile_row_bytes;
    high += tile_pair;
    middle += tile_pair;
    low += tile_pair;
  }
}

TICOPD_CLONES void join_digits(const std::int32_t* __restrict sums, std::size_t outputs,
                               const float* __restrict step, bool add, float* __restrict out,
                               std::size_t stride) {
  for (std::size_t j = 0; j < outputs; ++j) {
    const std::int32_t* high = sums + j * digit_count * panel_columns;
    const std::int32_t* middle = high + panel_columns;
    const std::int32_t* low = middle + panel_columns;
    float* to = out + j * stride;
    for (std::size_t c = 0; c < panel_columns; ++c) {
      const float sum = static_cast<float>(high[c]) * 0x1p-14f +
                        static_cast<float>(middle[c]) * 0x1p-22f +
                        static_cast<float>(low[c]) * 0x1p-30f;
      to[c] = add ? to[c] + sum * step[j] : sum * step[j];
    }
  }
}

bool DigitRows::split(std::size_t j, const float* row) const {
  const float largest = largest_magnitude(row, steps_ * tile_row_bytes);
  const DigitScale scale = digit_scale(largest);
  step_[j] = scale.step;
  std::int8_t* at[digit_count];
  for (std::size_t d = 0; d < digit_count; ++d) {
    const std::size_t r = digit_count * j + d;
    at[d] = digits_ + r / rows * steps_ * tile_pair + r % rows * tile_row_bytes;
  }
  if (!std::isfinite(largest)) {
    // Only the step matters here, but the tiles must still hold valid digits.
    for (std::int8_t* digit : at)
      for (std::size_t s = 0; s < steps_; ++s)
        std::fill_n(digit + s * tile_pair, tile_row_bytes, std::int8_t{0});
    return false;
  }
  split_digits(row, steps_, scale, at[0], at[1], at[2]);
  return true;
}

}  // namespace ticopd
