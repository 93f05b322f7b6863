#pragma once

#include "ticopd/objectives/linear.hpp"
#include "ticopd/objectives/sample_problem.hpp"

namespace ticopd {

// (a.x - b)^2 / 2, b the label: f_i = ||A_i x - b_i||^2 / (2 m).
template <class T>
class LeastSquares : public Linear<T> {
 public:
  using Linear<T>::Linear;

  static SampleProblem outline(const ObjectiveOptions&, ProblemSizes sizes) {
    return {.loss = SampleProblem::Loss::least_squares, .widths = {sizes.features, 1}};
  }
  static constexpr ObjectiveAbout about{.name = "least_squares",
                                        .labels = Labels::targets,
                                        .init = "zero",
                                        .summary = "||A x - b||^2 / (2 m), b the labels",
                                        .outline = outline};
  static std::unique_ptr<Model<T>> make(const ObjectiveOptions&, ProblemSizes sizes) {
    return std::make_unique<LeastSquares>(sizes.features);
  }

  bool classifies() const override { return false; }
  std::size_t correct(Lanes<T>, std::span<const T>, std::span<const T>) const override { return 0; }

 protected:
  typename Linear<T>::Loss loss_of(double z, double label) const override {
    const double residual = z - label;
    return {0.5 * residual * residual, residual};
  }
};

}  // namespace ticopd
