#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// S. Magnusson, H. Shokri-Ghadikolaei, N. Li, "On Maintaining Linear Convergence of Distributed
// Learning and Optimization under Limited Communication", 2020. A linearly convergent method still
// converges if each message is rounded to a grid around the last message, in a box that shrinks
// geometrically but not faster than the method converges. No norm travels, only bits * d bits. A
// coordinate that leaves its box is counted as saturated.
//
// Written without the paper's text: only its idea is used, applied to the primal-dual method of
// Yi et al. 2021. docs/limitations.md says how it was checked.
struct Magnusson {
  Schedule eta = {}, alpha = {}, beta = {};
  Schedule r0 = {}, kappa = {};
  Schedule bits = 8;

  static constexpr std::string_view name = "magnusson";
  static constexpr std::string_view paper = "Magnusson et al. 2020, on Yi et al. 2021";
  static constexpr auto parameters() {
    return std::array{
        Parameter<Magnusson>{"eta", &Magnusson::eta, positive, "step size", {1e-3, 10}},
        Parameter<Magnusson>{"alpha", &Magnusson::alpha, positive, "penalty on disagreement",
                             {0.03, 1, [](auto& p, double L) { return 1 / (p.eta(1) * L); }}},
        Parameter<Magnusson>{"beta", &Magnusson::beta, positive, "weight of the dual",
                             {0.03, 1, [](auto& p, double) {
                               return std::sqrt(p.alpha(1) / p.eta(1));
                             }}},
        Parameter<Magnusson>{"r0", &Magnusson::r0,
                             {0, std::numeric_limits<double>::infinity(), false, false, true},
                             "half the width of the first box", {0.01, 10}},
        Parameter<Magnusson>{"kappa", &Magnusson::kappa, {0, 1, false, false, true},
                             "the box's factor each round", {0.9, 1}},
        Parameter<Magnusson>{"bits", &Magnusson::bits, {2, 16, true, true, true}, "of a coordinate"}};
  }
  CodecOptions codec() const {
    CodecOptions grid;
    grid.kind  = "grid";
    grid.bits  = static_cast<int>(bits(1));
    grid.r0    = r0(1);
    grid.kappa = kappa(1);
    return grid;
  }

  template <class T>
  struct PrimalDual {  // Lq = sum_j L_ij q_j
    T eta, alpha, beta;
    constexpr void operator()(T& x, T& v, T Lq, T grad) const {
      x = x - eta * (alpha * Lq + beta * v + grad);
      v = v + eta * beta * Lq;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class Magnusson::Run {
 public:
  using T = typename Net::Scalar;

  Run(Magnusson params, Net& net)  // q^0 = x^0, which everyone knows; v^0 = 0
      : params(params), net(net), q(net, net.laplacian(), 0),
        x(net.start()), v(net.field()), grad(net.field()) {
    q.start_at_common(x);
  }

  void step() {
    const auto [eta, alpha, beta, r0, kappa, bits] = at<T>(params, net.round());
    q.send(x);              // q+ = quant(x; centre q, radius r0 kappa^(t - 1))
    net.gradient(x, grad);  // while it travels
    q.receive();
    net.map(PrimalDual<T>{eta, alpha, beta}, x, v, q.mixed(), grad);
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.dual("v", v);
    state.mirror("q", q);
  }

  const Magnusson params;
  Net& net;
  typename Net::Mirror q;
  typename Net::Field x, v, grad;
};

}  // namespace ticopd
