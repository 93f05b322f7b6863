// The rounds that a run logs.
#include "ticopd/run/log_rounds.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ticopd {
namespace {

std::vector<std::uint32_t> logged(const LogRounds& log, std::uint32_t last) {
  std::vector<std::uint32_t> rounds;
  for (std::uint32_t r = 0; r <= last; ++r)
    if (log(r, last)) rounds.push_back(r);
  return rounds;
}

TEST(LogRounds, IncludeTheFirstTwoAndTheLast) {
  for (const std::uint32_t last : {1u, 2u, 17u, 999u, 5000u}) {
    const auto rounds = logged({}, last);
    EXPECT_EQ(rounds[0], 0u);
    EXPECT_EQ(rounds[1], 1u);
    EXPECT_EQ(rounds.back(), last);
  }
  EXPECT_EQ(logged({}, 0), (std::vector<std::uint32_t>{0}));
}

TEST(LogRounds, LogAboutSixtyOfAHundredThousandRounds) {
  const auto rounds = logged({}, 100000);
  EXPECT_GE(rounds.size(), 54u);
  EXPECT_LE(rounds.size(), 64u);
  for (std::size_t i = 20; i + 1 < rounds.size(); ++i)
    EXPECT_LT(rounds[i + 1], 1.4 * rounds[i]) << "log-spaced: no gap";
  EXPECT_GT(logged({.points = 200}, 100000).size(), 130u);
}

TEST(LogRounds, LongerRunsLogTheSameEarlyRounds) {
  const auto longest = logged({}, 300000);
  for (const std::uint32_t last : {50u, 1000u, 4321u, 100000u}) {
    auto rounds = logged({}, last);
    rounds.pop_back();  // the last is logged because it is the last
    for (std::size_t i = 0; i < rounds.size(); ++i)
      ASSERT_EQ(rounds[i], longest[i]) << "of " << last;
    ASSERT_GE(longest[rounds.size()], last);
  }
}

TEST(LogRounds, EveryTenRoundsCanBeLogged) {
  EXPECT_EQ(logged({.every = 10}, 35), (std::vector<std::uint32_t>{0, 1, 10, 20, 30, 35}));
}

}  // namespace
}  // namespace ticopd
