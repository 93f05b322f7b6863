// Gradients, values and accuracies of any problem, compared with the CPU's in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "cuda/device.hpp"
#include "cuda/general_cases.hpp"

namespace ticopd::cuda {
namespace {

using made_up::relative_distance;

class General : public testing::TestWithParam<Case> {};
class GeneralClasses : public testing::TestWithParam<Case> {};

TEST_P(General, GradientsAndValuesEqualTheCpus) {
  TICOPD_NEEDS_DEVICE();
  const Made& made = GetParam().made;
  const auto f = made_objective<float>(made);
  Device device(made_problem(made));
  for (const State state : {State::init, State::late}) {
    if (briefly() && state == State::init) continue;
    const Device::Table x = rows_at(state, made, *f);
    const Device::Result result = device.evaluate(x, x.size());
    expect_cpu(made, x, result);
    EXPECT_EQ(device.gradient(x), result.gradients);
    EXPECT_EQ(device.values(x), result.values);
  }
}

TEST_P(GeneralClasses, GradientsOfOverfitShardsAreAccurate) {
  TICOPD_NEEDS_DEVICE();
  Made made = GetParam().made;
  made.one_class_each = true;
  const Device::Table x = rows_at(State::overfit, made, *made_objective<float>(made));
  expect_cpu(made, x, Device(made_problem(made)).evaluate(x, x.size()));
}

TEST_P(General, TestAccuracyEqualsTheCpus) {
  TICOPD_NEEDS_DEVICE();
  const Made& made = GetParam().made;
  Device device(made_problem(made));
  const Device::Table x = rows_at(State::late, made, *made_objective<float>(made));
  const std::vector<std::uint32_t> right = right_on_cpu(made, x);
  EXPECT_EQ(device.correct(x), right);
  EXPECT_EQ(device.correct({x[1]}), std::vector<std::uint32_t>{right[1]});
  Device::Table more(x);
  more.insert(more.end(), x.begin(), x.end());
  more.push_back(x[0]);  // a table with more rows than agents
  std::vector<std::uint32_t> of_more(right);
  of_more.insert(of_more.end(), right.begin(), right.end());
  of_more.push_back(right[0]);
  EXPECT_EQ(device.correct(more), of_more);
}

TEST_P(General, MiniBatchesEqualTheCpus) {
  TICOPD_NEEDS_DEVICE();
  const Made& made = GetParam().made;
  Device device(made_problem(made));
  const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
  for (const std::size_t batch : {std::size_t{20}, std::size_t{64}, std::size_t{1000}})
    for (const std::uint32_t round : {1u, 2u, 70000u})
      if (!briefly() || round == 2) expect_cpus_batch(made, device, x, round, batch);
}

TEST_P(General, OneSharedModelEqualsACopyPerAgent) {
  TICOPD_NEEDS_DEVICE();
  const Made& made = GetParam().made;
  Device device(made_problem(made));
  const std::vector<float> row = rows_at(State::init, made, *made_objective<float>(made))[0];
  const Device::Result each =
      device.evaluate(Device::Table(made.shards.size(), row), made.shards.size());
  const Device::Result shared = device.evaluate({row}, made.shards.size(), true);
  EXPECT_EQ(shared.values, each.values);
  EXPECT_EQ(shared.gradients, each.gradients);
}

TEST_P(General, NanReachesTheResults) {
  TICOPD_NEEDS_DEVICE();
  const Made& made = GetParam().made;
  Device device(made_problem(made));
  const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
  for (const std::size_t at : {std::size_t{0}, std::size_t{2}, x[0].size() - 1}) {
    Device::Table ill = x;
    ill[2][at] = std::numeric_limits<float>::quiet_NaN();
    const Device::Result result = device.evaluate(ill, ill.size());
    EXPECT_TRUE(std::isnan(result.values[2])) << "coordinate " << at;
    EXPECT_FALSE(std::isnan(result.values[0]));
    bool any = false;
    for (const float g : result.gradients[2]) any = any || std::isnan(g);
    EXPECT_TRUE(any) << "coordinate " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, General, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(Problems, GeneralClasses, testing::ValuesIn(cases_with_classes()),
                         [](const auto& one) { return one.param.name; });

// Shards that are longer than what one chunk sums.
TEST(GeneralLarge, LongShardsAreSummedInChunks) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "mlp";
  made.options.hidden = {6};
  made.features = 11;
  made.shards = {70001, 66000};
  for (const bool u8 : {true, false}) {
    made.u8 = u8;
    const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
    expect_cpu(made, x, Device(made_problem(made)).evaluate(x, x.size()));
  }
}

// More blocks than the second dimension of a grid allows, and sums over more samples than fit a
// 32-bit division.
TEST(GeneralLarge, MillionsOfSamplesAreAllSummed) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "mlp";
  made.options.hidden = {3};
  made.features = 4;
  made.classes = 2;
  made.shards = {briefly() ? 50001u : 8400001u};
  const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
  expect_cpu(made, x, Device(made_problem(made)).evaluate(x, 1));
}

TEST(GeneralLarge, ManySmallAgentsRunAsOneBatch) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "mlp";
  made.options.hidden = {7};
  made.shards.assign(300, 0);
  for (std::size_t i = 0; i < made.shards.size(); ++i) made.shards[i] = 17 + i % 16;
  const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
  expect_cpu(made, x, Device(made_problem(made)).evaluate(x, x.size()));
}

TEST(GeneralLarge, TwoWideHiddenLayersKeepSixDigits) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "mlp";
  made.options.hidden = {200, 100};
  made.features = 784;
  made.classes = 10;
  made.shards = {400, 380};
  made.one_class_each = true;
  const auto f = made_objective<float>(made);
  Device device(made_problem(made));
  for (const State state : {State::init, State::late, State::overfit}) {
    const Device::Table x = rows_at(state, made, *f);
    expect_cpu(made, x, device.evaluate(x, x.size()));
  }
}

