// An objective that brings its data itself: ticopd run FILE --plugin ./sensors.so
//   --set problem.objective=sensors
#include <cmath>
#include <numbers>
#include <ticopd/plugin.hpp>

namespace {

using ticopd::ObjectiveOptions;

// Sensors on a circle. Each knows only its squared distance to a source; together they find it.
//   f_i(x) = (||x - a_i||^2 - r_i^2)^2 / 4, zero on the circle of radius r_i around sensor i.
template <class T>
class Sensors final : public ticopd::Objective<T> {
 public:
  static constexpr ticopd::ObjectiveAbout about{.name = "sensors",
                                                .labels = ticopd::Labels::targets,
                                                .init = "",
                                                .summary = "find a source from distances to it",
                                                .options = {"reach"}};

  Sensors(const ObjectiveOptions& options, int agents, std::uint64_t)
      : agents_(agents), reach_(ticopd::own_value<double>(options, "reach")) {}

  int agents() const override { return agents_; }
  std::size_t dimension() const override { return 2; }

  double value(int agent, std::span<const T> x) const override {
    const double e = excess(agent, x[0], x[1]);
    return e * e / 4;
  }
  void gradient(int agent, std::span<const T> x, std::span<T> g) const override {
    const double e = excess(agent, x[0], x[1]);
    g[0] = static_cast<T>(e * (x[0] - place(agent, 0)));
    g[1] = static_cast<T>(e * (x[1] - place(agent, 1)));
  }
  void start(std::uint64_t, std::span<T> x) const override { x[0] = x[1] = T(0.5); }

 private:
  static constexpr double source[] = {0.3, -0.7};

  double place(int agent, int axis) const {
    const double angle = 2 * std::numbers::pi * agent / agents_;
    return reach_ * (axis == 0 ? std::cos(angle) : std::sin(angle));
  }
  double distance2(int agent, double x, double y) const {
    const double dx = x - place(agent, 0), dy = y - place(agent, 1);
    return dx * dx + dy * dy;
  }
  double excess(int agent, double x, double y) const {
    return distance2(agent, x, y) - distance2(agent, source[0], source[1]);
  }

  int agents_;
  double reach_;
};

}  // namespace

TICOPD_PLUGIN("sensors", "1.0") {
  using namespace ticopd;
  objective_options_table().add(own_option<ObjectiveOptions>(
      "reach", domain::above(0), 2.0, "`sensors`: the radius of their circle"));
  objective_table().add(own_objective_info<Sensors>());
}
