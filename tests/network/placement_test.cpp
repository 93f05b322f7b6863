// The placement of agents on ranks.
#include "ticopd/network/placement.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

TEST(Placement, GivesEachRankAContiguousNonEmptyBlock) {
  for (int agents = 1; agents <= 17; ++agents)
    for (int ranks = 1; ranks <= agents; ++ranks) {
      const Graph graph = agents == 1 ? Graph(1, {}) : path(agents);
      int next = 0;
      for (int r = 0; r < ranks; ++r) {
        const Placement plan(graph, ranks, r);
        ASSERT_EQ(plan.first(), next);
        ASSERT_GE(plan.rows(), 1u);
        ASSERT_LE(plan.rows(), static_cast<std::size_t>((agents + ranks - 1) / ranks));
        for (std::size_t row = 0; row < plan.rows(); ++row) {
          ASSERT_EQ(plan.agent(row), next);
          ASSERT_EQ(plan.owner(next), r);
          ASSERT_EQ(plan.row(next), row);
          ++next;
        }
      }
      ASSERT_EQ(next, agents);
    }
}

TEST(Placement, BalancesSamplesNotAgents) {
  const std::vector<std::size_t> cost{1000, 100, 100, 100, 100, 100, 100, 100, 100, 100};
  const Graph graph = ring(10);
  EXPECT_EQ(Placement(graph, 2, 0, cost).rows(), 1u) << "the first agent is more than half of all";
  EXPECT_EQ(Placement(graph, 2, 1, cost).rows(), 9u);
  const std::vector<std::size_t> none(10, 0);
  EXPECT_EQ(Placement(graph, 2, 0, none).rows(), 5u) << "agents without samples still count";
  const std::vector<std::size_t> last{0, 0, 0, 0, 0, 0, 0, 0, 0, 1000};
  for (int r = 0; r < 4; ++r) EXPECT_GE(Placement(graph, 4, r, last).rows(), 1u);
}

TEST(Placement, RejectsMoreRanksThanAgents) {
  for (const int ranks : {0, -1, 6}) {
    try {
      const Placement plan(ring(5), ranks, 0);
      ADD_FAILURE() << ranks;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("network.ranks = " + std::to_string(ranks)),
                std::string::npos);
      EXPECT_NE(std::string(e.what()).find("1 to 5"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ticopd
