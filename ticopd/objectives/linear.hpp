#pragma once

#include <vector>

#include "ticopd/objectives/blas.hpp"
#include "ticopd/objectives/model.hpp"

namespace ticopd {

// Losses of one number a.x per sample, without bias: a derived class turns it into a loss and its
// derivative, in double whatever the run's precision, since that is nothing beside the products.
template <class T>
class Linear : public Model<T> {
 public:
  explicit Linear(std::size_t features) : features_(features) {}

  std::vector<Part> parts() const override { return {{{"x", {features_}}, features_, true}}; }

  double tile(const T* features, std::span<const double> labels, std::span<const T> x, T* g,
              T scale) const override {
    const std::size_t count = labels.size();
    T* z = products(features, count, x);
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const Loss loss = loss_of(static_cast<double>(z[i]), labels[i]);
      sum += loss.value;
      z[i] = static_cast<T>(static_cast<double>(scale) * loss.derivative);
    }
    if (g != nullptr)
      gemm(true, false, features_, 1, count, T(1), features, features_, z, 1, T(1), g, 1);
    return static_cast<double>(scale) * sum;
  }

 protected:
  struct Loss {
    double value;
    double derivative;  // by z = a.x
  };
  virtual Loss loss_of(double z, double label) const = 0;

  T* products(const T* features, std::size_t count, std::span<const T> x) const {
    struct Products;
    T* z = scratch<T, Products>(count);
    gemm(false, false, count, 1, features_, T(1), features, features_, x.data(), 1, T(0), z, 1);
    return z;
  }

 private:
  std::size_t features_;
};

}  // namespace ticopd
