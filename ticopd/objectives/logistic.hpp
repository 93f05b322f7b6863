#pragma once

#include <algorithm>
#include <cmath>

#include "ticopd/objectives/linear.hpp"
#include "ticopd/objectives/sample_problem.hpp"

namespace ticopd {

// log(1 + exp(-y a.x)), y = +1 for class 1 and -1 for class 0.
template <class T>
class Logistic : public Linear<T> {
 public:
  using Linear<T>::Linear;

  static SampleProblem outline(const ObjectiveOptions&, ProblemSizes sizes) {
    return {.loss = SampleProblem::Loss::logistic, .widths = {sizes.features, 1}};
  }
  static constexpr ObjectiveAbout about{.name = "logistic",
                                        .labels = Labels::two_classes,
                                        .init = "zero",
                                        .summary = "log(1 + exp(-y a.x)), two classes",
                                        .outline = outline};
  static std::unique_ptr<Model<T>> make(const ObjectiveOptions&, ProblemSizes sizes) {
    return std::make_unique<Logistic>(sizes.features);
  }

  std::size_t correct(Lanes<T> z, std::span<const T> labels, std::span<const T>) const override {
    std::size_t right = 0;
    for (std::size_t i = 0; i < z.count; ++i)  // 0 is class 0; NaN is in neither
      right += labels[i] > T(0.5) ? z.at[i] > T(0) : z.at[i] <= T(0);
    return right;
  }

 protected:
  // exp is only taken of -|t|, so it never overflows, and both tails keep their digits.
  typename Linear<T>::Loss loss_of(double z, double label) const override {
    const double y = label > 0.5 ? 1.0 : -1.0;
    const double t = y * z;
    const double e = std::exp(-std::fabs(t));
    const double wrong = (t > 0 ? e : 1.0) / (1.0 + e);  // 1 / (1 + exp(t))
    return {std::log1p(e) + std::max(-t, 0.0), -y * wrong};
  }
};

}  // namespace ticopd
