// Your own objective: eight sensors on a circle. Each sensor knows only its distance to a source.
// One distance leaves a whole circle of candidates; together the sensors find the point.
//
// An objective is four functions: agents, dimension, value and gradient. It may be nonconvex, like
// this one. An agent evaluates only its own f_i.
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "ticopd/experiment/recording.hpp"
#include "ticopd/ticopd.hpp"

namespace {

constexpr int sensors = 8;
constexpr std::array<double, 2> source{0.3, -0.7};

// f_i(x) = (||x - a_i||^2 - r_i^2)^2 / 4: zero on the circle of radius r_i around sensor i.
class Distances final : public ticopd::Objective<double> {
 public:
  Distances() {
    for (int i = 0; i < sensors; ++i) {
      const double angle = 2 * std::numbers::pi * i / sensors;
      Sensor s{2 * std::cos(angle), 2 * std::sin(angle), 0};
      s.r2 = excess(s, source);  // the measured value
      sensors_.push_back(s);
    }
  }

  int agents() const override { return sensors; }
  std::size_t dimension() const override { return 2; }

  double value(int agent, std::span<const double> x) const override {
    const double e = excess(sensor(agent), x);
    return e * e / 4;
  }

  // Must overwrite g, not add to it.
  void gradient(int agent, std::span<const double> x, std::span<double> g) const override {
    const Sensor& s = sensor(agent);
    const double e = excess(s, x);
    g[0] = e * (x[0] - s.a0);
    g[1] = e * (x[1] - s.a1);
  }

  // The common starting point. Optional; the default is zero.
  void start(std::uint64_t, std::span<double> x) const override { x[0] = x[1] = 0.5; }

 private:
  struct Sensor {
    double a0, a1, r2;
  };
  static double excess(const Sensor& s, std::span<const double> x) {
    return (x[0] - s.a0) * (x[0] - s.a0) + (x[1] - s.a1) * (x[1] - s.a1) - s.r2;
  }
  const Sensor& sensor(int agent) const { return sensors_[static_cast<std::size_t>(agent)]; }

  std::vector<Sensor> sensors_;
};

// A wrong gradient is the usual mistake, so compare it with differences of the value first.
double gradient_error(const Distances& f) {
  double worst = 0;
  const double h = 1e-5;
  for (int i = 0; i < sensors; ++i) {
    std::array<double, 2> x{-0.4, 0.9}, g{};
    f.gradient(i, x, g);
    for (std::size_t k = 0; k < 2; ++k) {
      auto up = x, down = x;
      up[k] += h;
      down[k] -= h;
      worst = std::max(worst, std::abs((f.value(i, up) - f.value(i, down)) / (2 * h) - g[k]));
    }
  }
  return worst;
}

}  // namespace

// With the name of a new folder the program leaves a run there: then `ticopd report FOLDER`.
int main(int argc, char** argv) {
  const auto f = std::make_shared<Distances>();
  const double wrong = gradient_error(*f);
  std::printf("gradient against finite differences: %.1e\n", wrong);
  if (wrong > 1e-6) return 1;

  ticopd::Setup<double> setup{.graph = ticopd::ring(sensors), .objective = f};
  ticopd::CodecOptions four_bits;
  four_bits.kind = "qsgd";
  four_bits.bits = 4;
  setup.codec = ticopd::make_codec<double>(four_bits);
  setup.iterations = 3000;
  setup.watch.rounds.every = 500;
  setup.watch.on_log = [](const ticopd::Metrics& m) {
    std::printf("round %4u  loss %.2e  disagreement %.2e\n", m.iteration, *m.loss_max, m.consensus);
  };
  const ticopd::TiCoPD steps{.alpha = 0.03, .theta = 4, .eta = 0.4};
  const auto found = argc > 1 ? ticopd::solve(steps, setup, {.out = argv[1], .name = "sensors"})
                              : ticopd::solve(steps, setup);

  double worst = 0;
  for (std::size_t i = 0; i < sensors; ++i)
    worst =
        std::max(worst, std::hypot(found.x.row(i)[0] - source[0], found.x.row(i)[1] - source[1]));
  std::printf("the worst sensor is %.1e away from the source\n", worst);
  return worst < 1e-9 ? 0 : 1;
}
