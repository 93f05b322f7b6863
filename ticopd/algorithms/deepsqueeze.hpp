#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// H. Tang, X. Lian, S. Qiu, L. Yuan, C. Zhang, T. Zhang, J. Liu, "DeepSqueeze: Decentralization
// Meets Error-Compensated Compression", 2019. Agents send compressed models, and add to each
// message what compression lost in earlier ones.
//
// Written without the paper's text. docs/limitations.md says how it was checked.
struct DeepSqueeze {
  Schedule eta = {}, gamma = {};

  static constexpr std::string_view name = "deepsqueeze";
  // Over a silent link the error that is fed back would grow without bound.
  static constexpr bool fixed_graph = true;
  static constexpr std::string_view paper = "Tang et al. 2019";
  static constexpr auto parameters() {
    return std::array{
        Parameter<DeepSqueeze>{"eta", &DeepSqueeze::eta, positive, "gradient step size",
                               {1e-4, 10}},
        Parameter<DeepSqueeze>{"gamma", &DeepSqueeze::gamma, up_to_one, "gossip step size",
                               {0.003, 1}}};
  }

  template <class T>
  struct Adapt {
    T eta;
    constexpr void operator()(T& x, T& v, T e, T grad) const {
      x = x - eta * grad;
      v = x + e;
    }
  };

  template <class T>
  struct Combine {  // cWI = sum_j w_ij (c_j - c_i)
    T gamma;
    constexpr void operator()(T& x, T& e, T v, T c, T cWI) const {
      e = v - c;
      x = x + gamma * cWI;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class DeepSqueeze::Run {
 public:
  using T = typename Net::Scalar;

  Run(DeepSqueeze params, Net& net)  // e^0 = 0
      : params(params), net(net), c(net, net.w_minus_i(), 0),
        x(net.start()), v(net.field()), e(net.field()), grad(net.field()) {}

  void step() {
    const auto [eta, gamma] = at<T>(params, net.round());
    net.gradient(x, grad);
    net.map(Adapt<T>{eta}, x, v, e, grad);  // v = x - eta g + e
    c.send_raw(v);                          // c = C(v) leaves
    c.receive();
    // e = v - c; x = x - eta g + gamma sum_j (w_ij - delta_ij) c_j
    net.map(Combine<T>{gamma}, x, e, v, c.own(), c.mixed());
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.field("e", e);
    state.mirror("c", c);
  }

  const DeepSqueeze params;
  Net& net;
  typename Net::Mirror c;
  typename Net::Field x, v, e, grad;
};

}  // namespace ticopd
