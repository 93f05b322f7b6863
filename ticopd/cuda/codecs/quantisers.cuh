#pragma once

#include <cfloat>
#include <cstdint>

#include "ticopd/cuda/codecs/philox.cuh"

namespace ticopd::cuda {

// What is summed, or compared, over a bucket.
struct Squares {
  using Value = double;
  __device__ static Value term(float v) {
    const double a = v;
    return __dmul_rn(a, a);
  }
  __device__ static Value combine(Value a, Value b) { return __dadd_rn(a, b); }
};

struct Magnitudes {
  using Value = double;
  __device__ static Value term(float v) { return fabsf(v); }
  __device__ static Value combine(Value a, Value b) { return __dadd_rn(a, b); }
};

struct Largest {  // as integers, where a NaN is above every number
  using Value = int;
  __device__ static Value term(float v) { return __float_as_int(fabsf(v)); }
  __device__ static Value combine(Value a, Value b) { return max(a, b); }
};

// A coordinate quantised: levels 0 ... most, and a sign.
struct Symbol {
  std::uint32_t level;
  bool negative;
};

__device__ __forceinline__ bool sign_bit(float v) {
  return __float_as_int(v) < 0;
}

// A quantiser says what a bucket is measured by and which measure is refused, what follows from it
// for all coordinates of the bucket (its gauge), and how a coordinate becomes a symbol and that a
// value again. They are kernel arguments: no padding in them.

// qsgd and infinity (ticopd/codecs/qsgd.hpp).
template <class Reduction>
struct Rounding {
  using Reduce = Reduction;
  struct alignas(16) Gauge {
    float lift, scale, unit, norm;
  };
  static constexpr bool has_norms = true, has_levels = true, has_signs = true, has_noise = true;

  float top;           // s
  std::uint32_t bits;  // of a level in the plane
  std::uint32_t most;  // s
  std::uint32_t scaled;
  std::uint32_t lengths[2];  // of buckets, with their tau: others compute it
  float taus[2];

  __device__ static double measure(double sum, std::uint32_t) { return __dsqrt_rn(sum); }
  __device__ static double measure(int most_bits, std::uint32_t) {
    return __int_as_float(most_bits);
  }
  __device__ static double limit() { return 0x1p127; }

  __device__ float tau(std::uint32_t n) const {
    if (scaled == 0) return 1.0f;
    if (n == lengths[0]) return taus[0];
    if (n == lengths[1]) return taus[1];
    const double c = n, s = top, a = c / (s * s), b = __dsqrt_rn(c) / s;
    return static_cast<float>(__dadd_rn(1.0, b < a ? b : a));
  }
  __device__ Gauge gauge(double measured, std::uint32_t n, std::uint32_t) const {
    const float norm = static_cast<float>(measured);
    const float lift = norm < 0x1p-64f ? 0x1p64f : 1.0f;
    const float scale = norm > 0 ? __fdiv_rn(top, __fmul_rn(norm, lift)) : 0.0f;
    return {lift, scale, __fdiv_rn(norm, __fmul_rn(top, tau(n))), norm};
  }
  __device__ Symbol symbol(float v, std::uint32_t word, const Gauge& by) const {
    const float x =
        __fadd_rn(__fmul_rn(__fmul_rn(fabsf(v), by.lift), by.scale), DeviceNoise::to_uniform(word));
    return {static_cast<std::uint32_t>(static_cast<int>(x < top ? x : top)), sign_bit(v)};
  }
  __device__ std::uint32_t field(Symbol s) const { return s.level; }
  __device__ float value(Symbol s, const Gauge& by) const {
    return __fmul_rn(static_cast<float>(s.level), s.negative ? -by.unit : by.unit);
  }
};

// sign and norm_sign (ticopd/codecs/scaled_signs.hpp).
template <class Reduction>
struct ScaledSigns {
  using Reduce = Reduction;
  struct Gauge {
    float norm;
  };
  static constexpr bool has_norms = true, has_levels = false, has_signs = true, has_noise = false;

  std::uint32_t bits = 0, most = 0;

  __device__ static double measure(double sum, std::uint32_t n) {
    return n == 0 ? 0.0 : __ddiv_rn(sum, static_cast<double>(n));
  }
  __device__ static double measure(int most_bits, std::uint32_t) {
    return static_cast<double>(__int_as_float(most_bits)) / 2;
  }
  __device__ static double limit() { return FLT_MAX; }
  __device__ Gauge gauge(double measured, std::uint32_t, std::uint32_t) const {
    return {static_cast<float>(measured)};
  }
  __device__ Symbol symbol(float v, std::uint32_t, const Gauge&) const { return {0, sign_bit(v)}; }
  __device__ std::uint32_t field(Symbol) const { return 0; }
  __device__ float value(Symbol s, const Gauge& by) const {
    return s.negative ? -by.norm : by.norm;
  }
};

// Powers of two (ticopd/codecs/natural.hpp). Levels are exponents.
struct Powers {
  using Reduce = Largest;
  struct Gauge {
    float norm;  // the largest magnitude; it does not travel
  };
  static constexpr bool has_norms = false, has_levels = true, has_signs = true, has_noise = true;

  std::uint32_t bits = 8, most = 254;

