// An algorithm of your own: ticopd run FILE --plugin ./diffusion.so --set algorithm.name=diffusion
#include <ticopd/plugin.hpp>

namespace {

using ticopd::Network;
using ticopd::Parameter;
using ticopd::Schedule;

// J. Chen, A. H. Sayed, "Diffusion Adaptation Strategies for Distributed Optimization and Learning
// over Networks", 2012, the strategy "adapt, then combine":
//   x_i = sum_j w_ij (x_j - mu grad f_j(x_j)).
// Each agent descends first and sends the result, as it is.
struct Diffusion {
  Schedule mu = {};  // required, since it has no default

  static constexpr std::string_view name = "diffusion";
  static constexpr std::string_view paper = "Chen, Sayed 2012, adapt then combine";
  static constexpr bool uncompressed = true;  // a lossy codec is refused
  static constexpr auto parameters() {
    return std::array{Parameter<Diffusion>{
        "mu", &Diffusion::mu, ticopd::positive, "step size", {1e-4, 10}}};  // where tune looks
  }

  template <class T>
  struct Adapt {
    T mu;
    constexpr void operator()(T& x, T grad) const { x = x - mu * grad; }
  };
  template <class T>
  struct Combine {  // xWI = sum_j w_ij (x_j - x_i), so W x = x + xWI
    constexpr void operator()(T& x, T xWI) const { x = x + xWI; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class Diffusion::Run {
 public:
  using T = typename Net::Scalar;

  Run(Diffusion steps, Net& network)
      : params(steps),
        net(network),
        sent(network, network.w_minus_i(), 0),
        x(network.start()),
        grad(network.field()) {}

  void step() {
    const auto [mu] = ticopd::at<T>(params, net.round());
    net.gradient(x, grad);
    net.map(Adapt<T>{mu}, x, grad);
    sent.send(x);
    sent.receive();
    net.map(Combine<T>{}, x, sent.mixed());
  }

  // All that the next round depends on: checkpoints save it.
  void visit(auto&& state) {
    state.field("x", x);
    state.mirror("sent", sent);
  }

  const Diffusion params;
  Net& net;
  typename Net::Mirror sent;
  typename Net::Field x, grad;
};

}  // namespace

TICOPD_PLUGIN("diffusion", "1.0") {
  ticopd::algorithm_table().add(ticopd::algorithm_info<Diffusion>());
}
