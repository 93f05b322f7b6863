#pragma once

namespace ticopd {

// The input of Theorem 1 of the TiCoPD paper: H. Liu, C.-Y. Yau, H.-T. Wai, "A Two-timescale
// Primal-dual Algorithm for Decentralized Optimization with Compression", 2025.
struct TheoremInput {
  int agents = 0;
  double rho_1 = 0;       // lambda_max(Laplacian), which is also M
  double rho_2 = 0;       // lambda_2(Laplacian)
  double delta = 0;       // E||Q(v) - v||^2 <= (1 - delta)^2 ||v||^2, in (0, 1]
  double smoothness = 0;  // L of Assumption 1
  double eta = 0;
  double a = 1;  // the free quantity
};

// Its constants, as printed, except for the corrections in docs/theory.md. std::invalid_argument
// for an input that it does not cover: one agent, a codec that does not contract, a step size of 0.
class Theorem {
 public:
  explicit Theorem(const TheoremInput& input);

  const TheoremInput& input() const { return in_; }
  double delta_tilde() const { return delta_tilde_; }
  double delta_1() const { return delta_1_; }
  double delta_2() const { return delta_2_; }
  double theta_lb() const { return theta_lb_; }
  double alpha_ub(double theta) const;

  // F_{t+1} <= F_t - gradient_share ||grad f(xbar)||^2 and F_{t+1} <= F_t - consensus_share
  // ||x||_K^2, in expectation; summed over t they are the theorem's two averages.
  static double gradient_share(double alpha) { return alpha / 16; }
  double consensus_share(double alpha, double theta) const {
    return alpha * theta * in_.rho_2 * in_.a / 4;
  }

  // Rounds T until the average of ||grad f(xbar)||^2 is proven to be at most epsilon.
  static double rounds(double F_0, double alpha, double epsilon) {
    return F_0 / (gradient_share(alpha) * epsilon);
  }

 private:
  TheoremInput in_;
  double delta_tilde_, delta_1_, delta_2_, theta_lb_;
};

}  // namespace ticopd
