#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// D. Hajinezhad, M. Hong, "Perturbed Proximal Primal-Dual Algorithm for Nonconvex Nonsmooth
// Optimization", 2019, PProx-PDA for smooth f without constraints. A is the edge-agent incidence
// matrix, A'A = L, and p_i = (A' mu)_i. The perturbation shrinks the dual by a factor of
// 1 - rho gamma each round, so the agents' models stay O(gamma) apart. Written from the first
// author's code.
struct ProxPdaPerturbed {
  Schedule rho = {}, gamma = {};
  double ell = 0;  // lambda_max(A'A)

  static constexpr std::string_view name = "prox_pda_perturbed";
  static constexpr std::string_view paper = "Hajinezhad, Hong 2019";
  static constexpr bool uncompressed = true;
  static constexpr auto parameters() {
    return std::array{
        Parameter<ProxPdaPerturbed>{"rho", &ProxPdaPerturbed::rho, positive,
                                    "penalty; the step size is 1 / (rho lambda_max(L))",
                                    {1, 1e4, [](auto&, double L) { return 1 / L; }}, "", true},
        Parameter<ProxPdaPerturbed>{"gamma", &ProxPdaPerturbed::gamma, positive,
                                    "perturbation of the dual; rho gamma < 1",
                                    {1e-4, 0.5, [](auto& p, double) { return 1 / p.rho(1); }}}};
  }
  void resolve(const Spectrum& graph, Warnings& warnings);

  template <class T>
  struct Primal {
    T rho, gamma, ell;
    constexpr void operator()(T& x, T p, T Lx, T grad) const {
      x = x - (grad + (1 - rho * gamma) * p + rho * Lx) / (rho * ell);
    }
  };

  template <class T>
  struct Dual {
    T rho, gamma;
    constexpr void operator()(T& p, T Lx) const { p = (1 - rho * gamma) * p + rho * Lx; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class ProxPdaPerturbed::Run {
 public:
  using T = typename Net::Scalar;

  Run(ProxPdaPerturbed params, Net& net)  // mu^0 = 0
      : params(params), net(net), copy(net, net.laplacian(), 0),
        x(net.start()), p(net.field()), grad(net.field()) {
    copy.start_at_common(x);
    net.gradient(x, grad);
  }

  void step() {
    const auto [rho, gamma] = at<T>(params, net.round());
    net.map(Primal<T>{rho, gamma, static_cast<T>(params.ell)}, x, p, copy.mixed(), grad);
    copy.send(x);           // x+ leaves for the neighbours
    net.gradient(x, grad);  // of the next round, while it travels
    copy.receive();
    net.map(Dual<T>{rho, gamma}, p, copy.mixed());  // mu+ = (1 - rho gamma) mu + rho A x+
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.dual("p", p);
    state.field("grad", grad);
    state.mirror("copy", copy);
  }

  const ProxPdaPerturbed params;
  Net& net;
  typename Net::Mirror copy;
  typename Net::Field x, p, grad;
};

}  // namespace ticopd
