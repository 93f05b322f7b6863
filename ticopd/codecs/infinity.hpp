#pragma once

#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/codecs/values.hpp"

namespace ticopd {

// Random rounding to levels of the largest magnitude,
//   Q(v)_k = sign(v_k) (||v||_inf / s) floor(s |v_k| / ||v||_inf + u_k),  s = 2^(bits - 1),
// unbiased, per bucket (LEAD uses buckets of 512). The payload is qsgd's. A level above s is
// rejected, although a field of `bits` bits could hold it. X. Liu, Y. Li, R. Wang, J. Tang, M. Yan,
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

  // Take the largest magnitude as s units. Its coordinate adds 0 to the variance and s^2 to
  // ||v||^2. A coordinate of l + f units, f < 1, adds f (1 - f) and (l + f)^2 >= f^2. So in the
  // worst row the other n - 1 coordinates all have the same f and l = 0. With a = (n - 1) / s^2 the
  // ratio a f (1 - f) / (1 + a f^2) is largest where 1 = 2 f + a f^2; it is a f / 2 there. That is
  // below the paper's a / 4 = (n - 1) / 4^bits.
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
