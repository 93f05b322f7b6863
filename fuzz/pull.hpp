#pragma once

#include <span>

#include "ticopd/objectives/objective.hpp"

namespace ticopd {

inline constexpr std::size_t pull_dimension = 3;

// Agent i is nearest to the point (i, i, i).
template <class T>
class Pull final : public Objective<T> {
 public:
  explicit Pull(int agents) : agents_(agents) {}
  int agents() const override { return agents_; }
  std::size_t dimension() const override { return pull_dimension; }
  double value(int agent, std::span<const T> x) const override {
    double sum = 0;
    for (const double v : x) sum += (v - agent) * (v - agent) / 2;
    return sum;
  }
  void gradient(int agent, std::span<const T> x, std::span<T> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - static_cast<T>(agent);
  }

 private:
  int agents_;
};

}  // namespace ticopd
