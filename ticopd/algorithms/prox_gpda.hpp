#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// M. Hong, D. Hajinezhad, M.-M. Zhao, "Prox-PDA: The Proximal Primal-Dual Algorithm for Fast
// Distributed Nonconvex Optimization and Learning Over Networks", 2017, the gradient variant
// Prox-GPDA. A is the edge-agent incidence matrix, A'A = L; with B = |A| in the proximal term
// A'A + B'B = 2D is diagonal, so every agent solves for its own x_i. p_i = (A' mu)_i. Written from
// the authors' code as ShengjunZhang/DBC carries it (Prox_PDA.m).
struct ProxGPDA {
  Schedule beta = {};

  static constexpr std::string_view name = "prox_gpda";
  static constexpr std::string_view paper = "Hong, Hajinezhad, Zhao 2017";
  static constexpr bool uncompressed = true;
  static constexpr auto parameters() {
    return std::array{Parameter<ProxGPDA>{"beta", &ProxGPDA::beta, positive,
                                          "penalty; the step size is 1 / (2 beta degree)",
                                          {1, 1e4, [](auto&, double L) { return 1 / L; }},
                                          "", true}};
  }
  void resolve(const Spectrum& graph, Warnings& warnings);

  // (1 / (2 d beta)) [beta (d x_i + sum_j x_j) - g_i - p_i], where d x_i + sum_j x_j = 2 d x - L x.
  template <class T>
  struct Primal {
    T beta;
    constexpr void operator()(T& x, T p, T Lx, T degree, T grad) const {
      x = x - (beta * Lx + grad + p) / (2 * degree * beta);
    }
  };

  template <class T>
  struct Dual {
    T beta;
    constexpr void operator()(T& p, T Lx) const { p = p + beta * Lx; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class ProxGPDA::Run {
 public:
  using T = typename Net::Scalar;

  Run(ProxGPDA params, Net& net)  // mu^0 = 0
      : params(params), net(net), copy(net, net.laplacian(), 0),
        x(net.start()), p(net.field()), grad(net.field()) {
    copy.start_at_common(x);
    net.gradient(x, grad);
  }

  void step() {
    const auto [beta] = at<T>(params, net.round());
    net.map(Primal<T>{beta}, x, p, copy.mixed(), net.degree(), grad);
    copy.send(x);           // x+ leaves for the neighbours
    net.gradient(x, grad);  // of the next round, while it travels
    copy.receive();
    net.map(Dual<T>{beta}, p, copy.mixed());  // mu+ = mu + beta A x+
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.dual("p", p);
    state.field("grad", grad);
    state.mirror("copy", copy);
  }

  const ProxGPDA params;
  Net& net;
  typename Net::Mirror copy;
  typename Net::Field x, p, grad;
};

}  // namespace ticopd
