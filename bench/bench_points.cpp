// Prepares the paper's problem for bench_gradient and its peer (paper_problem.hpp lists the files),
// and prints which kernels this machine has.
//
//   bench_points --folder DIR [--threads K]
//
// The points take a minute or two and are kept: a second call only computes the reference again.
// The fastest kernel makes the points, and every kernel is then judged at the same points.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "bench/ask.hpp"
#include "bench/paper_problem.hpp"
#include "bench/rounds.hpp"
#include "ticopd/data/fetch.hpp"
#include "ticopd/data/idx.hpp"
#include "ticopd/data/partition.hpp"
#include "ticopd/error.hpp"
#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"

namespace {

using namespace ticopd;
using namespace ticopd::bench;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr int late_steps = 1500;
constexpr double overfit_loss = 1e-4;
constexpr float overfit_step = 1.0f;
constexpr int most_overfit_steps = 5000;

// As in MNIST, four of five pixels are zero, more of them near the border. No column is zero.
TrainTest<float> random_images() {
  constexpr std::size_t images = 60000;
  Generator draw(Noise{1, 0, 0, stream_synthetic});
  std::vector<std::uint8_t> bytes(images * pixels);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const double row = static_cast<double>(k % pixels / 28) / 13.5 - 1.0;
    const double column = static_cast<double>(k % 28) / 13.5 - 1.0;
    const double ink = 0.55 - 0.5 * std::max(row * row, column * column);
    const std::uint32_t bits = draw.bits();
    if (Noise::to_uniform(bits) < ink) bytes[k] = static_cast<std::uint8_t>(1 + bits % 255);
  }
  std::vector<double> labels(images);
  for (std::size_t i = 0; i < images; ++i) labels[i] = static_cast<double>(i % agents);
  return {{images, pixels, std::move(bytes), std::move(labels)}, {}, agents, "random images"};
}

TrainTest<float> images() {
  try {
    TrainTest<float> mnist = read_idx_folder<float>(fetch_mnist(false));
    mnist.name = "MNIST";
    return mnist;
  } catch (const UnavailableError&) {
    return random_images();
  }
}

// Returns the name of the data.
std::string save_images(const fs::path& folder) {
  const TrainTest<float> data = images();
  std::vector<std::uint8_t> bytes, labels;
  const auto shards = partition(data.train.labels(), agents, agents, Partition::label, 0, 1);
  for (std::size_t agent = 0; agent < shards.size(); ++agent) {
    const Dataset<float> shard = data.train.select(shards[agent]);
    const auto& mine = std::get<std::vector<std::uint8_t>>(shard.raw());
    bytes.insert(bytes.end(), mine.begin(), mine.end());
    labels.insert(labels.end(), shard.samples(), static_cast<std::uint8_t>(agent));
  }
  save(folder / "images.u8", bytes);
  save(folder / "labels.u8", labels);
  return data.name;
}

// Trains each agent alone on its own shard by gradient descent until its loss is small; returns the
// number of steps per agent. Agents with one label overfit like this between messages. There a
// gradient is a small difference of large numbers unless its formula avoids that.
std::vector<int> overfit(CpuNetwork<float>& net, Field<float>& x) {
  const Objective<float>& objective = net.surroundings().objective;
  Field<float> g = net.field();
  std::vector<int> steps(agents, 0);
  for (int step = 1; step <= most_overfit_steps; ++step) {
    net.gradient(x, g);
    bool all = true;
    for (std::size_t i = 0; i < x.rows(); ++i) {
      if (objective.value(static_cast<int>(i), x.row(i)) < overfit_loss) continue;
      all = false;
      steps[i] = step;
      for (std::size_t k = 0; k < x.cols(); ++k) x.row(i)[k] -= overfit_step * g.row(i)[k];
    }
    if (all) return steps;
  }
  throw std::runtime_error("check failed: an agent does not overfit its own shard");
}

json make_points(const fs::path& folder, int threads) {
  const auto objective = load_objective<float>(folder);
  const auto pool = make_pool(threads);
  Rounds<float> run(*objective, step_sizes(), *pool);
  std::vector<float> points;
  const auto keep = [&](const Field<float>& x) {
    points.insert(points.end(), x.data(), x.data() + x.size());
  };
  keep(run.x());
  for (int step = 1; step <= late_steps; ++step) {
    run.step();
    if (step % 100 == 0)
      std::cerr << "bench_points: step " << step << " of " << late_steps << std::endl;
  }
  keep(run.x());
  Field<float> x = run.x();
  const std::vector<int> steps = overfit(run.net(), x);
  keep(x);
  save(folder / "points.f32", points);
  return {{"late_steps", late_steps}, {"overfit_steps", steps}, {"points_by", kernel_name()}};
}

// Saves values and gradients in double; returns the mean loss of each moment.
std::vector<double> save_reference(const fs::path& folder, int threads) {
  const auto objective = load_objective<double>(folder);
  const auto pool = make_pool(threads);
  Rounds<double> run(*objective, step_sizes(), *pool);
  const auto points = load<float>(folder / "points.f32");
  require(points.size() == moments * run.x().size(), "points.f32 has not three times ten rows");
  Field<double> x = run.net().field(), g = x;
  std::vector<double> gradients, losses, means;
  for (std::size_t m = 0; m < moments; ++m) {
    std::copy_n(points.data() + m * x.size(), x.size(), x.data());
    run.net().gradient(x, g);
    gradients.insert(gradients.end(), g.data(), g.data() + g.size());
    means.push_back(0);
    for (int i = 0; i < agents; ++i) {
      losses.push_back(objective->value(i, x.row(static_cast<std::size_t>(i))));
      means.back() += losses.back() / agents;
    }
  }
  save(folder / "gradients.f64", gradients);
  save(folder / "losses.f64", losses);
  require(means[1] < means[0], "the run that makes the points does not learn");
  require(*std::max_element(losses.end() - agents, losses.end()) < 1.01 * overfit_loss,
          "the overfit points are not overfit");
  return means;
}

json kernels() {
  json list = json::array();
  for (const KernelInfo& kernel : kernel_table())
    list.push_back({{"name", kernel.name}, {"available", kernel.available}});
  return list;
}

void prepare(const fs::path& folder, int threads) {
  fs::create_directories(folder);
  const std::string data = save_images(folder);
  const fs::path notes = folder / "points.json";
  json about;
  if (fs::exists(notes)) about = json::parse(std::ifstream(notes), nullptr, false);
  if (!about.is_object() || about.value("data", "") != data) {
    fs::remove(notes);
    about = make_points(folder, threads);
    about["data"] = data;
    std::ofstream(notes) << about;
  }
  about["losses"] = save_reference(folder, threads);
  about["kernels"] = kernels();
  about["used"] = kernel_name();
  about["blas"] = blas_name();
  say(about);
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Prepares the paper's problem for bench_gradient");
  std::string folder;
  int threads = 1;
  app.add_option("--folder", folder)->required();
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, words);
  return guarded("bench_points", [&] { prepare(folder, threads); });
}