// The second shard is much shorter than the others, so whole blocks of it are padding. A NaN left
// there by an earlier call must not be read again.
TEST(GeneralLarge, PaddingIsNeverRead) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "mlp";
  made.options.hidden = {130, 40, 90};
  made.shards = {700, 300, 690};
  for (const bool u8 : {true, false})
    for (const char* activation : {"sigmoid", "relu"}) {
      SCOPED_TRACE(std::string(activation) + (u8 ? " of pixels" : " of floats"));
      made.u8 = u8;
      made.options.activation = activation;
      const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
      Device device(made_problem(made));
      Device::Table ill = x;
      for (std::vector<float>& row : ill)
        std::fill(row.begin(), row.end(), std::numeric_limits<float>::quiet_NaN());
      const Device::Result lost = device.evaluate(ill, ill.size());
      EXPECT_TRUE(std::isnan(lost.values[1]) && std::isnan(lost.gradients[1][0]));
      expect_cpu(made, x, device.evaluate(x, x.size()));
      expect_cpus_batch(made, device, x, 3, 400);
      EXPECT_EQ(device.correct(x), right_on_cpu(made, x));
    }
}

TEST(GeneralLarge, Tf32IsCloseButDifferent) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "mlp";
  made.options.hidden = {64};
  made.features = 128;
  made.u8 = false;
  made.shards = {256, 256};
  const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
  const Device::Table exact = Device(made_problem(made)).gradient(x);
  const Device::Table rough = Device(made_problem(made), true).gradient(x);
  EXPECT_LT(relative_distance(rough[0], exact[0]), 1e-2);
  EXPECT_NE(rough, exact);
}

TEST(GeneralAccuracy, TiesGoToTheLowerClassAndNanIsNeverRight) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "softmax";
  Device device(made_problem(made));
  const std::size_t d = made_objective<float>(made)->dimension();
  const std::vector<float> zeros(d, 0.0f), nans(d, std::numeric_limits<float>::quiet_NaN());
  const std::uint32_t right = right_on_cpu(made, {zeros})[0];
  EXPECT_GT(right, 0u);
  EXPECT_EQ(device.correct({zeros, nans}), (std::vector<std::uint32_t>{right, 0}));
}

