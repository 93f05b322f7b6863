// The simulator must bite: each of these mistakes is found within 3,000 seeds.
#include "ticopd/site/planted.hpp"

#include <gtest/gtest.h>

#include "network/every_algorithm.hpp"
#include "ticopd/sim/play.hpp"

namespace ticopd {

Bug planted_bug = Bug::none;

namespace dense {
namespace {

constexpr std::uint64_t most_seeds = 3000;

// BEER has two mirrors, one of them in flight when a round ends, and sends its warm start; with
// links that come and go a run keeps means that follow from its rows.
struct Methods {
  explicit Methods(const std::string& name, double drop = 0)
      : setup{.graph = graph_for(name, ring(6)),
              .objective = std::make_shared<LeastSquares<float>>(ProblemSize{6, 10, 4}),
              .codec = make_codec<float>(codec_for(name, {.kind = "qsgd"})),
              .links = {.drop = drop},
              .iterations = 20,
              .watch = {.rounds = {.every = 4}}},
        run(algorithm<float>(name, setup.graph)),
        problem{run, setup, 3, solve(run, setup).digest} {}
  Setup<float> setup;
  RunFactory<float> run;
  SimProblem<float> problem;
};

class Planted : public ::testing::TestWithParam<int> {};

// Returns the first seed that is a violation; 0: none.
std::uint64_t found_at(Bug bug) {
  planted_bug = Bug::none;
  const Methods beer("beer"), ticopd("ticopd"), lossy("ticopd", 0.3);
  planted_bug = bug;
  std::uint64_t seed = 1;
  for (; seed <= most_seeds; ++seed)
    if (const Methods& m = seed % 3 == 0   ? lossy
                           : seed % 3 == 1 ? beer
                                           : ticopd;
        play(m.problem, seed, Faults()).end == SimOutcome::End::violation)
      break;
  planted_bug = Bug::none;
  return seed > most_seeds ? 0 : seed;
}

TEST_P(Planted, IsFoundWithin3000Seeds) {
  const std::uint64_t seed = found_at(static_cast<Bug>(GetParam()));
  RecordProperty("seed", static_cast<int>(seed));
  std::printf("bug %d: seed %lu\n", GetParam(), static_cast<unsigned long>(seed));
  EXPECT_GT(seed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Bugs, Planted, ::testing::Range(1, static_cast<int>(Bug::count)));

TEST(Planted, NothingIsFoundWithoutOne) {
  const Methods beer("beer");
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    EXPECT_NE(play(beer.problem, seed, Faults()).end, SimOutcome::End::violation) << seed;
}

}  // namespace
}  // namespace dense
}  // namespace ticopd
