#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// DGD with direct quantisation, the heuristic that Liu, Yau and Wai compare with. It quantises the
// model itself, not a difference, so the noise never dies down and the method does not converge. An
// agent uses its own model unquantised, unless quantize_self is set. Written from the authors' code
// (OscarYau525/FSPDA, dsgd.py).
struct DgdQuantized {
  Schedule eta = {};
  bool quantize_self = false;

  static constexpr std::string_view name = "dgd_quantized";
  static constexpr bool fixed_graph = true;  // it mixes what it hears and nothing else
  static constexpr bool needs_unbiased_codec = true;
  static constexpr std::string_view paper = "Liu, Yau, Wai 2025, direct quantisation";
  static constexpr auto parameters() {
    return std::array{
        Parameter<DgdQuantized>{"eta", &DgdQuantized::eta, positive, "step size", {1e-5, 10}}};
  }
  static constexpr auto flags() {
    return std::array{Flag<DgdQuantized>{"quantize_self", &DgdQuantized::quantize_self,
                                         "an agent quantises its own model too"}};
  }

  template <class T>
  struct Step {  // WQx = sum over neighbours of w_ij Q(x_j)
    T eta;
    constexpr void operator()(T& x, T w_self, T WQx, T grad) const {
      x = w_self * x + WQx - eta * grad;
    }
  };

  template <class T>
  struct StepQuantizedSelf {
    T eta;
    constexpr void operator()(T& x, T w_self, T Qx, T WQx, T grad) const {
      x = w_self * Qx + WQx - eta * grad;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class DgdQuantized::Run {
 public:
  using T = typename Net::Scalar;

  Run(DgdQuantized params, Net& net)
      : params(params), net(net), Qx(net, net.w_neighbours(), 0),
        x(net.start()), grad(net.field()) {}

  void step() {
    const auto [eta] = at<T>(params, net.round());
    Qx.send_raw(x);         // Q(x_i) leaves for the neighbours
    net.gradient(x, grad);  // while it travels
    Qx.receive();           // x_i = w_ii x_i + sum_j w_ij Q(x_j) - eta g_i
    if (params.quantize_self)
      net.map(StepQuantizedSelf<T>{eta}, x, net.self_weight(), Qx.own(), Qx.mixed(), grad);
    else
      net.map(Step<T>{eta}, x, net.self_weight(), Qx.mixed(), grad);
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.mirror("Qx", Qx);
  }

  const DgdQuantized params;
  Net& net;
  typename Net::Mirror Qx;
  typename Net::Field x, grad;
};

}  // namespace ticopd
