#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ticopd/numeric/noise.hpp"
#include "ticopd/objectives/objective.hpp"

namespace ticopd::dense {

struct ProblemSize {
  int agents;
  std::size_t d, m;   // coordinates, samples of each agent
  double spread = 1;  // of the agents' own solutions; at 0 they are equal
  std::uint64_t seed = 5;
};

// f_i(x) = ||A_i x - b_i||^2 / (2m), b_i = A_i (x_common + spread x_own_i) + a little noise, A_i
// Gaussian. The loops are plain, so the bits do not depend on where a row lies in memory. Two
// blocks and mini-batches exercise every path of the network's gradient verb.
template <class T>
class LeastSquares final : public Objective<T> {
 public:
  explicit LeastSquares(const ProblemSize& size)
      : agents_(size.agents), d_(size.d), m_(size.m), spread_(size.spread) {
    const Generator common(Noise{size.seed, 1, 0, stream_synthetic});
    for (int i = 0; i < agents_; ++i) {
      Generator shared = common;
      Generator own(Noise{size.seed, 0, static_cast<std::uint32_t>(i), stream_synthetic});
      std::vector<double> x(d_);
      for (double& v : x) v = shared.normal() + spread_ * own.normal();
      for (std::size_t s = 0; s < m_; ++s) {
        double b = 0.01 * own.normal();
        for (std::size_t k = 0; k < d_; ++k) {
          const double a = own.normal();
          a_.push_back(static_cast<T>(a));
          b += a * x[k];
        }
        b_.push_back(static_cast<T>(b));
      }
    }
  }

  int agents() const override { return agents_; }
  std::size_t dimension() const override { return d_; }
  std::size_t samples(int) const override { return m_; }

  double value(int agent, std::span<const T> x) const override { return whole(agent, x, {}); }
  void gradient(int agent, std::span<const T> x, std::span<T> g) const override {
    whole(agent, x, g);
  }

  void start(std::uint64_t seed, std::span<T> x) const override {
    Generator random(Noise{seed, 0, 0, stream_init});
    for (T& v : x) v = static_cast<T>(random.normal());
  }

  std::size_t blocks(int, const Batch& batch) const override { return batch.full ? 2 : 1; }
  double evaluate(int agent, std::size_t block, const Batch& batch, std::span<const T> x,
                  std::span<T> g) const override {
    for (T& v : g) v = T(0);
    double value = 0;
    if (batch.full)
      for (std::size_t s = block == 0 ? 0 : m_ / 2; s < (block == 0 ? m_ / 2 : m_); ++s)
        value += sample(agent, s, m_, x, g);
    else
      for (const std::uint32_t s : batch.samples)
        value += sample(agent, s, batch.samples.size(), x, g);
    return value;
  }

  // The raw numbers, for the dense transcripts.
  const T* row(int agent, std::size_t s) const {
    return a_.data() + (static_cast<std::size_t>(agent) * m_ + s) * d_;
  }
  T target(int agent, std::size_t s) const { return b_[static_cast<std::size_t>(agent) * m_ + s]; }

 private:
  double whole(int agent, std::span<const T> x, std::span<T> g) const {
    for (T& v : g) v = T(0);
    double value = 0;
    for (std::size_t s = 0; s < m_; ++s) value += sample(agent, s, m_, x, g);
    return value;
  }
  double sample(int agent, std::size_t s, std::size_t count, std::span<const T> x,
                std::span<T> g) const {
    const T* a = row(agent, s);
    T residual = -target(agent, s);
    for (std::size_t k = 0; k < d_; ++k) residual += a[k] * x[k];
    const T weight = residual / static_cast<T>(count);
    for (std::size_t k = 0; k < g.size(); ++k) g[k] += weight * a[k];
    return static_cast<double>(residual) * static_cast<double>(residual) /
           (2.0 * static_cast<double>(count));
  }

  int agents_;
  std::size_t d_, m_;
  double spread_;
  std::vector<T> a_, b_;
};

}  // namespace ticopd::dense
