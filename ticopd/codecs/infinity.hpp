#pragma once

#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/codecs/values.hpp"

namespace ticopd {

// Random rounding to levels of the largest magnitude,
//   Q(v)_k = sign(v_k) (||v||_inf / s) floor(s |v_k| / ||v||_inf + u_k),  s = 2^(bits - 1),
// unbiased, for each bucket (LEAD has buckets of 512). The payload is qsgd's; a level above s,
// which a field of `bits` bits could hold, is refused. X. Liu, Y. Li, R. Wang, J. Tang, M. Yan,
// "Linear Convergent Decentralized Optimization with Compression", 2021. Written from code that
// cites the paper (ShengjunZhang/Compression_distributed_nonconvex), not from its text.
struct LargestMagnitude {
  static constexpr CodecAbout about{
      .name = "infinity",
      .options = {"bits", "bucket", "coding"},
      .summary = "random rounding to 2^(bits - 1) levels of the largest magnitude",
      .may_follow = true};

  static constexpr std::uint32_t top_level(unsigned bits) { return (1u << bits) >> 1; }
  static constexpr bool can_scale = false, sums_squares = false;

  template <class T>
  using Measure = LargestBits<T>;
  template <class Loops, class T>
  static double measured(Source<T> v) {
    return static_cast<double>(largest_magnitude(v));
  }
  static constexpr double scale(double largest, std::size_t) { return largest; }

  // With the largest magnitude s units, a coordinate of l + f units adds f (1 - f) to the variance
  // and (l + f)^2 >= f^2 to ||v||^2, the largest one 0 and s^2. So the worst of n - 1 others are at
  // one f < 1, and the largest a f (1 - f) / (1 + a f^2), a = (n - 1) / s^2, is at 1 = 2 f + a f^2:
  // a f / 2. It is below a / 4 = (n - 1) / 4^bits, as the paper has it, and no row is worse.
  template <class Real>
  static constexpr Real omega(Real n, Real s) {
    return (std::sqrt(1.0 + std::max(0.0, n - 1) / (s * s)) - 1.0) / 2.0;
  }

  static double paper_bits(double s) { return std::ceil(std::log2(s + 1)); }
};

template <class T, class Loops = BestLoops<T>>
using Infinity = Qsgd<T, Loops, LargestMagnitude>;

extern template class Qsgd<float, BestLoops<float>, LargestMagnitude>;
extern template class Qsgd<double, BestLoops<double>, LargestMagnitude>;
extern template class Qsgd<float, ScalarLoops<float>, LargestMagnitude>;

}  // namespace ticopd
