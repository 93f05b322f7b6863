#pragma once

#include <optional>

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// Local SGD (S. U. Stich, "Local SGD Converges Fast and Communicates Little", 2019): every agent
// descends on its own, and every `period` rounds the agents average: with their neighbours
// (x <- W x), or all of them at a server, which is agent 0, the centre of a star.
//
// A textbook method, written without the paper's text. docs/limitations.md says how it was checked.
struct LocalSGD {
  Schedule eta = {};
  Schedule period = 4;
  std::string_view average = "mixing";

  static constexpr std::string_view name = "local_sgd";
  static constexpr std::string_view paper = "Stich 2019";
  static constexpr bool uncompressed = true;
  static constexpr auto parameters() {
    return std::array{
        Parameter<LocalSGD>{"eta", &LocalSGD::eta, positive, "step size", {1e-4, 10}},
        Parameter<LocalSGD>{"period", &LocalSGD::period, whole_number, "rounds between averages"}};
  }
  static constexpr auto choices() {
    return std::array{Choice<LocalSGD>{"average", &LocalSGD::average, {"mixing", "star"},
                                       "with the neighbours, or of all at agent 0"}};
  }
  bool needs_centre() const { return average == "star"; }

  template <class T>
  struct Descend {
    T eta;
    constexpr void operator()(T& x, T grad) const { x = x - eta * grad; }
  };

  template <class T>
  struct Mix {  // XWI = sum_j w_ij (x_j - x_i)
    constexpr void operator()(T& x, T XWI) const { x = x + XWI; }
  };

  template <class T>
  struct Assign {
    constexpr void operator()(T& x, T mean) const { x = mean; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class LocalSGD::Run {
 public:
  using T = typename Net::Scalar;

  Run(LocalSGD params, Net& net)
      : params(params), net(net), x(net.start()), grad(net.field()) {
    if (params.needs_centre()) {
      up.emplace(net, net.to_centre(), 0);
      down.emplace(net, net.from_centre(), 1);
    } else {
      X.emplace(net, net.w_minus_i(), 0);
    }
  }

  void step() {
    const auto [eta, period] = at<T>(params, net.round());
    net.gradient(x, grad);
    net.map(Descend<T>{eta}, x, grad);
    if (net.round() % static_cast<std::uint32_t>(period) != 0) return;
    if (params.needs_centre())
      average_at_centre();
    else
      average_with_neighbours();
  }

  void visit(auto&& state) {
    state.field("x", x);
    if (X) state.mirror("X", *X);
    if (up) state.mirror("up", *up);
    if (down) state.mirror("down", *down);
  }

 private:
  void average_with_neighbours() {
    X->send(x);
    X->receive();
    net.map(Mix<T>{}, x, X->mixed());
  }

  void average_at_centre() {
    up->send(x);
    up->receive();
    net.map(Assign<T>{}, x, up->mixed());    // the mean, at agent 0; it alone is read below
    down->send(x);
    down->receive();
    net.map(Assign<T>{}, x, down->mixed());  // the mean, everywhere
  }

 public:
  const LocalSGD params;
  Net& net;
  std::optional<typename Net::Mirror> X, up, down;
  typename Net::Field x, grad;
};

}  // namespace ticopd
