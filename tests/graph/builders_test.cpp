// The graphs by kind: degrees, seeds, connectivity and rejected sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ticopd/error.hpp"
#include "ticopd/graph/graph.hpp"

namespace ticopd {
namespace {

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::multiset<int> degrees(const Graph& g) {
  std::multiset<int> all;
  for (int i = 0; i < g.agents(); ++i) all.insert(g.degree(i));
  return all;
}

void expect_symmetric_and_ascending(const Graph& g) {
  std::size_t ends = 0;
  for (int i = 0; i < g.agents(); ++i) {
    const auto& list = g.neighbours(i);
    ends += list.size();
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
    EXPECT_EQ(std::adjacent_find(list.begin(), list.end()), list.end());
    for (const int j : list) {
      EXPECT_NE(i, j);
      const auto& back = g.neighbours(j);
      EXPECT_TRUE(std::binary_search(back.begin(), back.end(), i));
    }
  }
  EXPECT_EQ(ends, 2 * g.edges());
}

TEST(Ring, EveryAgentHasTwoNeighboursFromThreeAgentsOn) {
  EXPECT_EQ(ring(1).edges(), 0u);
  EXPECT_EQ(ring(2).edges(), 1u);
  for (const int n : {3, 4, 10, 101}) {
    const Graph g = ring(n);
    EXPECT_EQ(g.edges(), static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      std::vector<int> expected{(i + n - 1) % n, (i + 1) % n};
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(g.neighbours(i), expected);
    }
  }
}

TEST(Builders, GraphsHaveTheDegreesOfTheirShape) {
  EXPECT_EQ(degrees(path(5)), (std::multiset<int>{1, 1, 2, 2, 2}));
  EXPECT_EQ(degrees(star(5)), (std::multiset<int>{1, 1, 1, 1, 4}));
  EXPECT_EQ(star(5).degree(0), 4);
  EXPECT_EQ(degrees(complete(4)), (std::multiset<int>{3, 3, 3, 3}));
  EXPECT_EQ(degrees(grid(6)), (std::multiset<int>{2, 2, 2, 2, 3, 3}));
  EXPECT_EQ(degrees(torus(9)), (std::multiset<int>{4, 4, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(degrees(torus(6)), (std::multiset<int>{3, 3, 3, 3, 3, 3}));  // 2 x 3: one link up
  EXPECT_EQ(hypercube(16).edges(), 32u);
  EXPECT_EQ(hypercube(1).edges(), 0u);
  EXPECT_EQ(hypercube(8).neighbours(5), (std::vector<int>{1, 4, 7}));
  EXPECT_EQ(exponential(10).neighbours(0), (std::vector<int>{1, 2, 4, 6, 8, 9}));
  EXPECT_EQ(exponential(7).neighbours(0), (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST(Builders, GraphsOfEverySizeAndKindAreSymmetric) {
  for (const GraphInfo& info : graph_table()) {
    if (info.name == "file" || info.name == "edges") continue;  // see edge_list_test.cpp
    for (const int n : {1, 2, 4, 8, 16, 64}) {
      GraphOptions o;
      o.kind = info.name;
      o.agents = n;
      const Graph g = make_graph(o, 3);
      EXPECT_EQ(g.agents(), n) << info.name;
      expect_symmetric_and_ascending(g);
    }
  }
}

TEST(Grid, UsesTheGivenRowsOrTheSquarestShape) {
  EXPECT_EQ(grid(12).edges(), 17u);      // 3 x 4
  EXPECT_EQ(grid(12, 2).edges(), 16u);   // 2 x 6
  EXPECT_EQ(grid(7).edges(), 6u);        // prime: a path
  EXPECT_EQ(torus(12, 1).edges(), 12u);  // a ring
  const std::string message = message_of<ConfigError>([] { grid(10, 3); });
  EXPECT_TRUE(has(message, "graph.rows = 3")) << message;
  EXPECT_TRUE(has(message_of<ConfigError>([] { torus(10, -1); }), "graph.rows"));
}

TEST(RandomGraphs, GraphsFollowTheSeedAndAreConnected) {
  EXPECT_EQ(erdos_renyi(30, 0.2, 5).neighbours(7), erdos_renyi(30, 0.2, 5).neighbours(7));
  EXPECT_EQ(geometric(30, 0.3, 5).neighbours(7), geometric(30, 0.3, 5).neighbours(7));
  int differ = 0;
  for (int i = 0; i < 30; ++i)
    differ += erdos_renyi(30, 0.2, 5).neighbours(i) != erdos_renyi(30, 0.2, 6).neighbours(i);
  EXPECT_GT(differ, 20);
}

TEST(ErdosRenyi, LinksTheRequestedShareOfPairs) {
  const double pairs = 400 * 399 / 2;
  for (const double p : {0.05, 0.3, 0.9, 0.999999}) {
    const double share = static_cast<double>(erdos_renyi(400, p, 1).edges()) / pairs;
    EXPECT_NEAR(share, p, 5 * std::sqrt(p * (1 - p) / pairs) + 1e-4) << p;
  }
  EXPECT_EQ(erdos_renyi(20, 1.0, 1).edges(), 190u);
}

TEST(Geometric, PointsAreThoseThatTheGraphLinks) {
  const auto points = geometric_points(60, 0.25, 5);
  ASSERT_EQ(points.size(), 60u);
  const Graph graph = geometric(60, 0.25, 5);
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < i; ++j) {
      const auto& [x, y] = points[static_cast<std::size_t>(i)];
      const auto& [u, v] = points[static_cast<std::size_t>(j)];
      const bool linked = std::ranges::binary_search(graph.neighbours(i), j);
      EXPECT_EQ(linked, std::hypot(x - u, y - v) <= 0.25) << i << " and " << j;
    }
}

TEST(Geometric, LinksMorePairsWithALargerRadius) {
  EXPECT_EQ(geometric(20, 1.5, 1).edges(), 190u);
  const double n = 2000;
  const double r = 0.06;
  const double expected = 0.5 * n * n * 3.14159265 * r * r;  // minus what the border cuts off
  const auto edges = static_cast<double>(geometric(2000, r, 1).edges());
  EXPECT_LT(edges, expected);
  EXPECT_GT(edges, 0.9 * expected);
}

TEST(RandomGraphs, NamesTheKeyToRaiseIfNoDrawIsConnected) {
  const std::string p = message_of<ConfigError>([] { erdos_renyi(40, 0.001, 1); });
  EXPECT_TRUE(has(p, "graph.p = 0.001") && has(p, "raise")) << p;
  EXPECT_TRUE(has(message_of<ConfigError>([] { erdos_renyi(1000000, 1e-7, 1); }), "graph.p"));
  const std::string r = message_of<ConfigError>([] { geometric(40, 0.01, 1); });
  EXPECT_TRUE(has(r, "graph.radius = 0.01") && has(r, "raise")) << r;
  for (const double bad : {0.0, -0.1, 1.1, std::nan("")})
    EXPECT_TRUE(has(message_of<ConfigError>([=] { erdos_renyi(4, bad, 1); }), "graph.p"));
  for (const double bad : {0.0, -1.0, std::nan("")})
    EXPECT_TRUE(has(message_of<ConfigError>([=] { geometric(4, bad, 1); }), "graph.radius"));
}

TEST(Builders, BuildersRejectSizesOutOfRange) {
  for (const GraphInfo& info : graph_table())
    for (const int n : {0, -3, 1000001}) {
      GraphOptions o;
      o.kind = info.name;
      o.agents = n;
      o.path = "nowhere.txt";
      const std::string message = message_of<ConfigError>([&] { make_graph(o, 1); });
      EXPECT_TRUE(has(message, "graph.agents = " + std::to_string(n))) << message;
    }
  const std::string cube = message_of<ConfigError>([] { hypercube(10); });
  EXPECT_TRUE(has(cube, "8 and 16")) << cube;
  EXPECT_TRUE(has(message_of<ConfigError>([] { complete(1000000); }), "edges"));
  EXPECT_TRUE(has(message_of<ConfigError>([] { erdos_renyi(1000000, 0.4, 1); }), "edges"));
}

TEST(Graph, NamesTwoAgentsThatCannotReachEachOther) {
  const std::vector<std::pair<int, int>> edges{{0, 1}, {1, 2}, {3, 4}};
  const std::string message = message_of<ConfigError>([&] { Graph(5, edges); });
  EXPECT_TRUE(has(message, "agents 0 and 3")) << message;
  EXPECT_TRUE(has(message_of<ConfigError>([] { Graph(2, {}); }), "agents 0 and 1"));
}

TEST(Graph, RejectsBadEdges) {
  using Edges = std::vector<std::pair<int, int>>;
  EXPECT_TRUE(has(message_of<ConfigError>([] { Graph(2, Edges{{0, 2}}); }), "edge 0 2"));
  EXPECT_TRUE(has(message_of<ConfigError>([] { Graph(2, Edges{{-1, 0}}); }), "edge -1 0"));
  EXPECT_TRUE(has(message_of<ConfigError>([] { Graph(2, Edges{{1, 1}}); }), "self-loop"));
  EXPECT_TRUE(has(message_of<ConfigError>([] { Graph(2, Edges{{0, 1}, {1, 0}}); }), "twice"));
}

TEST(MakeGraph, SuggestsTheNearestKind) {
  GraphOptions o;
  o.kind = "rign";
  const std::string message = message_of<ConfigError>([&] { make_graph(o, 1); });
  EXPECT_TRUE(has(message, "graph.kind = \"rign\"") && has(message, "did you mean \"ring\""))
      << message;
  o.kind = "file";
  EXPECT_TRUE(has(message_of<ConfigError>([&] { make_graph(o, 1); }), "graph.path"));
}

}  // namespace
}  // namespace ticopd
