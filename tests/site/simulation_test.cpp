// The code of sites in a world where everything goes wrong: the digest stays that of solve().
#include <gtest/gtest.h>

#include "network/every_algorithm.hpp"
#include "ticopd/error.hpp"
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

// The same with three more rosters: other addresses; a second epoch without a site, over another
// graph; a third one with a new site.
template <class T>
struct Changed : Simulated<T> {
  explicit Changed(const std::string& name, double drop = 0)
      : Simulated<T>(name),
        fewer(part(name, ring(4), drop)),
        more(part(name, complete(5), drop)),
        fewer_run(algorithm<T>(name, fewer.graph)),
        more_run(algorithm<T>(name, more.graph)) {
    this->setup.links.drop = drop;
    this->problem.digest = solve(this->run, this->setup).digest;
    this->problem.later.push_back({this->run, this->setup, {"site-0", "site-1", "site-2"}, 1});
    if (name == "choco_gossip") return;  // its model is its data: `sign` refuses
    this->problem.later.push_back({fewer_run, fewer, {"site-0", "site-2"}, 2});
    this->problem.later.push_back({more_run, more, {"site-0", "site-2", "site-3"}, 3});
  }
  static Setup<T> part(const std::string& name, const Graph& graph, double drop) {
    const Graph g = graph_for(name, graph);
    return {.graph = g,
            .objective = std::make_shared<LeastSquares<T>>(ProblemSize{g.agents(), 10, 4}),
            .codec = make_codec<T>(codec_for(name, {.kind = "qsgd"})),
            .links = {.drop = drop},
            .iterations = 20,
            .watch = {.rounds = {.every = 4}}};
  }
  Setup<T> fewer, more;
  RunFactory<T> fewer_run, more_run;
};

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
