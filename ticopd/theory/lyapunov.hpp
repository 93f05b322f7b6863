#pragma once

#include <span>
#include <vector>

#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/network/field.hpp"
#include "ticopd/theory/theorem.hpp"

namespace ticopd {

// F_t of Theorem 1, in double, with xbar, x, lambda, xhat at one t (xhat^t is the surrogate after
// the exchange that starts from x^t) and v = alpha (lambda + grad f_i(xbar)):
//   f(xbar) - f_star + a/(eta alpha) ||v||^2_{Q + alpha (delta_1 (theta + eta) / 2 - (1 + delta_2)
//   theta) K} + a ||x||^2_K + delta_1 a <x, v>_K + delta_2 a ||xhat - x||^2,
// where K removes the mean over agents and Q is the pseudo-inverse of the Laplacian.
class Lyapunov {
 public:
  // The pseudo-inverse is a dense n x n matrix, and F_t takes n^2 d multiplications.
  static constexpr int most_agents = 1024;

  // std::invalid_argument for more agents than that.
  Lyapunov(const Graph& graph, const Theorem& theorem, double alpha, double theta,
           double f_star = 0);

  // `gradients` are grad f_i(xbar), `f` is f(xbar); one row for each agent.
  double operator()(double f, const Field<double>& x, const Field<double>& lambda,
                    const Field<double>& xhat, const Field<double>& gradients) const;

  // For a run of TiCoPD in one process with gain gamma, after any round. The surrogates are those
  // after the next exchange, computed here with the noise of the next round. f and its gradients
  // are in the run's precision.
  template <class T>
  double of(AnyNetwork<T>& net, AnyRun<T>& run, double gamma) const;

  double theta() const { return theta_; }
  double alpha() const { return alpha_; }

 private:
  std::size_t n_;
  std::vector<double> pseudo_inverse_;  // n x n
  double alpha_, theta_, eta_, a_, delta_1_, delta_2_, f_star_;
};

extern template double Lyapunov::of<float>(AnyNetwork<float>&, AnyRun<float>&, double) const;
extern template double Lyapunov::of<double>(AnyNetwork<double>&, AnyRun<double>&, double) const;

}  // namespace ticopd
