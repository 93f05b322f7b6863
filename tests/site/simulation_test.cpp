// The code of sites in a world where everything goes wrong: the digest stays that of solve().
#include <gtest/gtest.h>

#include "network/every_algorithm.hpp"
#include "ticopd/sim/play.hpp"

namespace ticopd::dense {
namespace {

template <class T>
struct Simulated {
  explicit Simulated(const std::string& name, const CodecOptions& codec = {.kind = "qsgd"})
      : setup{.graph = graph_for(name, ring(6)),
              .objective = std::make_shared<LeastSquares<T>>(ProblemSize{6, 10, 4}),
              .codec = make_codec<T>(codec_for(name, codec)),
              .iterations = 20,
              .watch = {.rounds = {.every = 4}}},
        run(algorithm<T>(name, setup.graph)),
        problem{run, setup, 3, solve(run, setup).digest} {}

  Setup<T> setup;
  RunFactory<T> run;
  SimProblem<T> problem;
};

class Simulation : public ::testing::TestWithParam<std::string> {};

TEST_P(Simulation, EveryFaultLeavesTheDigestOfTheUndisturbedRun) {
  const Simulated<float> s(GetParam());
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SimOutcome outcome = play(s.problem, seed, Faults());
    EXPECT_NE(outcome.end, SimOutcome::End::violation) << "seed " << seed << ": " << outcome.what;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Simulation, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& name) { return name.param; });

TEST(Simulator, PlaysASeedAgainExactly) {
  const Simulated<double> s("beer");
  for (const std::uint64_t seed : {1, 2, 3})
    EXPECT_EQ(play(s.problem, seed, Faults()).trace, play(s.problem, seed, Faults()).trace);
  EXPECT_NE(play(s.problem, 1, Faults()).trace, play(s.problem, 2, Faults()).trace);
}

}  // namespace
}  // namespace ticopd::dense
