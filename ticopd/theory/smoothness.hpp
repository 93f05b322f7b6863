#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ticopd/network/field.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/system/pool.hpp"

namespace ticopd {

struct SmoothnessOptions {
  int iterations = 40;                                  // of the power method, at most
  double tolerance = 1e-3;                              // relative change that ends it
  std::size_t samples = 0;                              // of each shard, spread over it; 0: all
  std::function<void(int done, int of)> on_agent = {};  // may come from any thread
};

// An estimate from below of L = max_i L_i of Assumption 1: the largest |eigenvalue| of the Hessian
// of each f_i, by the power method on differences of gradients,
//   H v = (grad f_i(x + h v) - grad f_i(x - h v)) / (2 h).
// It is a Hessian at one point; `at` may be called for several, and the largest counts. Each call
// starts from the directions that the last one found.
template <class T>
class Smoothness {
 public:
  // Both must outlive it.
  Smoothness(const Objective<T>& objective, Pool& pool, SmoothnessOptions options = {});

  // f_i at row i of x, or all of them at one common x. Returns max_i of this call; NaN if a
  // gradient is not finite.
  double at(const Field<T>& x);
  double at(std::span<const T> x);

  // The same of f = (1/n) sum_i f_i at one x: at most the largest of its parts, often far less.
  double of_mean(std::span<const T> x);

  double largest() const { return largest_; }
  // L_i of the last call, by agent.
  const std::vector<double>& of_agents() const { return of_agents_; }
  // The samples that were used, and all samples, over all shards.
  std::size_t samples_used() const { return used_; }
  std::size_t samples() const { return all_; }

 private:
  double at(const std::function<std::span<const T>(std::size_t agent)>& x);
  using Gradient = std::function<void(std::span<const T> x, std::span<T> g)>;
  double power_method(std::span<const T> x, std::span<T> direction, const Gradient& gradient) const;
  void gradient(int agent, std::span<const T> x, std::span<T> g) const;

  const Objective<T>& objective_;
  Pool& pool_;
  SmoothnessOptions options_;
  std::vector<Batch> batches_;
  Field<T> directions_;
  std::vector<T> direction_of_mean_;
  std::vector<double> of_agents_;
  double largest_ = 0;
  std::size_t used_ = 0, all_ = 0;
};

extern template class Smoothness<float>;
extern template class Smoothness<double>;

}  // namespace ticopd
