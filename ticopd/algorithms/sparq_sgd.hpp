#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// N. Singh, D. Data, J. George, S. Diggavi, "SPARQ-SGD: Event-Triggered and Compressed
// Communication in Decentralized Stochastic Optimization", 2019, Algorithm 1. Every `period` rounds
// an agent sends a message only if its model has moved far enough from the surrogate that its
// neighbours know. With threshold = 0 and period = 1 it is CHOCO-SGD. Written from code that cites
// the paper (OscarYau525/FSPDA, sparq_sgd.py), not from its text.
struct SparqSGD {
  Schedule eta = {}, gamma = {};
  Schedule threshold = {};
  Schedule period = 1;

  static constexpr std::string_view name = "sparq_sgd";
  static constexpr std::string_view paper = "Singh et al. 2019, Algorithm 1";
  static constexpr auto parameters() {
    return std::array{
        Parameter<SparqSGD>{"eta", &SparqSGD::eta, positive, "gradient step size", {1e-4, 10}},
        Parameter<SparqSGD>{"gamma", &SparqSGD::gamma, up_to_one, "gossip step size", {0.03, 1}},
        Parameter<SparqSGD>{"threshold", &SparqSGD::threshold, at_least_zero,
                            "c_t: speaks where (x - xhat)^2 > c_t eta_t^2", {0.01, 1e4}},
        Parameter<SparqSGD>{"period", &SparqSGD::period, whole_number, "rounds between exchanges"}};
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
class SparqSGD::Run {
 public:
  using T = typename Net::Scalar;

  Run(SparqSGD params, Net& net)  // xhat^0 = 0
      : params(params), net(net), xhat(net, net.w_minus_i(), 0),
        x(net.start()), grad(net.field()) {}

  void step() {
    const auto [eta, gamma, threshold, period] = at<T>(params, net.round());
    net.gradient(x, grad);                            // 3
    net.map(Descend<T>{eta}, x, grad);                // 4: x^{t+1/2} = x - eta g
    if (net.round() % static_cast<std::uint32_t>(period) != 0) return;  // 5, 18: not in I_T
    xhat.send_moved(x, threshold * eta * eta);        // 7-12: Q(x^{t+1/2} - xhat), or nothing
    xhat.receive();                                   // 14: xhat_j += q_j
    net.map(Gossip<T>{gamma}, x, xhat.mixed());       // 15
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.mirror("xhat", xhat);
  }

  const SparqSGD params;
  Net& net;
  typename Net::Mirror xhat;
  typename Net::Field x, grad;
};

}  // namespace ticopd