  __device__ static double measure(int most_bits, std::uint32_t) {
    return __int_as_float(most_bits);
  }
  __device__ static double limit() { return 0x1p127; }
  __device__ Gauge gauge(double measured, std::uint32_t, std::uint32_t) const {
    return {static_cast<float>(measured)};
  }
  __device__ Symbol symbol(float v, std::uint32_t word, const Gauge&) const {
    const std::uint32_t magnitude = __float_as_uint(fabsf(v));
    const std::uint32_t up = word >> 8 < (magnitude & 0x7fffffu) << 1 ? 1u : 0u;
    const std::uint32_t code = (magnitude >> 23) + up;
    return {code, sign_bit(v) && code != 0};
  }
  __device__ std::uint32_t field(Symbol s) const { return s.level; }
  __device__ float value(Symbol s, const Gauge&) const {
    return __uint_as_float((s.negative ? 0x80000000u : 0u) | s.level << 23);
  }
};

// The cells of a box that shrinks (ticopd/codecs/grid.hpp).
struct Cells {
  using Reduce = Largest;
  struct Gauge {
    double r, cells;
    float unit, norm;
  };
  static constexpr bool has_norms = false, has_levels = true, has_signs = false, has_noise = false;

  double r0, kappa;
  std::uint32_t bits, most;  // most: the cells on one side

  __device__ static double measure(int most_bits, std::uint32_t) {
    return __int_as_float(most_bits);
  }
  __device__ static double limit() { return FLT_MAX; }
  __device__ Gauge gauge(double, std::uint32_t, std::uint32_t round) const {
    double r = r0, power = kappa;
    for (std::uint32_t n = round == 0 ? 0 : round - 1; n > 0;
         n >>= 1, power = __dmul_rn(power, power))
      if (n & 1) r = __dmul_rn(r, power);
    r = fmax(r, 0x1p-126);
    const float unit = static_cast<float>(r * (0.5 / most));  // powers of two: exact
    return {r, __ddiv_rn(static_cast<double>(most), r), unit, 0.0f};
  }
  __device__ bool outside(float v, const Gauge& by) const {
    return !(fabs(static_cast<double>(v)) <= by.r);
  }
  __device__ Symbol symbol(float v, std::uint32_t, const Gauge& by) const {
    const double half = most, x = __dmul_rn(static_cast<double>(v), by.cells);
    const double clamped = x < -half ? -half : half - 0.5 < x ? half - 0.5 : x;
    const auto cell = static_cast<std::uint32_t>(static_cast<int>(__dadd_rn(clamped, half)));
    return cell < most ? Symbol{most - cell, true} : Symbol{cell - most + 1, false};
  }
  __device__ std::uint32_t field(Symbol s) const {
    return s.negative ? most - s.level : most + s.level - 1;
  }
  __device__ float value(Symbol s, const Gauge& by) const {
    return __fmul_rn(static_cast<float>(2 * s.level - 1), s.negative ? -by.unit : by.unit);
  }
};

// Points that lie the farther apart the larger they are (ticopd/codecs/adaptive.hpp).
struct Points {
  using Reduce = Largest;
  struct Gauge {
    float norm;
  };
  static constexpr bool has_norms = false, has_levels = true, has_signs = true, has_noise = true;

  const double* points;
  double last;
  std::uint32_t bits, most;  // most: the number of the last point

  __device__ static double measure(int most_bits, std::uint32_t) {
    return __int_as_float(most_bits);
  }
  __device__ double limit() const { return last; }
  __device__ Gauge gauge(double measured, std::uint32_t, std::uint32_t) const {
    return {static_cast<float>(measured)};
  }
  __device__ Symbol symbol(float v, std::uint32_t word, const Gauge&) const {
    const double magnitude = fabsf(v), u = DeviceNoise::to_uniform(word);
    std::uint32_t low = 0, high = most;  // the last point not above it is low ... high
    while (low < high) {
      const std::uint32_t middle = (low + high + 1) / 2;
      if (points[middle] <= magnitude)
        low = middle;
      else
        high = middle - 1;
    }
    if (low < most) {
      const double below = points[low];
      const double share =
          __ddiv_rn(__dsub_rn(magnitude, below), __dsub_rn(points[low + 1], below));
      if (u < share) ++low;
    }
    return {low, sign_bit(v) && low != 0};
  }
  __device__ std::uint32_t field(Symbol s) const { return s.level; }
  __device__ float value(Symbol s, const Gauge&) const {
    return static_cast<float>(s.negative ? -points[s.level] : points[s.level]);
  }
};

// No symbols at all: whether a row is finite, and its largest magnitude.
struct Finite {
  using Reduce = Largest;
  struct Gauge {
    float norm;
  };
  static constexpr bool has_norms = false, has_levels = false, has_signs = false, has_noise = false;

  std::uint32_t bits = 0, most = 0;

  __device__ static double measure(int most_bits, std::uint32_t) {
    return __int_as_float(most_bits);
  }
  __device__ static double limit() { return FLT_MAX; }
  __device__ Gauge gauge(double measured, std::uint32_t, std::uint32_t) const {
    return {static_cast<float>(measured)};
  }
};

}  // namespace ticopd::cuda
