// 1 process = k processes, bit by bit. If this test fails, fix it before any other.
#include <gtest/gtest.h>

#include "network/record.hpp"

namespace ticopd::dense {
namespace {

class Determinism : public ::testing::TestWithParam<std::string> {};

template <class T>
void same_bits_with_every_codec(const std::string& name) {
  const auto f = std::make_shared<LeastSquares<T>>(ProblemSize{10, 33, 12});
  const Graph random = erdos_renyi(10, 0.3, 7);
  for (const CodecOptions& options : codecs_for(algorithm_info(name))) {
    SCOPED_TRACE(options.kind + (sizeof(T) == 4 ? ", float" : ", double"));
    Setup<T> setup{.graph = graph_for(name, random),
                   .objective = f,
                   .codec = make_codec<T>(options),
                   .iterations = 30,
                   .watch = {.rounds = {.every = 10}}};
    expect_same_bits<T>(name, setup, {{2, 1}, {5, 1}, {1, 3}, {2, 10}});
    if (options.kind != "qsgd" && options.kind != "identity") continue;
    SCOPED_TRACE("ring, mini-batches");
    setup.graph = graph_for(name, ring(10));
    setup.batch = 5;
    expect_same_bits<T>(name, setup, {{2, 1}, {5, 3}, {1, 10}});
    const AlgorithmNeeds needs = algorithm_needs(options_of(name));
    if (needs.centre || needs.fixed_graph) continue;
    SCOPED_TRACE("links that come and go, and a noisy channel");
    setup.links = {.drop = 0.3};
    setup.channel_noise = {ChannelNoise::Kind::gaussian, 1e-3};
    expect_same_bits<T>(name, setup, {{2, 1}, {1, 3}, {2, 10}});
  }
}

TEST_P(Determinism, AnyNumberOfRanksAndThreadsGivesTheSameBits) {
  same_bits_with_every_codec<float>(GetParam());
  same_bits_with_every_codec<double>(GetParam());
}

// Rows so long that a map is split over threads; their length is not a multiple of any block size.
TEST_P(Determinism, LongRowsSplitOverThreadsHaveTheSameBits) {
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{6, 8192 * 2 + 37, 3});
  const CodecOptions options = codec_for(GetParam(), {.kind = "qsgd"});
  ticopd::Setup<float> setup{.graph = graph_for(GetParam(), ring(6)),
                             .objective = f,
                             .codec = make_codec<float>(options),
                             .iterations = 3,
                             .watch = {.rounds = {.every = 2}}};
  // Three samples in 16,421 dimensions make f_i steep: the step sizes of the small problem would
  // diverge.
  AlgorithmOptions steps = options_of(GetParam());
  for (auto& [key, value] : steps.parameters)
    if (key == "alpha" || key == "mu" || (key == "eta" && GetParam() != "ticopd")) value = 1e-5;
  if (GetParam() == "prox_gpda") steps.parameters["beta"] = 1e5;  // the inverse of a step
  if (GetParam() == "prox_pda_perturbed") steps.parameters = {{"rho", 1e5}, {"gamma", 1e-6}};
  Warnings warnings;
  const auto run = make_algorithm<float>(steps, spectrum(setup.graph, setup.weights), warnings);
  const Record one = record(run, setup, {1, 1});
  for (const Way way : {Way{2, 1}, Way{5, 1}, Way{2, 3}}) {
    const Record other = record(run, setup, way);
    EXPECT_EQ(other.digest, one.digest);
    EXPECT_TRUE(other.x == one.x);
    EXPECT_EQ(other.metrics, one.metrics);
  }
}

TEST_P(Determinism, TheSeedChangesTheBits) {
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{10, 33, 12});
  const CodecOptions options = codec_for(GetParam(), {.kind = "qsgd"});
  ticopd::Setup<float> setup{.graph = graph_for(GetParam(), ring(10)),
                             .objective = f,
                             .codec = make_codec<float>(options),
                             .iterations = 5};
  const auto run = algorithm<float>(GetParam(), setup.graph);
  const Record one = record(run, setup, {1, 1});
  setup.seed = 2;
  EXPECT_NE(record(run, setup, {1, 1}).digest, one.digest);
}

INSTANTIATE_TEST_SUITE_P(Every, Determinism, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace ticopd::dense
