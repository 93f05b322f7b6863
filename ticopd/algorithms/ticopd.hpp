#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// H. Liu, C.-Y. Yau, H.-T. Wai, "A Two-timescale Primal-dual Algorithm for Decentralized
// Optimization with Compression", 2025, Algorithm 1. Written from the paper; where the paper leaves
// the start open (xhat^0 = 0, lambda^0 = 0), from the authors' code.
struct TiCoPD {
  Schedule alpha = {}, theta = {}, eta = {};
  Schedule beta = {};       // the derivation gives 1 - alpha theta lambda_max(L)
  Schedule gamma = 1;  // below 1 for compressors that do not contract
  bool warm_start = false;

  static constexpr std::string_view name = "ticopd";
  static constexpr std::string_view paper = "Liu, Yau, Wai 2025, Algorithm 1";
  static constexpr auto parameters() {
    return std::array{
        Parameter<TiCoPD>{"alpha", &TiCoPD::alpha, positive, "primal step size", {1e-3, 10}},
        Parameter<TiCoPD>{"theta", &TiCoPD::theta, positive, "penalty on disagreement",
                          {0.03, 1, [](auto& p, double L) { return 1 / (p.alpha(1) * L); }}},
        Parameter<TiCoPD>{"eta", &TiCoPD::eta, positive, "dual step size",
                          {1e-3, 1, [](auto& p, double) { return p.theta(1); }}},
        Parameter<TiCoPD>{"beta", &TiCoPD::beta, unit_interval, "weight of x against its surrogate", {},
                          "1 - alpha theta lambda_max(L)"},
        Parameter<TiCoPD>{"gamma", &TiCoPD::gamma, up_to_one, "gain of the surrogate"}};
  }
  static constexpr auto flags() {
    return std::array{Flag<TiCoPD>{"warm_start", &TiCoPD::warm_start, "surrogates start at x0"}};
  }
  void resolve(const Spectrum& graph, Warnings& warnings);

  // Line 5, for one coordinate of one agent. Lxhat is |N_i| xhat_i - xhat_{i,-i}.
  template <class T>
  struct PrimalDual {
    T alpha, theta, eta, beta;
    constexpr void operator()(T& x, T& lambda, T xhat, T Lxhat, T grad) const {
      x      = beta * x + (1 - beta) * xhat - alpha * (grad + lambda + theta * Lxhat);
      lambda = lambda + eta * Lxhat;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class TiCoPD::Run {
 public:
  using T = typename Net::Scalar;

  Run(TiCoPD params, Net& net)  // 1: x^0 common, xhat^0 = 0, lambda^0 = 0
      : params(params), net(net), xhat(net, net.laplacian(), 0),
        x(net.start()), lambda(net.field()), grad(net.field()) {
    if (params.warm_start) xhat.start_at_common(x);
  }

  void step() {  // 2: for t = 1, 2, ...
    const auto [alpha, theta, eta, beta, gamma] = at<T>(params, net.round());
    xhat.send(x, gamma);    // 3: xhat += Q(x - xhat); ENC(x - xhat) leaves for the neighbours
    net.gradient(x, grad);  //    while the messages travel
    xhat.receive();         // 4: add DEC of what arrived
    net.map(PrimalDual<T>{alpha, theta, eta, beta},  // 5
            x, lambda, xhat.own(), xhat.mixed(), grad);
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.dual("lambda", lambda);
    state.mirror("xhat", xhat);
  }

  const TiCoPD params;
  Net& net;
  typename Net::Mirror xhat;
  typename Net::Field x, lambda, grad;
};

}  // namespace ticopd
