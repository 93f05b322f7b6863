// The routes of messages, for broadcasts, servers and time-varying links.
#include "ticopd/network/routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ticopd {
namespace {

using Message = Routes<double>::Message;

TEST(Routes, RowsTravelWhereTheMatrixHasEntries) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Graph graph = erdos_renyi(12, 0.25, seed);
    const Mixing matrix = laplacian(graph);
    for (const int ranks : {1, 2, 5, 12})
      for (int r = 0; r < ranks; ++r) {
        const Placement plan(graph, ranks, r);
        const Routes<double> routes(matrix, plan, graph, {}, 1);
        std::set<int> ghosts;
        ASSERT_EQ(routes.messages().size(), plan.rows());
        for (const Message& m : routes.messages()) {
          std::set<int> told;
          const int agent = plan.agent(m.row);
          for (const int j : graph.neighbours(agent)) {
            if (plan.owner(j) == r) continue;
            ghosts.insert(j);
            told.insert(plan.owner(j));
          }
          EXPECT_EQ(m.slot, m.row);
          EXPECT_EQ(m.to, -1);
          EXPECT_EQ(m.ranks, std::vector<int>(told.begin(), told.end()));
          EXPECT_EQ(m.links.size(), graph.neighbours(agent).size());
        }
        std::vector<int> expected;
        for (const auto& a : routes.arrivals()) {
          expected.push_back(a.agent);
          EXPECT_EQ(routes.ids()[a.slot], a.agent);
          EXPECT_EQ(a.rank, plan.owner(a.agent));
        }
        EXPECT_EQ(expected, std::vector<int>(ghosts.begin(), ghosts.end()));
      }
  }
}

TEST(Routes, ServerRoutesLeadOnlyToAndFromTheServer) {
  const Graph graph = complete(5);
  const Mixing to = to_centre(graph), from = from_centre(graph);
  const Placement plan(graph, 1, 0);
  const Routes<double> up(to, plan, graph, {}, 1), down(from, plan, graph, {}, 1);
  ASSERT_EQ(up.messages().size(), 5u);
  EXPECT_TRUE(up.messages()[0].links.empty()) << "the centre need not tell itself";
  for (std::size_t i = 1; i < 5; ++i)
    EXPECT_EQ(up.messages()[i].links, std::vector<std::size_t>{0}) << i;
  ASSERT_EQ(down.messages().size(), 1u);
  EXPECT_EQ(down.messages()[0].row, 0u);
  EXPECT_EQ(down.messages()[0].links.size(), 4u);
}

// Each rank sends exactly the messages that the others wait for, in the same order, for any active
// links.
TEST(Routes, BothEndsOfALinkAgreeOnItsMessages) {
  const Graph graph = erdos_renyi(11, 0.4, 3);
  const Mixing matrix = laplacian(graph);
  for (const LinkSchedule schedule :
       {LinkSchedule{.drop = 0.5}, LinkSchedule{.one_edge = true}, LinkSchedule{.drop = 0.05}})
    for (const int ranks : {1, 3, 11})
      for (std::uint32_t round = 0; round < 20; ++round) {
        using Wire = std::vector<std::pair<int, int>>;  // from, to
        std::map<std::pair<int, int>, Wire> sent, awaited;
        std::size_t messages = 0;
        for (int r = 0; r < ranks; ++r) {
          const Placement plan(graph, ranks, r);
          Routes<double> routes(matrix, plan, graph, schedule, 7);
          routes.at(round);
          for (const Message& m : routes.messages()) {
            ++messages;
            EXPECT_EQ(m.links.size(), 1u);
            EXPECT_EQ(graph.neighbours(plan.agent(m.row))[m.links[0]], m.to);
            for (const int to : m.ranks) sent[{r, to}].emplace_back(plan.agent(m.row), m.to);
          }
          for (const auto& a : routes.arrivals()) awaited[{a.rank, r}].emplace_back(a.agent, a.to);
        }
        EXPECT_EQ(sent, awaited);
        const auto active = schedule.active(graph, 7, round);
        EXPECT_EQ(messages, 2 * static_cast<std::size_t>(std::ranges::count(active, true)));
      }
}

TEST(Routes, EveryLinkRowHasOneOwner) {
  const Graph graph = ring(7);
  const Mixing matrix = laplacian(graph);
  std::vector<int> owned;
  for (int r = 0; r < 3; ++r) {
    const Placement plan(graph, 3, r);
    const Routes<double> routes(matrix, plan, graph, {.drop = 0.2}, 1);
    EXPECT_EQ(routes.total(), 14u);
    owned.insert(owned.end(), routes.ids().begin(),
                 routes.ids().begin() + static_cast<std::ptrdiff_t>(routes.hosted()));
  }
  for (int id = 0; id < 14; ++id) EXPECT_EQ(owned[static_cast<std::size_t>(id)], id);
}

TEST(LinkSchedule, DropsTheGivenShareOfLinksAnewInEachRound) {
  const Graph graph = complete(40);
  const LinkSchedule schedule{.drop = 0.2};
  double dropped = 0;
  for (std::uint32_t round = 1; round <= 50; ++round) {
    const auto active = schedule.active(graph, 3, round);
    EXPECT_EQ(active, schedule.active(graph, 3, round));
    EXPECT_NE(active, schedule.active(graph, 3, round + 1));
    EXPECT_NE(active, schedule.active(graph, 4, round));
    dropped += static_cast<double>(std::ranges::count(active, false));
  }
  const double edges = 50.0 * 780;  // five standard deviations
  EXPECT_NEAR(dropped / edges, 0.2, 5 * std::sqrt(0.16 / edges));
  EXPECT_EQ(std::ranges::count(schedule.active(graph, 3, 0), false), 0) << "while it is set up";
}

TEST(LinkSchedule, OneEdgeModeReachesEveryEdge) {
  const Graph graph = complete(6);
  std::set<std::size_t> seen;
  for (std::uint32_t round = 1; round <= 300; ++round) {
    const auto active = LinkSchedule{.one_edge = true}.active(graph, 1, round);
    ASSERT_EQ(std::ranges::count(active, true), 1);
    seen.insert(static_cast<std::size_t>(std::ranges::find(active, true) - active.begin()));
  }
  EXPECT_EQ(seen.size(), 15u);
}

}  // namespace
}  // namespace ticopd
