// The simulator must bite: each of these mistakes is found within 3,000 seeds.
#include "ticopd/site/planted.hpp"

#include <gtest/gtest.h>

#include "site/simulated.hpp"

namespace ticopd {

Bug planted_bug = Bug::none;

namespace dense {
namespace {

constexpr std::uint64_t most_seeds = 3000;

class Planted : public ::testing::TestWithParam<int> {};

// BEER has two mirrors, one of them in flight when a round ends, and sends its warm start; with
// links that come and go a run keeps means that follow from its rows; CHOCO-SGD moves x before it
// waits. Returns the first seed that is a violation; 0: none.
std::uint64_t found_at(Bug bug) {
  planted_bug = Bug::none;
  const Changed<float> beer("beer"), choco("choco_sgd"), lossy("ticopd", 0.3);
  const Simulated<float> plain("ticopd");
  planted_bug = bug;
  std::uint64_t seed = 1;
  const std::array problems{&beer.problem, &choco.problem, &lossy.problem, &plain.problem};
  for (; seed <= most_seeds; ++seed)
    if (play(*problems[seed % problems.size()], seed, Faults()).end == SimOutcome::End::violation)
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
  const Changed<float> beer("beer");
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const SimOutcome outcome = play(beer.problem, seed, Faults());
    EXPECT_NE(outcome.end, SimOutcome::End::violation) << "seed " << seed << ": " << outcome.what;
  }
}

}  // namespace
}  // namespace dense
}  // namespace ticopd
