// Whole runs of three rounds; small_codecs_test.cu says why they are small.
#include <gtest/gtest.h>

#include "cuda/curves.hpp"
#include "cuda/device.hpp"
#include "cuda/whole_runs.hpp"

namespace ticopd::dense {
namespace {

ticopd::Setup<float> three_rounds(const std::string& name, const CodecOptions& codec) {
  return {.graph = graph_for(name, ring(3)),
          .objective = std::make_shared<LeastSquares<float>>(ProblemSize{3, 1100, 400}),
          .codec = make_codec<float>(codec),
          .iterations = 3,
          .watch = {.rounds = {.every = 1}}};
}

class SmallRuns : public ::testing::TestWithParam<std::string> {};

TEST_P(SmallRuns, ThreeRoundsEqualTheCpus) {
  TICOPD_NEEDS_DEVICE();
  const std::string name = GetParam();
  const CodecOptions codec = codec_for(name, {.kind = "qsgd", .bits = 4});
  expect_same_run(name, three_rounds(name, codec));
}

INSTANTIATE_TEST_SUITE_P(Small, SmallRuns, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& name) { return name.param; });

TEST(SmallRuns, TimeVaryingLinksEqualTheCpus) {
  TICOPD_NEEDS_DEVICE();
  const CodecOptions codec{.kind = "top_k", .k = 50};
  ticopd::Setup<float> setup = three_rounds("choco_sgd", codec);
  setup.links = {.drop = 0.3};
  setup.channel_noise = {ChannelNoise::Kind::uniform, 1e-3};
  expect_same_run("choco_sgd", setup);
}

// Here gradients and metrics are computed on the device too.
void expect_losses_of_cpu(const char* hidden) {
  const std::vector<std::string> set{
      hidden,         "graph.agents=3", "problem.partition=\"iid\"", "problem.samples=120",
      "iterations=3", "log.every=3"};
  const Curve cpu = curve(set, Device::cpu), gpu = curve(set, Device::cuda);
  ASSERT_EQ(gpu.rows.size(), cpu.rows.size());
  EXPECT_LT(apart(gpu, cpu, 3), 1e-5);
  EXPECT_EQ(gpu.rows.back().bits_payload, cpu.rows.back().bits_payload);
}

TEST(SmallRuns, FusedGradientGivesTheLossesOfTheCpu) {
  TICOPD_NEEDS_DEVICE();
  expect_losses_of_cpu("problem.hidden=[9]");
}

TEST(SmallRuns, GeneralGradientGivesTheLossesOfTheCpu) {
  TICOPD_NEEDS_DEVICE();
  expect_losses_of_cpu("problem.hidden=[9, 7]");
}

}  // namespace
}  // namespace ticopd::dense
