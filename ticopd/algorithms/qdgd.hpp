#pragma once

#include <algorithm>

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// A. Reisizadeh, A. Mokhtari, H. Hassani, R. Pedarsani, "An Exact Quantized Decentralized Gradient
// Descent Algorithm", 2019, Algorithm 1. Agents send quantised models, and a small epsilon averages
// out the noise of an unbiased quantiser. The number of rounds T must be known in advance: steps
// that are not given follow from it. Written from the authors' code of a later paper
// (QiyiYou/QuanTimed-DSGD, QDSGD.m). With epsilon = 1 it is dgd_quantized.
struct QDGD {
  Schedule alpha = {}, epsilon = {};

  static constexpr std::string_view name = "qdgd";
  static constexpr std::string_view paper = "Reisizadeh et al. 2019, Algorithm 1";
  static constexpr bool fixed_graph = true;  // it mixes what it hears and nothing else
  static constexpr bool needs_unbiased_codec = true;
  static constexpr auto parameters() {
    return std::array{
        Parameter<QDGD>{"alpha", &QDGD::alpha, positive, "gradient step size", {1e-3, 10},
                        "0.3 / T^(1/6)"},
        Parameter<QDGD>{"epsilon", &QDGD::epsilon, up_to_one, "weight of what is new", {0.001, 1},
                        "15 / T^(1/2), at most 1"}};
  }
  void plan(std::uint32_t iterations) {
    const double T = iterations;
    if (!alpha.is_set()) alpha = 0.3 / std::pow(T, 1.0 / 6);
    if (!epsilon.is_set()) epsilon = std::min(1.0, 15 / std::sqrt(T));
  }

  template <class T>
  struct Step {  // Wz = sum_{j in N_i} w_ij z_j, z_j = Q(x_j)
    T alpha, epsilon;
    constexpr void operator()(T& x, T w_ii, T Wz, T grad) const {
      x = (1 - epsilon + epsilon * w_ii) * x + epsilon * Wz - alpha * epsilon * grad;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class QDGD::Run {
 public:
  using T = typename Net::Scalar;

  Run(QDGD params, Net& net)
      : params(params), net(net), z(net, net.w_neighbours(), 0),
        x(net.start()), grad(net.field()) {}

  void step() {
    const auto [alpha, epsilon] = at<T>(params, net.round());
    z.send_raw(x);          // z = Q(x)
    net.gradient(x, grad);  // while z travels
    z.receive();
    net.map(Step<T>{alpha, epsilon}, x, net.self_weight(), z.mixed(), grad);
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.mirror("z", z);
  }

  const QDGD params;
  Net& net;
  typename Net::Mirror z;
  typename Net::Field x, grad;
};

}  // namespace ticopd
