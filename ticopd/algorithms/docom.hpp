#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// C.-Y. Yau, H.-T. Wai, "DoCoM: Compressed Decentralized Optimization with Near-Optimal Sample
// Complexity", 2022, Algorithm 1. Momentum removes the variance of mini-batches: each round
// evaluates the same samples at the new and at the old model. With beta = 1 it is compressed
// gradient tracking. Written from the authors' code (OscarYau525/docom).
struct DoCoM {
  Schedule eta = {}, gamma = {}, beta = {};
  bool warm_start = false;

  static constexpr std::string_view name = "docom";
  static constexpr std::string_view paper = "Yau, Wai 2022, Algorithm 1";
  static constexpr auto parameters() {
    return std::array{
        Parameter<DoCoM>{"eta", &DoCoM::eta, positive, "step size", {1e-4, 10}},
        Parameter<DoCoM>{"gamma", &DoCoM::gamma, up_to_one, "mixing step size", {0.03, 1}},
        Parameter<DoCoM>{"beta", &DoCoM::beta, up_to_one, "weight of the newest gradient",
                         {0.003, 1}}};
  }
  static constexpr auto flags() {
    return std::array{Flag<DoCoM>{"warm_start", &DoCoM::warm_start,
                                  "x's surrogates start at x0, y's at the gradients"}};
  }

  template <class T>
  struct Descend {
    T eta;
    constexpr void operator()(T& x, T& last, T y) const {
      last = x;
      x    = x - eta * y;
    }
  };

  template <class T>
  struct Gossip {  // hatWI = sum_j w_ij (hat_j - hat_i)
    T gamma;
    constexpr void operator()(T& x, T hatWI) const { x = x + gamma * hatWI; }
  };

  template <class T>
  struct Track {  // grad and grad_last are of the same samples
    T beta;
    constexpr void operator()(T& v, T& y, T grad, T grad_last) const {
      const T v_new = grad + (1 - beta) * (v - grad_last);
      y = y + v_new - v;
      v = v_new;
    }
  };

  template <class T>
  struct Begin {
    constexpr void operator()(T& v, T& y, T grad) const { v = y = grad; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class DoCoM::Run {
 public:
  using T = typename Net::Scalar;

  Run(DoCoM params, Net& net)  // v^0 = y^0 = grad F(x^0) over all samples, xhat^0 = yhat^0 = 0
      : params(params), net(net), xhat(net, net.w_minus_i(), 0), yhat(net, net.w_minus_i(), 1),
        x(net.start()), last(net.field()), v(net.field()), y(net.field()),
        grad(net.field()), grad_last(net.field()) {
    net.full_gradient(x, grad);
    net.map(Begin<T>{}, v, y, grad);
    if (params.warm_start) {
      xhat.start_at_common(x);
      yhat.start_at(y);
    }
  }

  void step() {
    const auto [eta, gamma, beta] = at<T>(params, net.round());
    net.map(Descend<T>{eta}, x, last, y);            // x^{t+1/2} = x - eta y
    xhat.send(x);                                    // xhat += Q(x^{t+1/2} - xhat)
    net.gradient(last, grad_last);                   //   while it travels
    xhat.receive();
    net.map(Gossip<T>{gamma}, x, xhat.mixed());      // x+ = x^{t+1/2} + gamma xhat (W - I)
    net.gradient(x, grad);
    net.map(Track<T>{beta}, v, y, grad, grad_last);  // v+ = g(x+) + (1 - beta)(v - g(x))
    yhat.send(y);                                    // y^{t+1/2} = y + v+ - v; yhat likewise
    yhat.receive();
    net.map(Gossip<T>{gamma}, y, yhat.mixed());
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.field("v", v);
    state.field("y", y);
    state.mirror("xhat", xhat);
    state.mirror("yhat", yhat);
  }

  const DoCoM params;
  Net& net;
  typename Net::Mirror xhat, yhat;
  typename Net::Field x, last, v, y, grad, grad_last;
};

}  // namespace ticopd
