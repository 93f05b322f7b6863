#pragma once

#include <bit>
#include <cstdint>

#include "ticopd/numeric/noise.hpp"

namespace ticopd {

// Points that lie farther apart the larger they are (adaptive.hpp), and the ternary digits in which
// their numbers are sent.
inline constexpr std::uint32_t most_points = 0x10000;
inline constexpr double largest_point = 0x1p127;

// Passes q_0 = 0, q_1, ... to `add`. The recurrence is q_(l + 1) = r q_l + step (r - 1) / omega,
// where (r - 1) / omega = 2 (omega + sqrt(1 + omega^2)). It uses only IEEE operations, so every
// machine gets the same points, and omega = 0 is no special case.
template <class Add>
void each_point(double omega, double step, Add add) {
  const double slope = 2 * (omega + std::sqrt(1 + omega * omega));
  const double r = 1 + omega * slope;
  double point = 0;
  for (std::uint32_t l = 0; l < most_points && point <= largest_point; ++l) {
    add(point);
    point = r * point + step * slope;
  }
}

// The level of a magnitude. Finds the last point not above it, among low ... high, and rounds up
// with the probability that makes the mean right. `top` is the number of the last point.
constexpr std::uint32_t point_level(const double* points, std::uint32_t low, std::uint32_t high,
                                    std::uint32_t top, double magnitude, std::uint32_t word) {
  while (low < high) {
    const std::uint32_t middle = (low + high + 1) / 2;
    if (points[middle] <= magnitude)
      low = middle;
    else
      high = middle - 1;
  }
  if (low == top) return low;  // the magnitude is the last point
  const double below = points[low], u = static_cast<double>(Noise::to_uniform(word));
  return u < (magnitude - below) / (points[low + 1] - below) ? low + 1 : low;
}

// A level in digits {0, 1, stop}: its sign, the bits below its leading one, and a stop. Level 0 is
// the stop alone.
inline constexpr unsigned ternary_stop = 2;

constexpr std::uint32_t ternary_digits(std::uint32_t level) {
  static_assert(sizeof level == 4);  // in device code nvcc 13 makes 0 of 64 bits
  return static_cast<std::uint32_t>(std::bit_width(level)) + 1;
}

template <class Put>
constexpr void put_ternary(std::uint32_t level, bool negative, Put put) {
  const int bits = std::bit_width(level);
  if (bits > 0) put(negative ? 1u : 0u);
  for (int b = bits - 2; b >= 0; --b) put(level >> b & 1);
  put(ternary_stop);
}

}  // namespace ticopd
