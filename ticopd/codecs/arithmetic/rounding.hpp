#pragma once

#include <cmath>
#include <cstdint>

#include "ticopd/numeric/noise.hpp"

namespace ticopd {

// Random rounding to levels 0 ... s of a norm (qsgd.hpp, infinity.hpp).

// The largest norm that is sent: level times unit, rounded, still fits in a float.
inline constexpr float largest_norm = 0x1p127f;

// The factors that turn coordinates into levels, for one norm.
template <class T>
struct Scale {
  // s / norm overflows a float if norm < 2^-120. So a small norm and its coordinates are both
  // multiplied by 2^64, which is exact.
  constexpr Scale(float norm, std::uint32_t s)
      : top(static_cast<T>(s)),
        lift(norm < 0x1p-64f ? T{0x1p64} : T{1}),
        scale(norm > 0 ? top / (static_cast<T>(norm) * lift) : T{0}) {}
  constexpr Scale(T of_top, T of_lift, T of_scale) : top(of_top), lift(of_lift), scale(of_scale) {}

  // floor(s |v| / norm + u), where u is drawn from a noise word. x is never negative, so the cast
  // is floor. Rounding can reach s + 1, hence the clamp.
  constexpr std::uint32_t level(T v, std::uint32_t word) const {
    const T x = (std::abs(v) * lift) * scale + static_cast<T>(Noise::to_uniform(word));
    return static_cast<std::uint32_t>(static_cast<int>(x < top ? x : top));
  }

  T top, lift, scale;
};

// The value of one level.
template <class T>
constexpr T level_unit(float norm, std::uint32_t s, double tau) {
  return static_cast<T>(norm) / (static_cast<T>(s) * static_cast<T>(tau));
}

// The unit has the sign of the coordinate.
template <class T, class Level>
constexpr T level_value(Level level, T signed_unit) {
  return static_cast<T>(level) * signed_unit;
}

}  // namespace ticopd
