#pragma once

#include "ticopd/codecs/scaled_signs.hpp"

namespace ticopd {

// Q(v) = (||v||_inf / 2) sign(v), per bucket.
// X. Yi, S. Zhang, T. Yang, T. Chai, K. H. Johansson, "Communication Compression for Distributed
// Nonconvex Optimization", 2022 (their 1-bit compressor). Written from a co-author's code
// (ShengjunZhang/Compression_distributed_nonconvex).
template <class T, class Loops = BestLoops<T>>
class NormSign final : public ScaledSigns<T, Loops> {
 public:
  static constexpr CodecAbout about{
      .name = "norm_sign",
      .options = {"bucket"},
      .summary = "one bit per coordinate and half the largest magnitude",
      .may_follow = true};
  using ScaledSigns<T, Loops>::ScaledSigns;

  // Q does not contract; Q / r with r = d / 2 does. With M = ||v||_inf,
  //   ||Q(v) / r - v||^2 = ||v||^2 - (2 M / d) ||v||_1 + M^2 / d <= ||v||^2 - (M / d) ||v||_1
  // because M <= ||v||_1. Since M ||v||_1 >= ||v||^2, the error is at most (1 - 1/d) ||v||^2, with
  // equality for one nonzero coordinate. (The constant usually quoted for it is the weaker 1 -
  // 1/d^2.) The longest bucket sets r. A shorter bucket has a smaller last term, so the bound holds
  // for it too.
  ErrorBound error_bound(std::size_t d) const override {
    if (d == 0) return {};
    const double n = static_cast<double>(this->longest_bucket(d));
    return {.relative = 1.0 - 1.0 / n, .rescale = n / 2};
  }

 private:
  double scale_of(Source<T> v) const override {
    return HalfOfLargest::scale(static_cast<double>(largest_magnitude(v)), v.size());
  }
};

}  // namespace ticopd
