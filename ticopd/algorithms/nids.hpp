#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// Z. Li, W. Shi, M. Yan, "A Decentralized Proximal-Gradient Method with Network Independent
// Step-Sizes and Separated Convergence Rates", 2019, without the proximal term:
//   x^1 = x^0 - alpha g^0,  x^{k+2} = (I + W)/2 z,  z = 2 x^{k+1} - x^k - alpha (g^{k+1} - g^k).
// Also K. Yuan, B. Ying, X. Zhao, A. H. Sayed, "Exact Diffusion for Distributed Optimization and
// Learning", 2019, from x^1 on. The step size depends on the objectives only, not on the graph.
//
// We keep y = x^k - alpha g^k - x^{k+1}. Then z = x - alpha g - y, and y moves by (I - W)/2 z. It
// sums to zero over the agents, which keeps rounding errors out of their average, as in extra.hpp.
//
// The equation agrees with code that cites the paper (liboyue/Network-Distributed-Algorithm,
// NIDS.py), and exact diffusion with Bluefog-Lib/bluefog. docs/limitations.md says how it was
// checked.
struct NIDS {
  Schedule alpha = {};

  static constexpr std::string_view name = "nids";
  static constexpr std::string_view paper = "Li, Shi, Yan 2019; Yuan et al. 2019";
  static constexpr bool uncompressed = true;
  static constexpr auto parameters() {
    return std::array{Parameter<NIDS>{"alpha", &NIDS::alpha, positive, "step size", {1e-4, 10}}};
  }

  template <class T>
  struct First {
    T alpha;
    constexpr void operator()(T& x, T grad) const { x = x - alpha * grad; }
  };

  template <class T>
  struct Extrapolate {
    T alpha;
    constexpr void operator()(T& z, T x, T y, T grad) const { z = x - alpha * grad - y; }
  };

  template <class T>
  struct Combine {  // zWI = sum_j w_ij (z_j - z_i)
    constexpr void operator()(T& x, T& y, T z, T zWI) const {
      x = z + zWI / 2;
      y = y - zWI / 2;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class NIDS::Run {
 public:
  using T = typename Net::Scalar;

  Run(NIDS params, Net& net)
      : params(params), net(net), copy(net, net.w_minus_i(), 0),
        x(net.start()), y(net.field()), z(net.field()), grad(net.field()) {}

  void step() {
    const auto [alpha] = at<T>(params, net.round());
    net.gradient(x, grad);
    if (net.round() == 1) {  // nothing travels
      net.map(First<T>{alpha}, x, grad);  // x^1 = x^0 - alpha g^0
    } else {
      net.map(Extrapolate<T>{alpha}, z, x, y, grad);
      copy.send(z);
      copy.receive();
      net.map(Combine<T>{}, x, y, z, copy.mixed());  // x^{k+2} = (I + W)/2 z
    }
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.dual("y", y);
    state.mirror("copy", copy);
  }

  const NIDS params;
  Net& net;
  typename Net::Mirror copy;
  typename Net::Field x, y, z, grad;
};

}  // namespace ticopd
