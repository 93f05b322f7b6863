// Metrics computed on the device have the same bits as the CPU's formulas on the same rows, copied
// to the host.
#include <gtest/gtest.h>

#include <numeric>

#include "cuda/device.hpp"
#include "cuda/whole_runs.hpp"
#include "places.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/network/agent_sums.hpp"

namespace ticopd {
namespace {

void expect_same_model(const ModelMetrics& a, const ModelMetrics& b) {
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.grad_norm2, b.grad_norm2);
  EXPECT_EQ(a.accuracy, b.accuracy);
}

void expect_same(const RowMetrics& a, const RowMetrics& b) {
  ASSERT_EQ(a.agents.size(), b.agents.size());
  for (std::size_t i = 0; i < a.agents.size(); ++i) {
    SCOPED_TRACE("agent " + std::to_string(i));
    expect_same_model(a.agents[i], b.agents[i]);
    EXPECT_EQ(a.agents[i].distance2, b.agents[i].distance2);
  }
  SCOPED_TRACE("mean");
  expect_same_model(a.mean, b.mean);
  EXPECT_EQ(a.surrogate_errors, b.surrogate_errors);
  EXPECT_EQ(a.dual_sum2, b.dual_sum2);
}

// f and its gradient at this model: the values of all agents, added on the host.
void take_global(AnyNetwork<float>& net, std::span<const float> x, ModelMetrics& to) {
  std::vector<double> values(net.placement().rows());
  Field<float> gradients(net.placement().rows(), x.size());
  net.evaluate_at(x, values, gradients);
  const double n = static_cast<double>(values.size());
  to.loss = std::accumulate(values.begin(), values.end(), 0.0) / n;
  to.grad_norm2 =
      squared_norm_of_mean(net.surroundings().transport, net.surroundings().pool, gradients, n);
}

RowMetrics by_the_host(AnyNetwork<float>& net, AnyRun<float>& run) {
  RowMetrics m = run.AnyRun<float>::row_metrics(net, MetricLevel::full);
  const Field<float> x = run.x();
  std::vector<double> sum =
      sum_over_agents(net.surroundings().transport, net.surroundings().pool, x);
  std::vector<float> mean;
  for (const double v : sum) mean.push_back(static_cast<float>(v / static_cast<double>(x.rows())));
  for (std::size_t i = 0; i < x.rows(); ++i) take_global(net, x.row(i), m.agents[i]);
  take_global(net, mean, m.mean);
  return m;
}

struct Case {
  std::string name, algorithm;
  bool dual;
  std::vector<std::string> set = {};
};

class CudaMetrics : public ::testing::TestWithParam<Case> {};

// Generated digits. Rounds are logged so often that their recorded graphs are replayed.
TEST_P(CudaMetrics, MetricsOnTheDeviceHaveTheBitsOfTheHost) {
  TICOPD_NEEDS_DEVICE();
  const Case& c = GetParam();
  std::vector<std::string> all{
      "problem.data=\"digits\"", "problem.samples=400", "problem.partition=\"iid\"",
      "graph.agents=5",          "iterations=6",        "log.every=2"};
  all.insert(all.end(), c.set.begin(), c.set.end());
  if (briefly()) all.insert(all.end(), {"iterations=2", "log.every=1"});
  const Config config = Config::read(places::tree() + "/experiments/mnist_ring10.toml", all);
  Prepared<float> p =
      prepare<float>(config, {.threads = 2, .offline = true, .device = Device::cuda});
  int looked = 0, logged = 0;
  p.setup.watch.on_log = [&](const Metrics&) { ++logged; };
  p.setup.watch.lyapunov = [&](AnyNetwork<float>& net, AnyRun<float>& run) {
    SCOPED_TRACE("round " + std::to_string(net.round()));
    const RowMetrics here = run.row_metrics(net, MetricLevel::full);
    EXPECT_EQ(here.dual_sum2.has_value(), c.dual);
    EXPECT_EQ(here.surrogate_errors.size(), here.agents.size());
    EXPECT_TRUE(here.mean.accuracy.has_value());
    expect_same(here, by_the_host(net, run));
    expect_same(here, run.row_metrics(net, MetricLevel::full));
    if (++looked > 1) {
      EXPECT_GT(here.agents[0].distance2, 0);
      EXPECT_GT(here.surrogate_errors[0], 0);
    }
    return 0.0;
  };
  solve(c.algorithm.empty() ? p.algorithm : dense::device_algorithm(c.algorithm, p.setup.graph),
        p.setup);
  EXPECT_EQ(looked, logged);
  EXPECT_GE(looked, 3);
}

// More models than one graph holds; each is evaluated on the shards of all agents.
std::vector<std::string> many_agents() {
  std::vector<std::string> set{"problem.objective=\"softmax\"", "graph.agents=131",
                               "problem.samples=1310", "log.every=6"};
  if (briefly())
    set.insert(set.end(), {"problem.data=\"synthetic\"", "problem.features=20", "graph.agents=66"});
  return set;
}

const std::string small = "problem.hidden=[9]";

INSTANTIATE_TEST_SUITE_P(
    Of, CudaMetrics,
    ::testing::Values(Case{"dual_and_mirror", "", true, {small}},
                      Case{"no_dual", "choco_sgd", false, {small}},
                      Case{"links_that_come_and_go", "", true, {small, "graph.drop=0.3"}},
                      Case{"codec_of_the_host", "", true, {small, "codec.coding=\"elias\""}},
                      // More blocks of coordinates than a thread block loads at once.
                      Case{"long_rows", "", true, {"problem.hidden=[200]"}},
                      Case{"many_agents", "", true, many_agents()}),
    [](const auto& c) { return c.param.name; });

// The first row that is logged: both devices start from the same models.
Metrics first_row(Device device, std::vector<std::string> set) {
  set.insert(set.end(), {"problem.data=\"digits\"", "problem.samples=400", "graph.agents=5",
                         "problem.weighting=\"sample\"", "iterations=1"});
  Prepared<float> p =
      prepare<float>(Config::read(places::tree() + "/experiments/mnist_ring10.toml", set),
                     {.threads = 2, .offline = true, .device = device});
  std::optional<Metrics> first;
  p.setup.watch.on_log = [&](const Metrics& m) {
    if (!first) first = m;
  };
  solve(p.algorithm, p.setup);
  return first.value();
}

// The samples are the ones the CPU draws, and they are measured on the device.
TEST(CudaMetrics, MetricsOfAPartOfTheSamplesAreNearThoseOfTheCpu) {
  TICOPD_NEEDS_DEVICE();
  const std::string part = "log.samples=60", local = "log.level=\"local\"";
  const Metrics cpu = first_row(Device::cpu, {part}), gpu = first_row(Device::cuda, {part});
  EXPECT_NEAR(*gpu.loss_max, *cpu.loss_max, 1e-6 * *cpu.loss_max);
  EXPECT_NEAR(*gpu.grad_norm2_mean, *cpu.grad_norm2_mean, 1e-5 * *cpu.grad_norm2_mean);
  EXPECT_EQ(gpu.accuracy_min, cpu.accuracy_min);  // of all test samples
  EXPECT_NE(*gpu.loss_max, *first_row(Device::cuda, {}).loss_max);
  EXPECT_NEAR(*first_row(Device::cuda, {part, local}).loss_local,
              *first_row(Device::cpu, {part, local}).loss_local, 1e-6);
}

// The device has no code for this objective, so the rows are copied to the host.
TEST(CudaMetrics, MetricsOfAHostObjectiveEqualThoseOfACpuRun) {
  TICOPD_NEEDS_DEVICE();
  const CodecOptions codec{.kind = "qsgd", .bits = 4};
  for (const double drop : {0.0, 0.3}) {
    ticopd::Setup<float> setup{.graph = ring(5),
                               .objective = std::make_shared<dense::LeastSquares<float>>(
                                   dense::ProblemSize{.agents = 5, .d = 333, .m = 12}),
                               .codec = make_codec<float>(codec),
                               .links = {.drop = drop},
                               .iterations = 6,
                               .watch = {.rounds = {.every = 2}}};
    std::vector<RowMetrics> seen;
    setup.watch.lyapunov = [&](AnyNetwork<float>& net, AnyRun<float>& run) {
      seen.push_back(run.row_metrics(net, MetricLevel::full));
      return 0.0;
    };
    solve(dense::algorithm<float>("ticopd", setup.graph), setup);
    const std::vector<RowMetrics> cpu = std::exchange(seen, {});
    solve(dense::device_algorithm("ticopd", setup.graph), dense::on_device(setup));
    ASSERT_EQ(seen.size(), cpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) expect_same(seen[i], cpu[i]);
  }
}

}  // namespace
}  // namespace ticopd
