#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// A. Nedic, A. Ozdaglar, "Distributed Subgradient Methods for Multi-agent Optimization", 2009,
// equation (3): combine, then descend. Sends the model itself, uncompressed. Written from codes
// that agree on the equation (liboyue/Network-Distributed-Algorithm, team-decent/decent-bench).
struct DGD {
  Schedule eta = {};

  static constexpr std::string_view name = "dgd";
  static constexpr std::string_view paper = "Nedic, Ozdaglar 2009, equation (3)";
  static constexpr bool uncompressed = true;
  static constexpr auto parameters() {
    return std::array{Parameter<DGD>{"eta", &DGD::eta, positive, "step size", {1e-4, 10}}};
  }

  template <class T>
  struct Step {  // xWI = sum_j w_ij (x_j - x_i)
    T eta;
    constexpr void operator()(T& x, T xWI, T grad) const { x = x + xWI - eta * grad; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class DGD::Run {
 public:
  using T = typename Net::Scalar;

  Run(DGD params, Net& net)
      : params(params), net(net), copy(net, net.w_minus_i(), 0),
        x(net.start()), grad(net.field()) {}

  void step() {
    const auto [eta] = at<T>(params, net.round());
    copy.send(x);           // x_i leaves for the neighbours
    net.gradient(x, grad);  // while it travels
    copy.receive();
    net.map(Step<T>{eta}, x, copy.mixed(), grad);  // (3): x_i = sum_j w_ij x_j - eta g_i
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.mirror("copy", copy);
  }

  const DGD params;
  Net& net;
  typename Net::Mirror copy;
  typename Net::Field x, grad;
};

}  // namespace ticopd
