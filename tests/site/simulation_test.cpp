// The code of sites in a world where everything goes wrong: the digest stays that of solve().
#include <gtest/gtest.h>

#include "site/simulated.hpp"
#include "ticopd/error.hpp"

namespace ticopd::dense {
namespace {

class Simulation : public ::testing::TestWithParam<std::string> {};

TEST_P(Simulation, EveryFaultLeavesTheDigestOfTheUndisturbedRun) {
  const Simulated<float> s(GetParam());
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SimOutcome outcome = play(s.problem, seed, Faults());
    EXPECT_NE(outcome.end, SimOutcome::End::violation) << "seed " << seed << ": " << outcome.what;
  }
}

TEST_P(Simulation, NewRostersAndEpochsEndInTheRunFromWhereTheLastEpochBegan) {
  const Changed<float> s(GetParam());
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SimOutcome outcome = play(s.problem, seed, Faults());
    EXPECT_NE(outcome.end, SimOutcome::End::violation) << "seed " << seed << ": " << outcome.what;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Simulation, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& name) { return name.param; });

TEST(Simulator, OneSiteIsEnoughToHearOfANewRoster) {
  const Changed<float> s("ticopd");
  std::uint64_t rosters = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const SimOutcome outcome = play(s.problem, seed, Faults::parse("roster"));
    EXPECT_EQ(outcome.end, SimOutcome::End::same) << "seed " << seed << ": " << outcome.what;
    EXPECT_EQ(outcome.handed_again, 0u) << "seed " << seed;
    rosters += outcome.rosters;
  }
  EXPECT_GT(rosters, 30u);
}

// A step that is far too long: one site finds it, and all of them end.
TEST(Simulator, EverySiteHearsThatTheRunHasDiverged) {
  Simulated<float> s("dgd");
  Warnings warnings;
  AlgorithmOptions options{"dgd", {{"eta", 1e9}}, {}};
  const RunFactory<float> run =
      make_algorithm<float>(options, spectrum(s.setup.graph, Weights::metropolis), warnings);
  const SimProblem<float> problem{run, s.setup, 3, ""};
  EXPECT_THROW(solve(run, s.setup), Diverged);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const SimOutcome outcome = play(problem, seed, Faults());
    EXPECT_NE(outcome.end, SimOutcome::End::violation) << "seed " << seed << ": " << outcome.what;
  }
}

TEST(Simulator, PlaysASeedAgainExactly) {
  const Simulated<double> s("beer");
  for (const std::uint64_t seed : {1, 2, 3})
    EXPECT_EQ(play(s.problem, seed, Faults()).trace, play(s.problem, seed, Faults()).trace);
  EXPECT_NE(play(s.problem, 1, Faults()).trace, play(s.problem, 2, Faults()).trace);
}

}  // namespace
}  // namespace ticopd::dense
