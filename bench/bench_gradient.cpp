// Times the gradients of one iteration of the paper's problem on request, with one kernel
// (TICOPD_KERNEL, or the fastest of this machine).
//
//   bench_gradient --folder DIR [--threads K]        bench_points fills DIR
//
// The first line has the errors of gradients and losses against float64 at the three moments, the
// worst of ten agents. `gradient` computes the ten gradients at the starting point, `iteration` a
// whole round of TiCoPD with messages and update.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "bench/ask.hpp"
#include "bench/paper_problem.hpp"
#include "bench/rounds.hpp"
#include "ticopd/kernels/kernel.hpp"

namespace {

using namespace ticopd;
using namespace ticopd::bench;
using nlohmann::json;
namespace fs = std::filesystem;

// Far above the rounding of any kernel: a larger error means a bug.
constexpr double wrong = 1e-3;

double relative_error(std::span<const float> ours, const double* reference) {
  double difference = 0, size = 0;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const double off = static_cast<double>(ours[k]) - reference[k];
    difference += off * off;
    size += reference[k] * reference[k];
  }
  return std::sqrt(difference / size);
}

// Row m of points.f32: the parameters of ten agents at one moment.
Field<float> point(const std::vector<float>& points, std::size_t m, CpuNetwork<float>& net) {
  Field<float> x = net.field();
  require(points.size() == moments * x.size(), "points.f32 has not three times ten rows");
  std::copy_n(points.data() + m * x.size(), x.size(), x.data());
  return x;
}

json errors(const fs::path& folder, CpuNetwork<float>& net) {
  const Objective<float>& objective = net.surroundings().objective;
  const auto points = load<float>(folder / "points.f32");
  const auto gradients = load<double>(folder / "gradients.f64");
  const auto losses = load<double>(folder / "losses.f64");
  Field<float> g = net.field();
  std::vector<double> of_gradients(moments, 0.0), of_losses(moments, 0.0);
  for (std::size_t m = 0; m < moments; ++m) {
    const Field<float> x = point(points, m, net);
    require(gradients.size() == points.size() && losses.size() == moments * agents,
            "the reference has not three times ten rows");
    net.gradient(x, g);
    for (std::size_t i = 0; i < g.rows(); ++i) {
      const double right = losses[m * agents + i];
      const double loss = objective.value(static_cast<int>(i), x.row(i));
      const double error = relative_error(g.row(i), gradients.data() + m * g.size() + i * g.cols());
      require(error < wrong, "the gradients differ from the float64 reference");
      require(std::abs(loss - right) < wrong * right, "the losses differ from the reference");
      of_gradients[m] = std::max(of_gradients[m], error);
      of_losses[m] = std::max(of_losses[m], std::abs(loss - right) / right);
    }
  }
  return {{"kernel", kernel_name()}, {"gradient_errors", of_gradients}, {"loss_errors", of_losses}};
}

void run(const fs::path& folder, int threads) {
  const auto objective = load_objective<float>(folder);
  const auto pool = make_pool(threads);
  Rounds<float> rounds(*objective, step_sizes(), *pool);
  CpuNetwork<float>& net = rounds.net();
  const Field<float> start = rounds.x();
  Field<float> first = net.field();
  net.gradient(start, first);
  Field<float> g = first;

  say(errors(folder, net));
  answer({{"gradient", [&] { net.gradient(start, g); }}, {"iteration", [&] { rounds.step(); }}});
  require(std::equal(g.data(), g.data() + g.size(), first.data()),
          "the same gradient came out with other bits");
  require(rounds.finite(), "the state is not finite");
  say({{"rounds", net.round()}, {"digest", rounds.digest()}});
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Gradients of the paper's problem, timed when asked");
  std::string folder;
  int threads = 1;
  app.add_option("--folder", folder)->required();
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, words);
  return guarded("bench_gradient", [&] { run(folder, threads); });
}
