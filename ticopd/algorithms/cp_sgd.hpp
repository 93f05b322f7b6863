#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// A. Xie et al., CP-SGD, 2024 (arXiv 2403.01322), after X. Yi, S. Zhang, T. Yang, T. Chai,
// K. H. Johansson, "Communication Compression for Distributed Nonconvex Optimization", 2022
// (arXiv 2201.03930). With alpha_x = 1 it is TiCoPD with beta = 1.
//
// Written from two codes, not from the paper's text: one that cites it (OscarYau525/FSPDA,
// cp_sgd.py) and that of a co-author of the parent method
// (ShengjunZhang/Compression_distributed_nonconvex). docs/limitations.md says how it was checked.
struct CpSGD {
  Schedule eta = {}, gamma = {}, omega = {};
  Schedule alpha_x = 1;
  bool warm_start = false;

  static constexpr std::string_view name = "cp_sgd";
  static constexpr std::string_view paper = "Xie et al. 2024, after Yi et al. 2022";
  static constexpr auto parameters() {
    return std::array{
        Parameter<CpSGD>{"eta", &CpSGD::eta, positive, "step size", {1e-3, 10}},
        Parameter<CpSGD>{"gamma", &CpSGD::gamma, positive, "penalty on disagreement",
                         {0.03, 1, [](auto& p, double L) { return 1 / (p.eta(1) * L); }}},
        Parameter<CpSGD>{"omega", &CpSGD::omega, positive, "weight of the dual",
                         {0.03, 1, [](auto& p, double) {
                           return std::sqrt(p.gamma(1) / p.eta(1));  // eta omega^2 of order gamma
                         }}},
        Parameter<CpSGD>{"alpha_x", &CpSGD::alpha_x, up_to_one, "gain of the memory x^c"}};
  }
  static constexpr auto flags() {
    return std::array{Flag<CpSGD>{"warm_start", &CpSGD::warm_start, "the memory starts at x0"}};
  }

  template <class T>
  struct PrimalDual {  // Lxhat = sum_j L_ij xhat_j, xhat = x^c + q
    T eta, gamma, omega;
    constexpr void operator()(T& x, T& v, T Lxhat, T grad) const {
      x = x - eta * (gamma * Lxhat + omega * v + grad);
      v = v + eta * omega * Lxhat;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class CpSGD::Run {
 public:
  using T = typename Net::Scalar;

  Run(CpSGD params, Net& net)  // x^c = 0, v = 0
      : params(params), net(net), xc(net, net.laplacian(), 0, {.estimate = true}),
        x(net.start()), v(net.field()), grad(net.field()) {
    if (params.warm_start) xc.start_at_common(x);
  }

  void step() {
    const auto [eta, gamma, omega, alpha_x] = at<T>(params, net.round());
    xc.send(x, alpha_x);    // q = C(x - x^c); xhat = x^c + q; x^c += alpha_x q
    net.gradient(x, grad);  // while q travels
    xc.receive();
    net.map(PrimalDual<T>{eta, gamma, omega}, x, v, xc.mixed_estimate(), grad);
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.dual("v", v);
    state.mirror("xc", xc);
  }

  const CpSGD params;
  Net& net;
  typename Net::Mirror xc;
  typename Net::Field x, v, grad;
};

}  // namespace ticopd
