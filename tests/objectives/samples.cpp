// Objectives over samples: blocks, mini-batches, weights and dropped features.
#include "ticopd/objectives/samples.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "objectives/made_up.hpp"
#include "ticopd/error.hpp"
#include "ticopd/objectives/sample_problem.hpp"

namespace ticopd {
namespace {

using made_up::objective;
using made_up::options_of;
using made_up::Problem;
using made_up::relative_distance;

Problem several_blocks() {
  Problem problem;
  problem.options = options_of("mlp");
  problem.options.hidden = {5};
  problem.options.l2 = 0.1;
  problem.shards = {5000, 2048, 2049};
  return problem;
}

TEST(SampleObjective, BlocksAddUpToTheWhole) {
  const auto f = objective<double>(several_blocks());
  const auto x = made_up::normals<double>(f->dimension(), 9);
  EXPECT_EQ(f->blocks(0, Batch{}), 3u);
  EXPECT_EQ(f->blocks(1, Batch{}), 1u);
  EXPECT_EQ(f->blocks(2, Batch{}), 2u);
  std::vector<double> whole(x.size()), part(x.size()), sum(x.size());
  f->gradient(0, x, whole);
  double value = 0.0;
  for (std::size_t b = 0; b < 3; ++b) {
    value += f->evaluate(0, b, Batch{}, x, part);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
  }
  EXPECT_EQ(sum, whole);  // equal bits, since it is the same sum
  EXPECT_EQ(value, f->value(0, x));
}

TEST(SampleObjective, BatchOfAllSamplesIsTheFullGradient) {
  const auto f = objective<double>(several_blocks());
  const auto x = made_up::normals<double>(f->dimension(), 9);
  Batch batch{false, std::vector<std::uint32_t>(f->samples(0))};
  std::iota(batch.samples.begin(), batch.samples.end(), 0u);
  std::vector<double> whole(x.size()), listed(x.size());
  f->gradient(0, x, whole);
  EXPECT_EQ(f->blocks(0, batch), 1u);
  EXPECT_NEAR(f->evaluate(0, 0, batch, x, listed), f->value(0, x), 1e-12);
  EXPECT_LT(relative_distance(listed, whole), 1e-12);
}

TEST(SampleObjective, BatchIsTheMeanOfItsSamples) {
  const auto f = objective<double>(several_blocks());
  const auto x = made_up::normals<double>(f->dimension(), 9);
  const double first = f->evaluate(0, 0, {false, {17}}, x, {});
  const double second = f->evaluate(0, 0, {false, {4001}}, x, {});
  EXPECT_NEAR(f->evaluate(0, 0, {false, {4001, 17}}, x, {}), (first + second) / 2, 1e-13);
  EXPECT_THROW(f->evaluate(0, 0, {false, {}}, x, {}), std::invalid_argument);
  EXPECT_THROW(f->evaluate(0, 0, {false, {5000}}, x, {}), std::out_of_range);
}

TEST(SampleObjective, SampleWeightingMakesTheMeanOverAgentsTheMeanOverSamples) {
  for (const std::string name : {"softmax", "least_squares", "mlp"}) {
    Problem problem;
    problem.options = options_of(name);
    problem.options.l2 = 0.2;
    problem.options.weighting = "sample";
    if (name == "least_squares") problem.classes = 0;
    const auto f = objective<double>(problem);
    const auto x = made_up::normals<double>(f->dimension(), 4);

    std::vector<double> features, labels;
    for (std::uint32_t i = 0; i < problem.shards.size(); ++i) {
      const auto shard = made_up::samples<double>(problem.shards[i], 6, problem.classes, 1 + i);
      const auto& dense = std::get<std::vector<double>>(shard.raw());
      features.insert(features.end(), dense.begin(), dense.end());
      labels.insert(labels.end(), shard.labels().begin(), shard.labels().end());
    }
    const std::size_t m = labels.size();
    const auto together =
        make_objective<double>(problem.options, {{m, 6, features, labels}}, {}, problem.classes);
    double mean = 0.0;
    std::vector<double> g(x.size()), sum(x.size()), whole(x.size());
    for (int agent = 0; agent < 3; ++agent) {
      mean += f->value(agent, x) / 3;
      f->gradient(agent, x, g);
      for (std::size_t k = 0; k < g.size(); ++k) sum[k] += g[k] / 3;
    }
    together->gradient(0, x, whole);
    EXPECT_NEAR(mean, together->value(0, x), 1e-12) << name;
    EXPECT_LT(relative_distance(sum, whole), 1e-12) << name;
  }
}

// Samples in which features 0, 4 and 6 are always zero; the test uses them dense, sparse and as u8.
std::vector<std::uint8_t> pixels_with_zero_columns() {
  Generator draw = made_up::generator(3);
  std::vector<std::uint8_t> pixels(30 * 7);
  for (std::size_t k = 0; k < pixels.size(); ++k)
    if (k % 7 != 0 && k % 7 != 4 && k % 7 != 6)
      pixels[k] = static_cast<std::uint8_t>(draw.below(3) * 120);
  return pixels;
}

SparseRows<double> sparse_of(const std::vector<double>& dense, std::size_t features) {
  SparseRows<double> rows;
  rows.begin.push_back(0);
  for (std::size_t k = 0; k < dense.size(); ++k) {
    if (dense[k] != 0 || k % features == 4) {  // column 4 holds stored zeros
      rows.index.push_back(static_cast<std::uint32_t>(k % features));
      rows.value.push_back(dense[k]);
    }
    if (k % features + 1 == features) rows.begin.push_back(rows.index.size());
  }
  return rows;
}

TEST(SampleObjective, DroppingFeaturesThatAreZeroInAShardChangesNothing) {
  const std::vector<std::uint8_t> pixels = pixels_with_zero_columns();
  const std::vector<double> labels(30, 1.0);
  const Dataset<double> images(30, 7, pixels, labels);
  std::vector<double> dense(30 * 7);
  images.read(0, 30, dense.data());

  for (const ObjectiveInfo& info : objective_table()) {
    if (info.external) continue;  // has no samples
    const std::string name(info.name);
    ObjectiveOptions options = options_of(name);
    options.hidden = {3};
    options.l2 = 0.05;
    const auto narrowed = make_objective<double>(options, {images}, {}, 2);
    const auto sparse =
        make_objective<double>(options, {{30, 7, sparse_of(dense, 7), labels}}, {}, 2);
    // One more sample with every feature keeps all columns in use.
    std::vector<double> more = dense;
    more.insert(more.end(), 7, 1.0);
    std::vector<double> more_labels = labels;
    more_labels.push_back(1.0);
    const auto wide = make_objective<double>(options, {{31, 7, more, more_labels}}, {}, 2);
    Batch first_30{false, std::vector<std::uint32_t>(30)};
    std::iota(first_30.samples.begin(), first_30.samples.end(), 0u);

    const auto x = made_up::normals<double>(wide->dimension(), 6);
    std::vector<double> want(x.size()), got(x.size(), 9.0), got_sparse(x.size(), 9.0);
    const double value = wide->evaluate(0, 0, first_30, x, want);
    narrowed->gradient(0, x, got);
    sparse->gradient(0, x, got_sparse);
    EXPECT_NEAR(narrowed->value(0, x), value, 1e-13) << name;
    EXPECT_NEAR(sparse->value(0, x), value, 1e-13) << name;
    EXPECT_LT(relative_distance(got, want), 1e-13) << name;
    EXPECT_LT(relative_distance(got_sparse, want), 1e-13) << name;
  }
}

TEST(SampleObjective, ShardOfZerosStillHasABiasGradient) {
  const std::vector<double> zeros(20, 0.0), labels(4, 1.0);
  const auto f = make_objective<double>(options_of("softmax"), {{4, 5, zeros, labels}}, {}, 2);
  std::vector<double> x(f->dimension()), g(f->dimension());
  f->gradient(0, x, g);
  EXPECT_DOUBLE_EQ(g[10], 0.5);
  EXPECT_DOUBLE_EQ(g[11], -0.5);
  EXPECT_DOUBLE_EQ(g[0], 0.0);
}

TEST(SampleObjective, CorrectCountsTheCorrectlyClassifiedTestSamples) {
  const std::vector<double> features{1, 0, 0, 1, 2, 1, 1, 3, -1, 0};  // five samples of two
  const Dataset<double> train(1, 2, std::vector<double>{1, 1}, {0});
  // W = I, b = 0: the larger feature wins.
  const Dataset<double> test(5, 2, features, {0, 1, 0, 0, 1});
  const auto softmax = make_objective<double>(options_of("softmax"), {train}, test, 2);
  const std::vector<double> identity{1, 0, 0, 1, 0, 0};
  EXPECT_EQ(softmax->test_samples(), 5u);
  EXPECT_EQ(softmax->test_blocks(), 1u);
  EXPECT_EQ(softmax->correct(0, identity), 4u);

  const auto logistic = make_objective<double>(options_of("logistic"), {train}, test, 2);
  // a.x = -a_0 + a_1: -1, 1, -1, 2, 1; class 1 if positive.
  EXPECT_EQ(logistic->correct(0, std::vector<double>{-1, 1}), 4u);
  EXPECT_EQ(logistic->correct(0, std::vector<double>{NAN, 0}), 0u);

  const auto regression = make_objective<double>(options_of("least_squares"), {train}, test, 0);
  EXPECT_EQ(regression->test_samples(), 0u);
}

TEST(SampleObjective, LogisticIsStableAtBothEnds) {
  const Dataset<double> train(2, 1, std::vector<double>{1, 1}, {0, 1});
  const auto f = make_objective<double>(options_of("logistic"), {train}, {}, 2);
  std::vector<double> g(1);
  for (const double z : {-800.0, -40.0, 40.0, 800.0}) {
    const std::vector<double> x{z};
    f->gradient(0, x, g);
    EXPECT_DOUBLE_EQ(f->value(0, x), std::fabs(z) / 2);
    EXPECT_DOUBLE_EQ(g[0], z > 0 ? 0.5 : -0.5);
    // Only the sample on the right side: its tiny loss and slope must stay accurate.
    const std::uint32_t right = z > 0 ? 1 : 0;
    const double value = f->evaluate(0, 0, {false, {right}}, x, g);
    EXPECT_DOUBLE_EQ(value, std::exp(-std::fabs(z)));
    EXPECT_DOUBLE_EQ(std::fabs(g[0]), std::exp(-std::fabs(z)));
  }
}

TEST(SampleObjective, AgentWithoutSamplesIsRejectedByName) {
  Problem problem;
  problem.shards = {3, 0, 2};
  try {
    objective<float>(problem);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("agent 1"), std::string::npos) << error.what();
  }
}

// A device gets the samples from the kernel's format: they must be those that were given, in their
// order, whatever the format.
void expect_read_back(const Dataset<float>& given, int classes) {
  const auto f =
      make_objective<float>(options_of("softmax"), std::vector{given, given}, given, classes);
  const auto problem = f->sample_problem();
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(f->sample_problem(), problem) << "a device would load the samples twice";
  ASSERT_EQ(problem->shards.size(), 2u);
  for (const Dataset<float>& found : {problem->shards[0], problem->shards[1], problem->test}) {
    EXPECT_EQ(found.labels(), given.labels());
    EXPECT_EQ(found.raw().index(), given.raw().index()) << "bytes stay bytes, sparse stays sparse";
    std::vector<float> want(given.samples() * given.features()), got(want.size());
    ASSERT_EQ(found.samples() * found.features(), want.size());
    given.read(0, given.samples(), want.data());
    found.read(0, found.samples(), got.data());
    EXPECT_EQ(got, want);
  }
}

TEST(SampleProblem, HoldsTheSamplesAsTheyWereGiven) {
  const std::size_t count = 150, features = 40;
  expect_read_back(made_up::samples<float>(count, features, 10, 1), 10);
  std::vector<std::uint8_t> pixels(count * features);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = i % 3 == 0 ? 0 : static_cast<std::uint8_t>(i * 37 % 256);
  std::vector<double> labels(count);
  for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<double>(i % 10);
  expect_read_back({count, features, pixels, labels}, 10);
  SparseRows<float> rows{.begin = {0}, .index = {}, .value = {}};
  for (std::uint32_t s = 0; s < count; ++s) {
    rows.index.insert(rows.index.end(), {s % 20, 20 + s % 7});
    rows.value.insert(rows.value.end(), {0.5f + static_cast<float>(s), -2.0f});
    rows.begin.push_back(rows.index.size());
  }
  expect_read_back({count, features, rows, labels}, 10);
}

// The loss and widths that a device is told of `objective`.
void expect_outline(const std::string& objective, SampleProblem::Loss loss,
                    const std::vector<std::size_t>& widths) {
  ObjectiveOptions options = options_of(objective);
  options.hidden = {5, 4};
  options.activation = "tanh";
  options.l2 = 0.25;
  options.weighting = "sample";
  const auto data = made_up::samples<float>(12, 3, 2, 1);
  const auto f = make_objective<float>(options, std::vector{data, data}, data, 2);
  const auto problem = f->sample_problem();
  ASSERT_NE(problem, nullptr) << objective;
  EXPECT_EQ(problem->loss, loss) << objective;
  EXPECT_EQ(problem->widths, widths) << objective;
  if (objective == "mlp") {
    EXPECT_EQ(problem->phi, Activation::tanh);
  }
  EXPECT_EQ(problem->l2, 0.25) << objective;
  EXPECT_TRUE(problem->weight_by_sample) << objective;
}

TEST(SampleProblem, HasTheLossAndWidthsThatTheObjectiveDeclares) {
  expect_outline("mlp", SampleProblem::Loss::cross_entropy, {3, 5, 4, 2});
  expect_outline("softmax", SampleProblem::Loss::cross_entropy, {3, 2});
  expect_outline("logistic", SampleProblem::Loss::logistic, {3, 1});
  expect_outline("least_squares", SampleProblem::Loss::least_squares, {3, 1});
}

TEST(SampleProblem, IsMissingIfDevicesHaveNoKernels) {
  Problem problem;
  problem.classes = 2;
  problem.options = options_of("nonconvex_logistic");
  EXPECT_EQ(objective<float>(problem)->sample_problem(), nullptr);
  problem.options = options_of("logistic");
  EXPECT_NE(objective<float>(problem)->sample_problem(), nullptr);
  EXPECT_EQ(objective<double>(problem)->sample_problem(), nullptr);
}

}  // namespace
}  // namespace ticopd
