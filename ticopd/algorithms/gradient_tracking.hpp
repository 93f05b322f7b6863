#pragma once

#include <utility>

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// Gradient tracking: y_i follows the average gradient. Two forms:
//   diging  x+ = W x - eta y,    y+ = W y + g+ - g       A. Nedic, A. Olshevsky, W. Shi, "Achieving
//           Geometric Convergence for Distributed Optimization over Time-Varying Graphs", 2017;
//           G. Qu, N. Li, "Harnessing Smoothness to Accelerate Distributed Optimization", 2018
//   atc     x+ = W (x - eta y),  y+ = W (y + g+ - g)     J. Xu, S. Zhu, Y. C. Soh, L. Xie,
//           "Augmented Distributed Gradient Methods for Multi-Agent Optimization Under
//           Uncoordinated Constant Stepsizes", 2015
// Both start from y^0 = g^0. Written from code: diging from liboyue/Network-Distributed-Algorithm
// (DGD_tracking.py), atc from ShengjunZhang/DBC (DFO_DGT.m).
struct GradientTracking {
  Schedule eta = {};
  std::string_view form = "diging";

  static constexpr std::string_view name = "gradient_tracking";
  static constexpr std::string_view paper = "Nedic, Olshevsky, Shi 2017; Xu, Zhu, Soh, Xie 2015";
  static constexpr bool uncompressed = true;
  static constexpr auto parameters() {
    return std::array{Parameter<GradientTracking>{"eta", &GradientTracking::eta, positive,
                                                  "step size", {1e-4, 10}}};
  }
  static constexpr auto choices() {
    return std::array{Choice<GradientTracking>{"form", &GradientTracking::form, {"diging", "atc"},
                                               "mix before the step, or after it"}};
  }

  template <class T>
  struct Descend {
    T eta;
    constexpr void operator()(T& x, T xWI, T y) const { x = x + xWI - eta * y; }
  };

  // g+ - g first: the two are alike, so hardly anything of it is lost to rounding.
  template <class T>
  struct Track {
    constexpr void operator()(T& y, T yWI, T grad, T last) const { y = y + yWI + (grad - last); }
  };

  template <class T>
  struct Adapt {
    T eta;
    constexpr void operator()(T& x, T y) const { x = x - eta * y; }
  };

  template <class T>
  struct Change {
    constexpr void operator()(T& y, T grad, T last) const { y = y + (grad - last); }
  };

  template <class T>
  struct Combine {
    constexpr void operator()(T& v, T vWI) const { v = v + vWI; }
  };

  template <class T>
  struct Assign {
    constexpr void operator()(T& y, T grad) const { y = grad; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class GradientTracking::Run {
 public:
  using T = typename Net::Scalar;

  Run(GradientTracking params, Net& net)
      : params(params), net(net), X(net, net.w_minus_i(), 0), Y(net, net.w_minus_i(), 1),
        x(net.start()), y(net.field()), grad(net.field()), last(net.field()) {
    net.gradient(x, grad);
    net.map(Assign<T>{}, y, grad);
    X.start_at_common(x);
  }

  void step() {
    const auto [eta] = at<T>(params, net.round());
    if (params.form == "atc")
      adapt_then_combine(eta);
    else
      combine_then_adapt(eta);
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.field("y", y);
    state.field("grad", grad);
    state.mirror("X", X);
    state.mirror("Y", Y);
  }

  const GradientTracking params;
  Net& net;
  typename Net::Mirror X, Y;
  typename Net::Field x, y, grad, last;

 private:
  void combine_then_adapt(T eta) {
    net.map(Descend<T>{eta}, x, X.mixed(), y);       // x+ = W x - eta y
    X.send(x);                                       // x+ leaves for the next round, y for this one
    Y.send(y);
    std::swap(grad, last);
    net.gradient(x, grad);                           // while both travel
    X.receive();
    Y.receive();
    net.map(Track<T>{}, y, Y.mixed(), grad, last);   // y+ = W y + g+ - g
  }

  void adapt_then_combine(T eta) {
    net.map(Adapt<T>{eta}, x, y);                    // x - eta y
    X.send(x);
    X.receive();
    net.map(Combine<T>{}, x, X.mixed());             // x+ = W (x - eta y)
    std::swap(grad, last);
    net.gradient(x, grad);
    net.map(Change<T>{}, y, grad, last);             // y + g+ - g
    Y.send(y);
    Y.receive();
    net.map(Combine<T>{}, y, Y.mixed());             // y+ = W (y + g+ - g)
  }
};

}  // namespace ticopd
