#pragma once

#include "ticopd/numeric/sum.hpp"
#include "ticopd/objectives/logistic.hpp"

namespace ticopd {

// Logistic loss + l2r * sum_k x_k^2 / (1 + x_k^2), the usual nonconvex test problem of the field.
template <class T>
class NonconvexLogistic : public Logistic<T> {
 public:
  static constexpr ObjectiveAbout about{.name = "nonconvex_logistic",
                                        .labels = Labels::two_classes,
                                        .init = "zero",
                                        .summary = "logistic + l2r * sum_k x_k^2 / (1 + x_k^2)",
                                        .options = {"l2r"}};
  static std::unique_ptr<Model<T>> make(const ObjectiveOptions& options, ProblemSizes sizes) {
    return std::make_unique<NonconvexLogistic>(sizes.features, options.l2r);
  }

  NonconvexLogistic(std::size_t features, double l2r) : Logistic<T>(features), l2r_(l2r) {}

  double penalty(std::span<const T> x, T* g) const override {
    if (g != nullptr)
      for (std::size_t k = 0; k < x.size(); ++k) {
        const double v = static_cast<double>(x[k]);
        const double q = 1.0 + v * v;
        g[k] += static_cast<T>(l2r_ * 2.0 * v / (q * q));
      }
    return l2r_ * tree_sum(x.size(), [x](std::size_t k) {
             const double square = static_cast<double>(x[k]) * static_cast<double>(x[k]);
             return square / (1.0 + square);
           });
  }

 private:
  double l2r_;
};

}  // namespace ticopd
