#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "ticopd/codecs/arithmetic/cells.hpp"
#include "ticopd/codecs/arithmetic/measures.hpp"
#include "ticopd/codecs/arithmetic/points.hpp"
#include "ticopd/codecs/arithmetic/powers.hpp"
#include "ticopd/codecs/arithmetic/rounding.hpp"

namespace ticopd::cuda {

// Quantisers of the device. They call ticopd/codecs/arithmetic, the formulas of the CPU's codecs.
// So these files are compiled without contraction (TicopdCuda.cmake).

// A quantised coordinate: a level 0 ... most, and a sign.
struct Symbol {
  std::uint32_t level;
  bool negative;
};

// What the kernels must know about a quantiser.
struct QuantiserTraits {
  bool has_norms = false;  // a norm is sent per bucket
  bool has_levels = true, has_signs = true;
  bool has_noise = true;             // coordinates are rounded at random
  bool takes_squares = false;        // Exchange::squares can replace the sweep that measures
  bool saturates = false;            // coordinates outside a range are counted
  bool counts_from_largest = false;  // coded levels; the largest one is sent in a byte
  bool is_ternary = false;           // levels without a coding are sent as ternary digits
  bool has_table = false;            // of points, in device memory
};

// A quantiser defines how a bucket is measured, which measure is rejected, what follows from it for
// all coordinates of the bucket (its gauge), how a coordinate becomes a symbol, and how a symbol
// becomes a value. Quantisers are kernel arguments, so they must not have padding.

// qsgd and infinity. Norm is EuclideanNorm or LargestMagnitude.
template <class Norm>
struct Rounding {
  using Reduce = typename Norm::template Measure<float>;
  struct alignas(16) Gauge {
    float lift, scale, unit, norm;
  };
  static constexpr QuantiserTraits traits{.has_norms = true, .takes_squares = Norm::sums_squares};

  float top;           // s
  std::uint32_t bits;  // of a level in the plane
  std::uint32_t most;  // s
  std::uint32_t scaled;
  std::uint32_t lengths[2];  // of the usual buckets, whose tau is in taus
  float taus[2];

  __device__ static double measure(typename Reduce::Value total, std::uint32_t n) {
    return Norm::scale(Reduce::number(total), n);
  }
  __device__ static double limit() { return largest_norm; }

  __device__ float tau(std::uint32_t n) const {
    if (scaled == 0) return 1.0f;
    if (n == lengths[0]) return taus[0];
    if (n == lengths[1]) return taus[1];
    return static_cast<float>(1.0 + Norm::omega(static_cast<double>(n), static_cast<double>(top)));
  }
  __device__ Gauge gauge(double measured, std::uint32_t n, std::uint32_t) const {
    const auto norm = static_cast<float>(measured);
    const Scale<float> by(norm, most);
    return {by.lift, by.scale, level_unit<float>(norm, most, tau(n)), norm};
  }
  __device__ Symbol symbol(float v, std::uint32_t word, const Gauge& by) const {
    return {Scale<float>(top, by.lift, by.scale).level(v, word), is_negative(v)};
  }
  __device__ std::uint32_t field(Symbol s) const { return s.level; }
  __device__ float value(Symbol s, const Gauge& by) const {
    return level_value(s.level, s.negative ? -by.unit : by.unit);
  }
};

// sign and norm_sign. Mean is MeanMagnitude or HalfOfLargest.
template <class Mean>
struct ScaledSigns {
  using Reduce = typename Mean::template Measure<float>;
  struct Gauge {
    float norm;
  };
  static constexpr QuantiserTraits traits{
      .has_norms = true, .has_levels = false, .has_noise = false};

  std::uint32_t bits = 0, most = 0;

