#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ticopd/codecs/arithmetic/magnitude.hpp"

namespace ticopd {

// Measures of a bucket: one term per coordinate, joined in the tree of numeric/sum.hpp. number()
// turns the joined value into the measure.
struct SumOfSquares {
  using Value = double;
  template <class T>
  static constexpr Value term(T v) {
    const double a = static_cast<double>(v);
    return a * a;
  }
  static constexpr Value join(Value a, Value b) { return a + b; }
  static constexpr double number(Value sum) { return sum; }
};

struct SumOfMagnitudes {
  using Value = double;
  template <class T>
  static constexpr Value term(T v) {
    return static_cast<double>(std::abs(v));
  }
  static constexpr Value join(Value a, Value b) { return a + b; }
  static constexpr double number(Value sum) { return sum; }
};

template <class T>
struct LargestBits {
  using Value = std::make_signed_t<BitsOf<T>>;  // signed: every vector unit has its maximum
  static constexpr Value term(T v) { return static_cast<Value>(magnitude_bits(v)); }
  static constexpr Value join(Value a, Value b) { return a > b ? a : b; }
  static constexpr T number(Value bits) { return std::bit_cast<T>(bits); }
};

// Scales of a bucket of n coordinates: the measure, and the scale that follows from it.
// EuclideanNorm (qsgd.hpp) and LargestMagnitude (infinity.hpp) are two more.

struct MeanMagnitude {  // sign
  template <class T>
  using Measure = SumOfMagnitudes;
  static constexpr double scale(double sum, std::size_t n) {
    return n == 0 ? 0.0 : sum / static_cast<double>(n);
  }
};

struct HalfOfLargest {  // norm_sign
  template <class T>
  using Measure = LargestBits<T>;
  static constexpr double scale(double largest, std::size_t) { return largest / 2; }
};

}  // namespace ticopd
