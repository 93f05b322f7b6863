#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// A. Koloskova, S. U. Stich, M. Jaggi, "Decentralized Stochastic Optimization and Gossip Algorithms
// with Compressed Communication", 2019, Algorithm 2. Written from the authors' code
// (epfml/ChocoSGD), in the order of the paper's Algorithm 2: compress, then mix.
struct ChocoSGD {
  Schedule eta = {}, gamma = {};
  bool warm_start = false;

  static constexpr std::string_view name = "choco_sgd";
  static constexpr std::string_view paper = "Koloskova, Stich, Jaggi 2019, Algorithm 2";
  static constexpr auto parameters() {
    return std::array{
        Parameter<ChocoSGD>{"eta", &ChocoSGD::eta, positive, "gradient step size", {1e-4, 10}},
        Parameter<ChocoSGD>{"gamma", &ChocoSGD::gamma, up_to_one, "gossip step size", {0.03, 1}}};
  }
  static constexpr auto flags() {
    return std::array{
        Flag<ChocoSGD>{"warm_start", &ChocoSGD::warm_start, "surrogates start at x0"}};
  }

  template <class T>
  struct Descend {
    T eta;
    constexpr void operator()(T& x, T grad) const { x = x - eta * grad; }
  };

  template <class T>
  struct Gossip {  // xhatWI = sum_j w_ij (xhat_j - xhat_i)
    T gamma;
    constexpr void operator()(T& x, T xhatWI) const { x = x + gamma * xhatWI; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class ChocoSGD::Run {
 public:
  using T = typename Net::Scalar;

  Run(ChocoSGD params, Net& net)  // xhat^0 = 0
      : params(params), net(net), xhat(net, net.w_minus_i(), 0), x(net.start()), grad(net.field()) {
    if (params.warm_start) xhat.start_at_common(x);
  }

  void step() {
    const auto [eta, gamma] = at<T>(params, net.round());
    net.gradient(x, grad);                            // 2
    net.map(Descend<T>{eta}, x, grad);                // 3: x^{t+1/2} = x - eta g
    xhat.send(x);                                     // 4-6: q = Q(x^{t+1/2} - xhat) leaves
    xhat.receive();                                   // 7-8: xhat_j += q_j
    net.map(Gossip<T>{gamma}, x, xhat.mixed());       // 9: x += gamma sum_j w_ij (xhat_j - xhat_i)
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.mirror("xhat", xhat);
  }

  const ChocoSGD params;
  Net& net;
  typename Net::Mirror xhat;
  typename Net::Field x, grad;
};

}  // namespace ticopd