TEST(GeneralSparse, SparseDataIsExpandedToDense) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "softmax";
  made.u8 = false;
  Problem problem = made_problem(made);
  const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
  const Device::Table dense = Device(problem).gradient(x);
  for (Dataset<float>& shard : problem.shards) {
    SparseRows<float> rows;
    rows.value = std::get<std::vector<float>>(shard.raw());
    for (std::size_t i = 0; i <= shard.samples(); ++i) rows.begin.push_back(i * shard.features());
    for (std::size_t k = 0; k < rows.value.size(); ++k)
      rows.index.push_back(static_cast<std::uint32_t>(k % shard.features()));
    shard = Dataset<float>(shard.samples(), shard.features(), std::move(rows), shard.labels());
  }
  EXPECT_EQ(Device(problem).gradient(x), dense);
}

TEST(GeneralSparse, DataTooLargeToExpandIsRejectedWithAHintToTheCpu) {
  TICOPD_NEEDS_DEVICE();
  Problem problem;
  problem.widths = {1u << 20, 2};
  SparseRows<float> rows;
  rows.begin.assign(4097, 0);
  problem.shards.push_back(
      Dataset<float>(4096, 1u << 20, std::move(rows), std::vector<double>(4096)));
  try {
    general_objective_bytes(problem);
    FAIL() << "16 GiB were accepted";
  } catch (const UnavailableError& e) {
    EXPECT_NE(std::string(e.what()).find("--device cpu"), std::string::npos) << e.what();
  }
}

// This test needs no device.
TEST(GeneralBytes, BytesIncludeTheCopiesOfABatch) {
  Made made;
  made.options.objective = "softmax";
  made.features = 400;
  made.shards = {300, 280, 40};
  for (const bool u8 : {true, false}) {
    made.u8 = u8;
    const Problem problem = made_problem(made);
    const std::size_t all = general_objective_bytes(problem);
    // Pixels are stored in both orders, without the fifth that no sample uses; floats are stored
    // once.
    const std::size_t of_sample = u8 ? 2 * 320 : 400 * sizeof(float);
    const std::size_t small = general_objective_bytes(problem, 32) - all;
    EXPECT_GE(small, 3 * 32 * of_sample);
    EXPECT_LE(small, 3 * (32 * (of_sample + 200) + 400 * 8 + 200));
    EXPECT_GE(general_objective_bytes(problem, 100) - all, (100 + 100 + 40) * of_sample);
    EXPECT_EQ(general_objective_bytes(problem, 300), all);  // all of every shard: no copies
    EXPECT_EQ(general_objective_bytes(problem, 0), all);
  }
}

TEST(GeneralBytes, EstimateCoversTheMemoryTaken) {
  TICOPD_NEEDS_DEVICE();
  Made made;
  made.options.objective = "mlp";
  made.options.hidden = {120, 40};
  made.features = 400;
  made.classes = 10;
  made.shards = {12000, 11000, 9000};
  const std::size_t batch = briefly() ? 400 : 4000;
  if (briefly()) made.shards = {1200, 1100, 900};  // so little that the granules below exceed it
  for (const bool u8 : {true, false}) {
    made.u8 = u8;
    const Problem problem = made_problem(made);
    const Device::Table x = rows_at(State::init, made, *made_objective<float>(made));
    Device(problem).batch_gradient(x, 1, 1, batch);  // CUDA and cuBLASLt allocate once
    std::size_t before = 0, after = 0, all = 0;
    check(cudaMemGetInfo(&before, &all), "ask for memory");
    Device device(problem);
    device.batch_gradient(x, 1, 1, batch);
    check(cudaMemGetInfo(&after, &all), "ask for memory");
    const double taken = static_cast<double>(before - after);
    const double said = static_cast<double>(general_objective_bytes(problem, batch));
    const double granules = 30 * 2097152.0;  // memory is allocated in granules of 2 MiB
    EXPECT_GE(said, 0.95 * (taken - granules));
    EXPECT_LE(said, 1.2 * taken + granules);
  }
}

}  // namespace
}  // namespace ticopd::cuda
