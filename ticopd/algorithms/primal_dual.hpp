#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// X. Yi, S. Zhang, T. Yang, T. Chai, K. H. Johansson, "Linear Convergence of First- and
// Zeroth-Order Primal-Dual Algorithms for Distributed Nonconvex Optimization", 2021
// (arXiv 1912.12110), the first-order algorithm. TiCoPD is this with compression. Written from a
// co-author's code (ShengjunZhang/DBC, DFO_PDA.m).
struct PrimalDual {
  Schedule eta = {}, alpha = {}, beta = {};

  static constexpr std::string_view name = "primal_dual";
  static constexpr std::string_view paper = "Yi et al. 2021";
  static constexpr bool uncompressed = true;
  static constexpr auto parameters() {
    return std::array{
        Parameter<PrimalDual>{"eta", &PrimalDual::eta, positive, "step size", {1e-3, 10}},
        Parameter<PrimalDual>{"alpha", &PrimalDual::alpha, positive, "penalty on disagreement",
                              {0.03, 1, [](auto& p, double L) { return 1 / (p.eta(1) * L); }}},
        Parameter<PrimalDual>{"beta", &PrimalDual::beta, positive, "weight of the dual",
                              {0.03, 1, [](auto& p, double) {
                                return std::sqrt(p.alpha(1) / p.eta(1));  // eta beta^2 of order
                              }}}};                                       // alpha
  }

  template <class T>
  struct Step {  // Lx = sum_j L_ij x_j
    T eta, alpha, beta;
    constexpr void operator()(T& x, T& v, T Lx, T grad) const {
      x = x - eta * (alpha * Lx + beta * v + grad);
      v = v + eta * beta * Lx;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class PrimalDual::Run {
 public:
  using T = typename Net::Scalar;

  Run(PrimalDual params, Net& net)  // v^0 = 0
      : params(params), net(net), copy(net, net.laplacian(), 0),
        x(net.start()), v(net.field()), grad(net.field()) {}

  void step() {
    const auto [eta, alpha, beta] = at<T>(params, net.round());
    copy.send(x);           // x_i leaves for the neighbours
    net.gradient(x, grad);  // while it travels
    copy.receive();
    net.map(Step<T>{eta, alpha, beta}, x, v, copy.mixed(), grad);
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.dual("v", v);
    state.mirror("copy", copy);
  }

  const PrimalDual params;
  Net& net;
  typename Net::Mirror copy;
  typename Net::Field x, v, grad;
};

}  // namespace ticopd
