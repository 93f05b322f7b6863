// Whole experiments on the GPU against the CPU. Gradients differ in their last bits, so a run is
// the CPU's only as far as rounding reaches: what is sent first has the same bytes, and losses stay
// together until a coordinate near the border of a level is rounded the other way.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/curves.hpp"
#include "cuda/device.hpp"

namespace ticopd {
namespace {

class Agreement : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Agreement, OfCpuAndGpuGoesAsFarAsRounding) {
  TICOPD_NEEDS_DEVICE();
  const Curve cpu = curve(GetParam(), Device::cpu), gpu = curve(GetParam(), Device::cuda);
  ASSERT_EQ(gpu.rows.size(), cpu.rows.size());
  std::printf("losses apart by %.2g until round 10, by %.2g until 200\n", apart(gpu, cpu, 10),
              apart(gpu, cpu, 200));
  EXPECT_LT(apart(gpu, cpu, 10), 1e-6);  // seen: 7e-8
  EXPECT_EQ(gpu.rows[0].bits_payload, cpu.rows[0].bits_payload);
  // After one exchange. Entropy-coded, that says that the messages were equally long; that equal
  // rows make equal bytes is codecs_test's.
  EXPECT_EQ(gpu.rows[1].bits_payload, cpu.rows[1].bits_payload);
  // Then as far apart as two seeds are, while losses still fall by orders: seen up to 0.5 of 0.01.
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

// Rounds that nobody looks at run sixteen at once, with the codec beside the gradient. (Briefly
// they are too few for that.)
TEST(Agreement, ManyRoundsAtOnceAreTheRoundsOneByOne) {
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

TEST(Agreement, TheSameSeedGivesTheSameDigestTwice) {
  TICOPD_NEEDS_DEVICE();
  EXPECT_EQ(curve({}, Device::cuda).solution.digest, curve({}, Device::cuda).solution.digest);
}

// A program may have a network in each of two threads: they take turns on the device.
TEST(Agreement, OfTwoThreadsIsThatOfEachAlone) {
  TICOPD_NEEDS_DEVICE();
  const auto digest_of_a_run = [] { return curve({}, Device::cuda).solution.digest; };
  const std::string alone = digest_of_a_run();
  std::string found[2];
  in_two_threads([&](int thread) { found[thread] = digest_of_a_run(); });
  EXPECT_EQ(found[0], alone);
  EXPECT_EQ(found[1], alone);
}

TEST(Agreement, WhereTheMemoryWouldNotDoItIsSaidBefore) {
  TICOPD_NEEDS_DEVICE();
  try {  // many agents, with three million parameters each
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
