// Whole experiments on the GPU compared with the CPU. Their gradients differ in the last bits, so
// the runs agree up to rounding only: the first messages have the same bytes, and the losses agree
// until a coordinate near the border between two levels is rounded the other way.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/curves.hpp"
#include "cuda/device.hpp"

namespace ticopd {
namespace {

class Agreement : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Agreement, CpuAndGpuDifferByRoundingOnly) {
  TICOPD_NEEDS_DEVICE();
  const Curve cpu = curve(GetParam(), Device::cpu), gpu = curve(GetParam(), Device::cuda);
  ASSERT_EQ(gpu.rows.size(), cpu.rows.size());
  std::printf("losses apart by %.2g until round 10, by %.2g until 200\n", apart(gpu, cpu, 10),
              apart(gpu, cpu, 200));
  EXPECT_LT(apart(gpu, cpu, 10), 1e-6);  // measured: 7e-8
  EXPECT_EQ(gpu.rows[0].bits_payload, cpu.rows[0].bits_payload);
  // Compare the bits after one exchange. With entropy coding this shows equal message lengths;
  // codecs_test shows that equal rows make equal bytes.
  EXPECT_EQ(gpu.rows[1].bits_payload, cpu.rows[1].bits_payload);
  // Later the runs differ like two seeds, while the losses still fall by orders of magnitude;
  // measured up to 0.5 at a loss of 0.01.
  EXPECT_LT(std::abs(*gpu.rows.back().loss_max - *cpu.rows.back().loss_max),
            0.05 * *cpu.rows.front().loss_max);
  EXPECT_NEAR(*gpu.rows.back().accuracy_min, *cpu.rows.back().accuracy_min, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Agreement,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{"problem.hidden=[30, 20]"},
                                           std::vector<std::string>{
                                               "problem.objective=\"softmax\""},
                                           std::vector<std::string>{"problem.activation=\"tanh\"",
                                                                    "algorithm.alpha=0.03"},
                                           std::vector<std::string>{"problem.batch=32"},
                                           std::vector<std::string>{"codec.coding=\"entropy\""}));

// Sixteen rounds that are not logged run as one graph, and the codec overlaps the gradient. (In
// brief mode there are too few rounds for that.)
TEST(Agreement, ManyRoundsAtOnceEqualTheRoundsOneByOne) {
  TICOPD_NEEDS_DEVICE();
  const std::string rounds = briefly() ? "3" : curve_rounds();
  for (const char* coding : {"codec.coding=\"fixed\"", "codec.coding=\"entropy\""}) {
    const auto logged = [&](const std::string& every) {
      return curve({coding, "iterations=" + rounds, "log.every=" + every}, Device::cuda);
    };
    const Curve one = logged("1"), many = logged(rounds);
    ASSERT_EQ(one.solution.x.size(), many.solution.x.size());
    EXPECT_TRUE(std::equal(one.solution.x.data(), one.solution.x.data() + one.solution.x.size(),
                           many.solution.x.data()));
    EXPECT_EQ(one.rows.back().bits_payload, many.rows.back().bits_payload);
  }
}

TEST(Agreement, SameSeedGivesTheSameDigest) {
  TICOPD_NEEDS_DEVICE();
  EXPECT_EQ(curve({}, Device::cuda).solution.digest, curve({}, Device::cuda).solution.digest);
}

// A program may have one network in each of two threads. The networks take turns on the device.
TEST(Agreement, RunsInTwoThreadsEqualRunsAlone) {
  TICOPD_NEEDS_DEVICE();
  const auto digest_of_a_run = [] { return curve({}, Device::cuda).solution.digest; };
  const std::string alone = digest_of_a_run();
  std::string found[2];
  in_two_threads([&](int thread) { found[thread] = digest_of_a_run(); });
  EXPECT_EQ(found[0], alone);
  EXPECT_EQ(found[1], alone);
}

TEST(Agreement, RunThatDoesNotFitInMemoryIsRejectedBeforeItStarts) {
  TICOPD_NEEDS_DEVICE();
  try {  // 60,000 agents with three million parameters each
    curve({"graph.agents=60000", "problem.samples=60000", "problem.partition=\"iid\"",
           "problem.hidden=[4000]"},
          Device::cuda);
    FAIL() << "ran";
  } catch (const UnavailableError& e) {
    EXPECT_NE(std::string(e.what()).find("GB"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("--device cpu"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace ticopd
