// Your own algorithm: D^2 in one struct. You declare the parameters once, and write a formula for
// one coordinate and a step over the three verbs (map, gradient, send / receive). The library adds
// threads, ranks, metrics, digests, checkpoints and the byte ledger.
#include <cmath>
#include <cstdio>

#include "ticopd/ticopd.hpp"

namespace {

using ticopd::Network;
using ticopd::Parameter;
using ticopd::Schedule;

// H. Tang, X. Lian, M. Yan, C. Zhang, J. Liu, "D^2: Decentralized Training over Decentralized
// Data", 2018, Algorithm 1:
//   x^1     = W (x^0 - alpha grad^0)
//   x^{t+1} = W (2 x^t - x^{t-1} - alpha (grad^t - grad^{t-1})).
// Needs lambda_min(W) > -1/3: lazy Metropolis weights have it on any graph.
struct D2 {
  Schedule alpha = {};  // required, since it has no default

  static constexpr std::string_view name = "d2";
  static constexpr std::string_view paper = "Tang, Lian, Yan, Zhang, Liu 2018, Algorithm 1";
  static constexpr bool uncompressed = true;  // the library rejects a lossy codec
  static constexpr auto parameters() {
    return std::array{
        Parameter<D2>{"alpha", &D2::alpha, ticopd::positive, "step size", {1e-4, 10}}};
  }

  // The formulas for one coordinate of one agent, before and after the messages arrive.
  template <class T>
  struct Correct {
    T alpha;
    constexpr void operator()(T& x, T& past, T& last, T grad) const {
      const T step = alpha * grad;
      const T half = 2 * x - past - (step - last);
      past = x, last = step;
      x = half;
    }
  };
  template <class T>
  struct Combine {  // xWI = sum_j w_ij (x_j - x_i), so W x = x + xWI
    constexpr void operator()(T& x, T xWI) const { x = x + xWI; }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class D2::Run {
 public:
  using T = typename Net::Scalar;

  // past = x^0 and last = 0 make the first round W (x^0 - alpha grad^0).
  Run(D2 steps, Net& network)
      : params(steps),
        net(network),
        half(net, net.w_minus_i(), 0),
        x(net.start()),
        past(net.start()),
        last(net.field()),
        grad(net.field()) {}

  void step() {
    const auto [alpha] = ticopd::at<T>(params, net.round());
    net.gradient(x, grad);
    net.map(Correct<T>{alpha}, x, past, last, grad);
    half.send(x);  // starts sending; a gradient computed here overlaps the messages
    half.receive();
    net.map(Combine<T>{}, x, half.mixed());
  }

  // Lists all state that the next round depends on; checkpoints save it.
  void visit(auto&& state) {
    state.field("x", x);
    state.field("past", past);
    state.field("last", last);
    state.mirror("half", half);
  }

  const D2 params;
  Net& net;
  typename Net::Mirror half;
  typename Net::Field x, past, last, grad;
};

// f_i(x) = (1 + i) / 2 ||x||^2 - sum_k x_k: the agents have different minima and curvatures, but
// the same gradient at x^0 = 0.
struct Quadratics final : ticopd::Objective<double> {
  int agents() const override { return 8; }
  std::size_t dimension() const override { return 20; }
  double value(int i, std::span<const double> x) const override {
    double sum = 0;
    for (const double v : x) sum += (1 + i) * v * v / 2 - v;
    return sum;
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = (1 + i) * x[k] - 1;
  }
};
constexpr double optimum = 8.0 / 36.0;  // agents / sum (1 + i)

double worst_entry(const ticopd::Field<double>& x, auto&& other) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(x.data()[i] - other(i)));
  return worst;
}

}  // namespace

int main() {
  ticopd::Setup<double> setup{.graph = ticopd::ring(8),
                              .objective = std::make_shared<Quadratics>(),
                              .weights = ticopd::Weights::lazy_metropolis};
  setup.iterations = 1500;
  const double alpha = 0.05;
  const auto far = ticopd::solve(D2{.alpha = alpha}, setup);
  const double off = worst_entry(far.x, [](std::size_t) { return optimum; });
  std::printf("D^2 is %.1e away from the optimum\n", off);

  // NIDS mixes by (I + W) / 2, which are the lazy weights, and does not mix in its first round. All
  // gradients at x^0 are equal, so that round has nothing to mix, and the two methods are the same.
  setup.iterations = 40;
  const auto some = ticopd::solve(D2{.alpha = alpha}, setup);
  setup.weights = ticopd::Weights::metropolis;
  const auto known = ticopd::solve(ticopd::NIDS{.alpha = alpha}, setup);
  const double apart = worst_entry(some.x, [&](std::size_t i) { return known.x.data()[i]; });
  std::printf("after 40 rounds it is %.1e away from NIDS\n", apart);

  // Four ranks with real frames between them give the same bits.
  setup.weights = ticopd::Weights::lazy_metropolis;
  setup.execution.ranks = 4;
  const bool same = ticopd::solve(D2{.alpha = alpha}, setup).digest == some.digest;
  std::printf("one rank and four ranks: %s digest\n", same ? "the same" : "ANOTHER");
  return off < 1e-9 && apart < 1e-12 && same ? 0 : 1;
}
