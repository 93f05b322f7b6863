#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// X. Liu, Y. Li, R. Wang, J. Tang, M. Yan, "Linear Convergent Decentralized Optimization with
// Compression", 2021 (arXiv 2007.00232): NIDS with compressed differences. For unbiased codecs; a
// codec of variance C needs alpha <= 1 / (1 + C).
//
// Written without the paper's text. The exchange (y, q, yhat, h) and the dual step agree with the
// code of CEDAS, which has the same ones (XYao2021/NeurIPS_2025, algorithms.py); without
// compression LEAD is NIDS. docs/limitations.md says how it was checked.
struct LEAD {
  Schedule eta = {};
  Schedule alpha = 0.5;
  Schedule gamma = 1;
  bool warm_start = false;

  static constexpr std::string_view name = "lead";
  static constexpr std::string_view paper = "Liu, Li, Wang, Tang, Yan 2021";
  static constexpr bool needs_unbiased_codec = true;
  static constexpr auto parameters() {
    return std::array{Parameter<LEAD>{"eta", &LEAD::eta, positive, "step size", {1e-4, 10}},
                      Parameter<LEAD>{"alpha", &LEAD::alpha, up_to_one, "gain of the memory h",
                                      {0.01, 1}},
                      Parameter<LEAD>{"gamma", &LEAD::gamma, positive, "dual step size",
                                      {0.01, 1}}};
  }
  static constexpr auto flags() {
    return std::array{Flag<LEAD>{"warm_start", &LEAD::warm_start, "the memory starts at x0"}};
  }

  template <class T>
  struct First {
    T eta;
    constexpr void operator()(T& x, T grad) const { x = x - eta * grad; }
  };

  template <class T>
  struct Predict {
    T eta;
    constexpr void operator()(T& y, T x, T d, T grad) const { y = x - eta * grad - eta * d; }
  };

  template <class T>
  struct DualPrimal {  // yhatWI = yhat_w - yhat
    T eta, gamma;
    constexpr void operator()(T& x, T& d, T yhatWI, T grad) const {
      d = d - gamma / (2 * eta) * yhatWI;
      x = x - eta * grad - eta * d;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class LEAD::Run {
 public:
  using T = typename Net::Scalar;

  Run(LEAD params, Net& net)  // d^1 = 0, h^1 = 0
      : params(params), net(net), h(net, net.w_minus_i(), 0, {.estimate = true}),
        x(net.start()), d(net.field()), y(net.field()), grad(net.field()) {
    if (params.warm_start) h.start_at_common(x);
  }

  void step() {
    const auto [eta, alpha, gamma] = at<T>(params, net.round());
    net.gradient(x, grad);
    if (net.round() == 1) {  // nothing travels
      net.map(First<T>{eta}, x, grad);  // x^1 = x^0 - eta g^0
    } else {
      net.map(Predict<T>{eta}, y, x, d, grad);
      h.send(y, alpha);  // q = Q(y - h); yhat = h + q; h += alpha q
      h.receive();
      net.map(DualPrimal<T>{eta, gamma}, x, d, h.mixed_estimate(), grad);
    }
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.dual("d", d);
    state.mirror("h", h);
  }

  const LEAD params;
  Net& net;
  typename Net::Mirror h;
  typename Net::Field x, d, y, grad;
};

}  // namespace ticopd
