#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// R. Nassif, S. Vlaski, M. Carpentiero, V. Matta, A. H. Sayed, "Differential Error Feedback for
// Communication-efficient Decentralized Learning" (DEF-ATC), 2024. Written from code that cites the
// paper (OscarYau525/FSPDA, def_atc.py), not from its text. docs/limitations.md says how it was
// checked.
struct DefATC {
  Schedule mu = {};
  Schedule zeta = 1;
  Schedule gamma = {};

  static constexpr std::string_view name = "def_atc";
  static constexpr std::string_view paper = "Nassif et al. 2024, DEF-ATC";
  static constexpr auto parameters() {
    return std::array{
        Parameter<DefATC>{"mu", &DefATC::mu, positive, "step size", {1e-4, 10}},
        Parameter<DefATC>{"zeta", &DefATC::zeta, up_to_one, "damping of the differential"},
        Parameter<DefATC>{"gamma", &DefATC::gamma, up_to_one, "mixing step size", {0.03, 1}}};
  }

  template <class T>
  struct Adapt {  // psi + z: what phi is to reach, with the error fed back
    T mu, zeta;
    constexpr void operator()(T& c, T w, T z, T grad) const { c = w - mu / zeta * grad + z; }
  };

  template <class T>
  struct Feedback {  // z = psi - phi + z - delta
    constexpr void operator()(T& z, T c, T phi_plus_delta) const { z = c - phi_plus_delta; }
  };

  template <class T>
  struct Combine {  // phiAI = sum_l a_il (phi_l - phi_i)
    T gamma;
    constexpr void operator()(T& w, T phi, T phiAI) const { w = phi + gamma * phiAI; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class DefATC::Run {
 public:
  using T = typename Net::Scalar;

  Run(DefATC params, Net& net)  // phi = 0, z = 0
      : params(params), net(net), phi(net, net.w_minus_i(), 0, {.estimate = true}),
        x(net.start()), z(net.field()), c(net.field()), grad(net.field()) {}

  void step() {
    const auto [mu, zeta, gamma] = at<T>(params, net.round());
    net.gradient(x, grad);
    net.map(Adapt<T>{mu, zeta}, c, x, z, grad);             // psi = w - (mu / zeta) g
    phi.send(c, zeta);                                      // delta = C(psi - phi + z) leaves
    net.map(Feedback<T>{}, z, c, phi.estimate());           // z = (psi - phi + z) - delta
    phi.receive();                                          // phi += zeta delta
    net.map(Combine<T>{gamma}, x, phi.own(), phi.mixed());  // w = (1 - gamma) phi + gamma A phi
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.field("z", z);
    state.mirror("phi", phi);
  }

  const DefATC params;
  Net& net;
  typename Net::Mirror phi;
  typename Net::Field x, z, c, grad;
};

}  // namespace ticopd
