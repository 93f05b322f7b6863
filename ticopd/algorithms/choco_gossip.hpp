#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// A. Koloskova, S. U. Stich, M. Jaggi, "Decentralized Stochastic Optimization and Gossip Algorithms
// with Compressed Communication", 2019, Algorithm 1: averaging alone. Written from the authors'
// code (epfml/ChocoSGD).
//
// Each agent takes one step of gradient descent, x_i = x0 - grad f_i(x0), and the agents average
// the results. They end at x0 - grad f(x0), which none of them could compute alone. (On least
// squares with A_i = I and x0 = 0 that is the mean of the data b_i.)
struct ChocoGossip {
  Schedule gamma = {};

  static constexpr std::string_view name = "choco_gossip";
  static constexpr std::string_view paper = "Koloskova, Stich, Jaggi 2019, Algorithm 1";
  static constexpr auto parameters() {
    return std::array{Parameter<ChocoGossip>{"gamma", &ChocoGossip::gamma, up_to_one,
                                             "gossip step size", {0.001, 1}}};
  }

  template <class T>
  struct Begin {
    constexpr void operator()(T& x, T grad) const { x = x - grad; }
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
class ChocoGossip::Run {
 public:
  using T = typename Net::Scalar;

  Run(ChocoGossip params, Net& net)  // xhat^0 = 0
      : params(params), net(net), xhat(net, net.w_minus_i(), 0), x(net.start()) {
    typename Net::Field grad = net.field();
    net.full_gradient(x, grad);
    net.map(Begin<T>{}, x, grad);
  }

  void step() {
    const auto [gamma] = at<T>(params, net.round());
    xhat.send(x);                                // 2-4: q = Q(x - xhat) leaves; xhat += q
    xhat.receive();                              // 5-6: xhat_j += q_j
    net.map(Gossip<T>{gamma}, x, xhat.mixed());  // 7: x += gamma sum_j w_ij (xhat_j - xhat_i)
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.mirror("xhat", xhat);
  }

  const ChocoGossip params;
  Net& net;
  typename Net::Mirror xhat;
  typename Net::Field x;
};

}  // namespace ticopd
