#pragma once

#include <utility>

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// H. Zhao, B. Li, Z. Li, P. Richtarik, Y. Chi, "BEER: Fast O(1/T) Rate for Decentralized Nonconvex
// Optimization with Communication Compression", 2022, Algorithm 1. Written from the authors' code
// (liboyue/beer).
struct BEER {
  Schedule eta = {}, gamma = {};
  bool warm_start = false;

  static constexpr std::string_view name = "beer";
  static constexpr std::string_view paper = "Zhao et al. 2022, Algorithm 1";
  static constexpr auto parameters() {
    return std::array{
        Parameter<BEER>{"eta", &BEER::eta, positive, "step size", {1e-4, 10}},
        Parameter<BEER>{"gamma", &BEER::gamma, up_to_one, "mixing step size", {0.03, 1}}};
  }
  static constexpr auto flags() {
    return std::array{
        Flag<BEER>{"warm_start", &BEER::warm_start, "H starts at x0, G at the gradients"}};
  }

  template <class T>
  struct Descend {
    T eta, gamma;
    constexpr void operator()(T& x, T HWI, T v) const { x = x + gamma * HWI - eta * v; }
  };

  template <class T>
  struct Track {
    T gamma;
    constexpr void operator()(T& v, T GWI, T grad, T last) const {
      v = v + gamma * GWI + grad - last;
    }
  };

  template <class T>
  struct Assign {
    constexpr void operator()(T& v, T grad) const { v = grad; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class BEER::Run {
 public:
  using T = typename Net::Scalar;

  Run(BEER params, Net& net)  // 1: V^0 = grad F(X^0), H^0 = G^0 = 0
      : params(params), net(net), H(net, net.w_minus_i(), 0), G(net, net.w_minus_i(), 1),
        x(net.start()), v(net.field()), grad(net.field()), last(net.field()) {
    net.gradient(x, grad);
    net.map(Assign<T>{}, v, grad);
    if (params.warm_start) {
      H.start_at_common(x);
      G.start_at(v);
    }
  }

  void step() {
    const auto [eta, gamma] = at<T>(params, net.round());
    net.map(Descend<T>{eta, gamma}, x, H.mixed(), v);    // 3: X+ = X + gamma H (W - I) - eta V
    H.send(x);                                           // 4: H+ = H + C(X+ - H)
    std::swap(grad, last);
    net.gradient(x, grad);                               //    while H and G travel
    H.receive();
    G.receive();
    net.map(Track<T>{gamma}, v, G.mixed(), grad, last);  // 5: V+ = V + gamma G (W - I) + dF+ - dF
    G.send(v);                                           // 6: G+ = G + C(V+ - G)
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.field("v", v);
    state.field("grad", grad);
    state.mirror("H", H);
    state.mirror("G", G);
  }

  const BEER params;
  Net& net;
  typename Net::Mirror H, G;
  typename Net::Field x, v, grad, last;
};

}  // namespace ticopd
