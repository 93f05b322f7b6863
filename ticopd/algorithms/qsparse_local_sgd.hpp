#pragma once

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/network/network.hpp"

namespace ticopd {

// D. Basu, D. Data, C. Karakus, S. Diggavi, "Qsparse-local-SGD: Distributed SGD with Quantization,
// Sparsification, and Local Computations", 2019, Algorithm 1. A server method, for comparison: the
// server is agent 0, the centre of a star, and holds data as well. Agents send compressed updates
// up, with error feedback; the server sends the model down uncompressed. Both directions are
// counted. Written from code that cites the paper, not from its text.
struct QsparseLocalSGD {
  Schedule eta = {};
  Schedule period = 4;

  static constexpr std::string_view name = "qsparse_local_sgd";
  static constexpr std::string_view paper = "Basu et al. 2019, Algorithm 1";
  static constexpr auto parameters() {
    return std::array{
        Parameter<QsparseLocalSGD>{"eta", &QsparseLocalSGD::eta, positive, "step size", {1e-4, 10}},
        Parameter<QsparseLocalSGD>{"period", &QsparseLocalSGD::period, whole_number,
                                   "rounds between exchanges"}};
  }
  bool needs_centre() const { return true; }

  template <class T>
  struct Descend {
    T eta;
    constexpr void operator()(T& x, T grad) const { x = x - eta * grad; }
  };

  template <class T>
  struct Compensate {
    constexpr void operator()(T& delta, T m, T theta, T x) const { delta = m + theta - x; }
  };

  template <class T>
  struct Serve {  // mean_c is the server's; the others' theta is not read
    constexpr void operator()(T& theta, T& m, T delta, T c, T mean_c) const {
      m     = delta - c;
      theta = theta - mean_c;
    }
  };

  template <class T>
  struct Adopt {
    constexpr void operator()(T& x, T& theta, T served) const { x = theta = served; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class QsparseLocalSGD::Run {
 public:
  using T = typename Net::Scalar;

  Run(QsparseLocalSGD params, Net& net)  // m^0 = 0, theta^0 = x^0
      : params(params), net(net), up(net, net.to_centre(), 0),
        down(net, net.from_centre(), 1, {.dense = true}), x(net.start()), theta(net.start()),
        m(net.field()), delta(net.field()), grad(net.field()) {}

  void step() {
    const auto [eta, period] = at<T>(params, net.round());
    net.gradient(x, grad);
    net.map(Descend<T>{eta}, x, grad);                           // 3: theta^_r, which is x
    if (net.round() % static_cast<std::uint32_t>(period) != 0) return;
    net.map(Compensate<T>{}, delta, m, theta, x);
    up.send_raw(delta);                                          // 7: c_r = QComp(m_r + theta - x)
    up.receive();
    net.map(Serve<T>{}, theta, m, delta, up.own(), up.mixed());  // 8: m_r; 13: theta - mean c_r
    down.send(theta);
    down.receive();
    net.map(Adopt<T>{}, x, theta, down.mixed());                 // 9
  }

  void visit(auto&& state) {
    state.field("x", x);
    state.field("theta", theta);
    state.field("m", m);
    state.mirror("up", up);
    state.mirror("down", down);
  }

  const QsparseLocalSGD params;
  Net& net;
  typename Net::Mirror up, down;
  typename Net::Field x, theta, m, delta, grad;
};

}  // namespace ticopd
