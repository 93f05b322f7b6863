#include <cstdio>
#include <ticopd/ticopd.hpp>

struct Mine : ticopd::Objective<double> {  // agent i alone wants every coordinate to be i
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

int main() {  // together the eight agents must find the mean, 3.5
  const ticopd::Setup<double> setup{
      .graph = ticopd::ring(8),
      .objective = std::make_shared<Mine>(),
      .codec = ticopd::make_codec<double>({.kind = "qsgd", .bits = 4}),
      .iterations = 400};
  const auto found = ticopd::solve(ticopd::TiCoPD{.alpha = 0.1, .theta = 2, .eta = 0.4}, setup);
  const double x = found.x.row(0)[0];
  std::printf("agent 0 found %.6f after %.0f kbit\n", x, found.last.bits_payload / 1000);
  return x > 3.499999 && x < 3.500001 ? 0 : 1;
}
