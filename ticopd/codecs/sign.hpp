#pragma once

#include "ticopd/codecs/scaled_signs.hpp"

namespace ticopd {

// Q(v) = (||v||_1 / d) sign(v), per bucket.
// S. P. Karimireddy, Q. Rebjock, S. Stich, M. Jaggi, "Error Feedback Fixes SignSGD and other
// Gradient Compression Schemes", 2019.
template <class T, class Loops = BestLoops<T>>
class Sign final : public ScaledSigns<T, Loops> {
 public:
  static constexpr CodecAbout about{.name = "sign",
                                    .options = {"bucket"},
                                    .summary = "one bit per coordinate and the mean magnitude",
                                    .may_follow = true};
  using ScaledSigns<T, Loops>::ScaledSigns;

  // ||Q(v) - v||^2 = ||v||^2 - ||v||_1^2 / d, and ||v||_1 >= ||v||, with equality for one nonzero
  // coordinate. The longest bucket has the worst bound.
  ErrorBound error_bound(std::size_t d) const override {
    return {.relative = d == 0 ? 0.0 : 1.0 - 1.0 / static_cast<double>(this->longest_bucket(d))};
  }

 private:
  double scale_of(Source<T> v) const override {
    return MeanMagnitude::scale(Loops::sum_of_magnitudes(v), v.size());
  }
};

}  // namespace ticopd
