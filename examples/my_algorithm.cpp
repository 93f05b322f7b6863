// Your own algorithm: EXTRA, in one struct. Parameters declared once, a formula for one coordinate,
// and a step over the three verbs (map, gradient, send / receive). Threads, ranks, metrics,
// digests, checkpoints and the ledger of bytes come with it.
#include <cmath>
#include <cstdio>

#include "ticopd/ticopd.hpp"

namespace {

using ticopd::Network;
using ticopd::Parameter;
using ticopd::Schedule;

// W. Shi, Q. Ling, G. Wu, W. Yin, "EXTRA: An Exact First-Order Algorithm for Decentralized
// Consensus Optimization", 2015, with W~ = (I + W) / 2:
//   x^{t+2} = (I + W) x^{t+1} - (I + W) / 2 x^t - alpha (grad^{t+1} - grad^t).
struct Extra {
  Schedule alpha = {};  // without a default: the config must give it

  static constexpr std::string_view name = "extra";
  static constexpr std::string_view paper = "Shi, Ling, Wu, Yin 2015";
  static constexpr bool uncompressed = true;  // a lossy codec is refused
  static constexpr auto parameters() {
    return std::array{Parameter<Extra>{"alpha", &Extra::alpha, ticopd::positive, "step size"}};
  }

  // One coordinate of one agent. xWI is sum_j w_ij (x_j - x_i), so (I + W) x = 2 x + xWI.
  template <class T>
  struct Step {
    T alpha;
    constexpr void operator()(T& x, T& past, T& pastWI, T& last, T xWI, T grad) const {
      const T next = 2 * x + xWI - past - pastWI / 2 - alpha * (grad - last);
      past = x, pastWI = xWI, last = grad;
      x = next;
    }
  };

  template <Network Net>
  class Run;
};

template <Network Net>
class Extra::Run {
 public:
  using T = typename Net::Scalar;

  // past = x^0 with nothing mixed and no gradient yet makes the first round W x^0 - alpha grad^0.
  Run(Extra steps, Net& network)
      : params(steps),
        net(network),
        copy(net, net.w_minus_i(), 0),
        x(net.start()),
        past(net.start()),
        pastWI(net.field()),
        last(net.field()),
        grad(net.field()) {}

  void step() {
    const auto [alpha] = ticopd::at<T>(params, net.round());
    copy.send(x);           // x leaves for the neighbours
    net.gradient(x, grad);  // while it travels
    copy.receive();
    net.map(Step<T>{alpha}, x, past, pastWI, last, copy.mixed(), grad);
  }

  // All that the next round depends on: checkpoints save it.
  void visit(auto&& state) {
    state.field("x", x);
    state.field("past", past);
    state.field("pastWI", pastWI);
    state.field("last", last);
    state.mirror("copy", copy);
  }

  const Extra params;
  Net& net;
  typename Net::Mirror copy;
  typename Net::Field x, past, pastWI, last, grad;
};

// f_i(x) = (1 + i) / 2 ||x - i||^2: the agents disagree in where and in how steeply.
struct Quadratics final : ticopd::Objective<double> {
  int agents() const override { return 8; }
  std::size_t dimension() const override { return 20; }
  double value(int i, std::span<const double> x) const override {
    double sum = 0;
    for (const double v : x) sum += (1 + i) * (v - i) * (v - i) / 2;
    return sum;
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = (1 + i) * (x[k] - i);
  }
};
constexpr double optimum = 168.0 / 36.0;  // sum (1 + i) i / sum (1 + i)

double worst_entry(const ticopd::Field<double>& x, auto&& other) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(x.data()[i] - other(i)));
  return worst;
}

}  // namespace

int main() {
  ticopd::Setup<double> setup{.graph = ticopd::ring(8),
                              .objective = std::make_shared<Quadratics>()};
  setup.iterations = 1500;
  const double alpha = 0.05;
  const auto extra = ticopd::solve(Extra{.alpha = alpha}, setup);
  const double off = worst_entry(extra.x, [](std::size_t) { return optimum; });
  std::printf("EXTRA is %.1e away from the optimum\n", off);

  // On a ring W = I - L / 3. TiCoPD without compression, with alpha theta = 1/3 and eta = theta /
  // 2, is EXTRA in other letters, so after any number of rounds the two must agree.
  setup.iterations = 40;
  const auto some = ticopd::solve(Extra{.alpha = alpha}, setup);
  const double theta = 1 / (3 * alpha);
  const auto known = ticopd::solve(
      ticopd::TiCoPD{.alpha = alpha, .theta = theta, .eta = theta / 2, .beta = 1}, setup);
  const double apart = worst_entry(some.x, [&](std::size_t i) { return known.x.data()[i]; });
  std::printf("after 40 rounds it is %.1e away from TiCoPD(identity, eta = theta / 2)\n", apart);

  // The same bits from four ranks with real frames between them.
  setup.ranks = 4;
  const bool same = ticopd::solve(Extra{.alpha = alpha}, setup).digest == some.digest;
  std::printf("one rank and four ranks: %s digest\n", same ? "the same" : "ANOTHER");
  return off < 1e-9 && apart < 1e-12 && same ? 0 : 1;
}