  __device__ static double measure(typename Reduce::Value total, std::uint32_t n) {
    return Mean::scale(Reduce::number(total), n);
  }
  __device__ static double limit() { return FLT_MAX; }
  __device__ Gauge gauge(double measured, std::uint32_t, std::uint32_t) const {
    return {static_cast<float>(measured)};
  }
  __device__ Symbol symbol(float v, std::uint32_t, const Gauge&) const {
    return {0, is_negative(v)};
  }
  __device__ std::uint32_t field(Symbol) const { return 0; }
  __device__ float value(Symbol s, const Gauge& by) const {
    return s.negative ? -by.norm : by.norm;
  }
};

// Measures a row by its largest magnitude, which is not sent.
struct ByLargest {
  using Reduce = LargestBits<float>;
  struct Gauge {
    float norm;
  };
  __device__ static double measure(Reduce::Value most_bits, std::uint32_t) {
    return Reduce::number(most_bits);
  }
  __device__ static Gauge gauge(double measured, std::uint32_t, std::uint32_t) {
    return {static_cast<float>(measured)};
  }
};

// natural. Levels are exponents.
struct Powers : ByLargest {
  static constexpr QuantiserTraits traits{.counts_from_largest = true};

  std::uint32_t bits = 8, most = most_power_code;

  __device__ static double limit() { return largest_power; }
  __device__ Symbol symbol(float v, std::uint32_t word, const Gauge&) const {
    const std::uint32_t code = power_code(v, word);
    return {code, is_negative(v) && code != 0};
  }
  __device__ std::uint32_t field(Symbol s) const { return s.level; }
  __device__ float value(Symbol s, const Gauge&) const { return power_value(s.level, s.negative); }
};

// grid. `most` is the number of cells on one side.
struct Cells {
  using Reduce = LargestBits<float>;
  struct Gauge {
    CellBox box;
    float unit, unused;  // with padding nvcc copies it byte by byte
  };
  static constexpr QuantiserTraits traits{
      .has_signs = false, .has_noise = false, .saturates = true};

  double r0, kappa;
  std::uint32_t bits, most;

  __device__ static double measure(Reduce::Value most_bits, std::uint32_t) {
    return Reduce::number(most_bits);
  }
  __device__ static double limit() { return FLT_MAX; }
  __device__ Gauge gauge(double, std::uint32_t, std::uint32_t round) const {
    const CellBox box(r0, kappa, round, most);
    return {box, box.unit<float>(most), 0.0f};
  }
  __device__ bool outside(float v, const Gauge& by) const { return by.box.is_outside(v); }
  __device__ Symbol symbol(float v, std::uint32_t, const Gauge& by) const {
    const std::uint32_t cell = by.box.cell(v, most);
    return {cell_level(cell, most), cell_is_negative(cell, most)};
  }
  __device__ std::uint32_t field(Symbol s) const {
    return cell_of_level(s.level, s.negative, most);
  }
  __device__ float value(Symbol s, const Gauge& by) const {
    return cell_value(field(s), most, by.unit);
  }
};

// adaptive. `most` is the number of the last point.
struct Points : ByLargest {
  static constexpr QuantiserTraits traits{.is_ternary = true, .has_table = true};

  const double* points;
  double last;
  std::uint32_t bits, most;

  __device__ double limit() const { return last; }
  __device__ Symbol symbol(float v, std::uint32_t word, const Gauge&) const {
    const std::uint32_t level = point_level(points, 0, most, most, std::abs(v), word);
    return {level, is_negative(v) && level != 0};
  }
  __device__ std::uint32_t field(Symbol s) const { return s.level; }
  __device__ float value(Symbol s, const Gauge&) const {
    return static_cast<float>(s.negative ? -points[s.level] : points[s.level]);
  }
};

// Makes no symbols. It finds if a row is finite, and its largest magnitude.
struct Finite : ByLargest {
  static constexpr QuantiserTraits traits{
      .has_levels = false, .has_signs = false, .has_noise = false};

  std::uint32_t bits = 0, most = 0;

  __device__ static double limit() { return FLT_MAX; }
};

}  // namespace ticopd::cuda
