#pragma once

#include <memory>
#include <vector>

#include "ticopd/objectives/model.hpp"
#include "ticopd/objectives/options.hpp"

namespace ticopd {

// Losses of one number z = a.x per sample, without bias: a derived class computes the loss and its
// derivative from z, in double in every run, which costs little beside the products.
template <class T>
class Linear : public Model<T> {
 public:
  explicit Linear(std::size_t features) : features_(features) {}

  std::vector<Part> parts() const override { return {{{"x", {features_}}, features_}}; }
  std::size_t outputs() const override { return 1; }

  double losses(Lanes<T> z, std::span<const T> labels, std::span<const T>, T*,
                T scale) const override {
    double sum = 0.0;
    for (std::size_t i = 0; i < z.count; ++i) {
      const Loss loss = loss_of(static_cast<double>(z.at[i]), static_cast<double>(labels[i]));
      sum += loss.value;
      z.at[i] = static_cast<T>(static_cast<double>(scale) * loss.derivative);
    }
    return static_cast<double>(scale) * sum;
  }

 protected:
  struct Loss {
    double value;
    double derivative;  // by z
  };
  virtual Loss loss_of(double z, double label) const = 0;

 private:
  std::size_t features_;
};

}  // namespace ticopd
