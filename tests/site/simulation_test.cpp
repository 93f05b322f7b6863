// The code of sites in a world where everything goes wrong: the digest stays that of solve().
#include <gtest/gtest.h>

#include <algorithm>

#include "site/simulated.hpp"
#include "ticopd/error.hpp"

namespace ticopd::dense {
namespace {

class Simulation : public ::testing::TestWithParam<std::string> {};

// 1,000 seeds and some more over all algorithms, none of them twice.
constexpr std::uint64_t seeds_of_one = 46;

TEST_P(Simulation, EveryFaultLeavesTheDigestOfTheUndisturbedRun) {
  const std::vector<std::string> names = algorithm_names();
  ASSERT_GE(names.size() * seeds_of_one, 1000u);
  const auto number =
      static_cast<std::uint64_t>(std::ranges::find(names, GetParam()) - names.begin());
  const Simulated<float> s(GetParam());
  std::uint64_t kills = 0, power_losses = 0, lost = 0;
  for (std::uint64_t i = 1; i <= seeds_of_one; ++i) {
    const std::uint64_t seed = number * seeds_of_one + i;
    const SimOutcome outcome = play(s.problem, seed, Faults());
    EXPECT_NE(outcome.end, SimOutcome::End::violation) << "seed " << seed << ": " << outcome.what;
    kills += outcome.kills;
    power_losses += outcome.power_losses;
    lost += outcome.lost;
  }
  EXPECT_TRUE(kills > 0 && power_losses > 0 && lost > 0) << "the faults did not strike";
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

// Each kind of fault alone changes what happens, and no result.
TEST(Simulator, EveryKindOfFaultStrikes) {
  const Changed<float> s("ticopd");
  for (const FaultKind& kind : fault_kinds()) {
    int other = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      const SimOutcome outcome = play(s.problem, seed, Faults::parse(std::string(kind.name)));
      EXPECT_NE(outcome.end, SimOutcome::End::violation) << kind.name << ", seed " << seed;
      other += outcome.trace != play(s.problem, seed, Faults::parse("none")).trace;
    }
    EXPECT_GT(other, 0) << kind.name;
  }
}

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
