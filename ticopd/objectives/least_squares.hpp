#pragma once

#include <memory>

#include "ticopd/objectives/linear.hpp"

namespace ticopd {

// (a.x - b)^2 / 2, b the label: f_i = ||A_i x - b_i||^2 / (2 m).
template <class T>
class LeastSquares : public Linear<T> {
 public:
  using Linear<T>::Linear;

  std::unique_ptr<Model<T>> with_features(std::size_t count) const override {
    return std::make_unique<LeastSquares>(count);
  }
  bool classifies() const override { return false; }
  std::size_t correct(const T*, std::span<const double>, std::span<const T>) const override {
    return 0;
  }

 protected:
  typename Linear<T>::Loss loss_of(double z, double label) const override {
    const double residual = z - label;
    return {0.5 * residual * residual, residual};
  }
};

}  // namespace ticopd
