#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ticopd {

// The cells of a box [-r, r] that shrinks (grid.hpp): `half` of them, a power of two, on each side
// of 0. `half` is the same in all boxes and not kept in one, so that a kernel has it in a register.
struct CellBox {
  // r = r0 kappa^(round - 1), by squaring, because std::pow may round differently on another
  // machine. Round 0, before the first, has the box of round 1.
  constexpr CellBox(double r0, double kappa, std::uint32_t round, std::uint32_t half) : r(r0) {
    double power = kappa;
    for (std::uint32_t n = round == 0 ? 0 : round - 1; n > 0; n >>= 1, power *= power)
      if (n & 1) r *= power;
    r = std::max(r, 0x1p-126);
    cells = static_cast<double>(half) / r;
  }

  // The cell of v, counted from -r. A v outside the box is in the outermost cell.
  constexpr std::uint32_t cell(double v, std::uint32_t half) const {
    const double side = half;
    // `at` is never negative, so the cast is floor.
    const double at = std::clamp(v * cells, -side, side - 0.5) + side;
    return static_cast<std::uint32_t>(static_cast<int>(at));
  }
  // True for NaN too.
  constexpr bool is_outside(double v) const { return !(std::abs(v) <= r); }

  // Half the width of a cell. The product is exact, because 0.5 / half is a power of two.
  template <class T>
  constexpr T unit(std::uint32_t half) const {
    return static_cast<T>(r * (0.5 / half));
  }

  double r, cells;  // cells per unit of length
};

// Turns cells into levels 1, 2, ... counted from the middle, and a sign; and back.
constexpr bool cell_is_negative(std::uint32_t cell, std::uint32_t half) {
  return cell < half;
}
constexpr std::uint32_t cell_level(std::uint32_t cell, std::uint32_t half) {
  return cell < half ? half - cell : cell - half + 1;
}
constexpr std::uint32_t cell_of_level(std::uint32_t level, bool negative, std::uint32_t half) {
  return negative ? half - level : half + level - 1;
}

// The middle of a cell: an odd number of units.
template <class T>
constexpr T cell_value(std::uint32_t cell, std::uint32_t half, T unit) {
  return static_cast<T>(static_cast<int>(2 * cell + 1) - static_cast<int>(2 * half)) * unit;
}

}  // namespace ticopd
