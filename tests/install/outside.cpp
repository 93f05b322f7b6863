#include <cmath>
#include <cstdio>
#include <ticopd/ticopd.hpp>

// Agent i alone wants every coordinate to be i. Together the eight must settle on the mean, 3.5.
struct Mine : ticopd::Objective<double> {
  int agents() const override { return 8; }
  std::size_t dimension() const override { return 100; }
  double value(int i, std::span<const double> x) const override {
    double sum = 0;
    for (const double v : x) sum += (v - i) * (v - i) / 2;
    return sum;
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - i;
  }
};

int main() {
  ticopd::Setup<double> setup{.graph = ticopd::ring(8), .objective = std::make_shared<Mine>()};
  setup.codec = ticopd::make_codec<double>({.kind = "qsgd", .bits = 4});
  setup.iterations = 400;
  setup.watch.on_log = [](const ticopd::Metrics& m) {
    std::printf("round %3u  loss %.4f  disagreement %.1e  %6.1f kbit sent by each agent\n",
                m.iteration, *m.loss_max, m.consensus, m.bits_payload / 1000);
  };
  const auto found = ticopd::solve(ticopd::TiCoPD{.alpha = 0.1, .theta = 2, .eta = 0.4}, setup);
  std::printf("agent 0 found %.9f\n", found.x.row(0)[0]);
  return std::abs(found.x.row(0)[0] - 3.5) < 1e-6 ? 0 : 1;
}
