#include "ticopd/data/partition.hpp"

#include <algorithm>
#include <cmath>

#include "data/temporary.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/noise.hpp"

namespace ticopd {
namespace {

using Parts = std::vector<std::vector<std::uint32_t>>;

std::vector<double> some_labels(std::size_t samples, int classes, std::uint64_t seed) {
  std::vector<double> labels(samples);
  Generator random(Noise{seed, 0, 0, 99});
  for (std::size_t s = 0; s < samples; ++s)
    labels[s] = static_cast<double>(s < static_cast<std::size_t>(classes)
                                        ? s
                                        : random.below(static_cast<std::size_t>(classes)));
  return labels;
}

// Every sample belongs to exactly one agent, and no agent is empty.
void expect_partition(const Parts& parts, std::size_t samples, int agents) {
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(agents));
  std::vector<std::uint32_t> all;
  for (const auto& part : parts) {
    EXPECT_FALSE(part.empty());
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), samples);
  for (std::uint32_t s = 0; s < samples; ++s) EXPECT_EQ(all[s], s);
}

std::size_t spread(const Parts& parts) {
  std::size_t low = parts[0].size();
  std::size_t high = low;
  for (const auto& part : parts) {
    low = std::min(low, part.size());
    high = std::max(high, part.size());
  }
  return high - low;
}

TEST(Partition, EveryKindGivesEachSampleToOneAgent) {
  for (const int agents : {1, 2, 3, 10})
    for (const std::size_t samples : {10u, 11u, 97u, 1000u})
      for (const auto kind :
           {Partition::label, Partition::sorted, Partition::iid, Partition::dirichlet})
        for (std::uint64_t seed = 1; seed < 4; ++seed) {
          if (kind == Partition::dirichlet && samples < 50) continue;
          const auto labels = some_labels(samples, 10, seed);
          expect_partition(partition(labels, 10, agents, kind, 0.5, seed), samples, agents);
        }
}

TEST(Partition, LabelGivesClassCToAgentCModN) {
  const auto labels = some_labels(500, 10, 1);
  const auto parts = partition(labels, 10, 4, Partition::label, 0, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::is_sorted(parts[i].begin(), parts[i].end()));
    for (const std::uint32_t s : parts[i]) EXPECT_EQ(static_cast<std::size_t>(labels[s]) % 4, i);
  }
}

TEST(Partition, LabelNamesAnAgentThatWouldBeEmpty) {
  const auto labels = some_labels(500, 10, 1);
  expect_refused<ConfigError>([&] { partition(labels, 10, 12, Partition::label, 0, 1); },
                              {"problem.partition", "agent 10", "graph.agents", "sorted"});
}

TEST(Partition, SortedSlicesAreEqualAndStable) {
  const std::vector<double> labels{2, 0, 1, 0, 2, 1, 0};
  EXPECT_EQ(partition(labels, 3, 3, Partition::sorted, 0, 1), (Parts{{1, 3}, {6, 2}, {5, 0, 4}}));
  const auto parts = partition(some_labels(1003, 7, 2), 7, 10, Partition::sorted, 0, 1);
  EXPECT_LE(spread(parts), 1u);
}

TEST(Partition, SortedWorksForRegressionTargets) {
  const std::vector<double> targets{0.5, -1.25, 3.75, 0.25};
  EXPECT_EQ(partition(targets, 0, 2, Partition::sorted, 0, 1), (Parts{{1, 3}, {0, 2}}));
}

TEST(Partition, IidFollowsTheSeedAndMixesTheClasses) {
  const auto labels = some_labels(10000, 10, 1);
  const auto parts = partition(labels, 10, 10, Partition::iid, 0, 5);
  EXPECT_EQ(parts, partition(labels, 10, 10, Partition::iid, 0, 5));
  EXPECT_NE(parts, partition(labels, 10, 10, Partition::iid, 0, 6));
  EXPECT_LE(spread(parts), 1u);
  for (const auto& part : parts) {
    const auto zeros =
        std::count_if(part.begin(), part.end(), [&](auto s) { return labels[s] == 0; });
    EXPECT_NEAR(static_cast<double>(zeros), 100, 50);
  }
}

// The mean share of the most frequent class of an agent: 0.1 for even shares, up to 1.
double unevenness(const std::vector<double>& labels, const Parts& parts) {
  double sum = 0;
  for (const auto& part : parts) {
    std::vector<double> count(10);
    for (const std::uint32_t s : part) ++count[static_cast<std::size_t>(labels[s])];
    sum += *std::max_element(count.begin(), count.end()) / static_cast<double>(part.size());
  }
  return sum / static_cast<double>(parts.size());
}

TEST(Partition, DirichletIsMoreUnevenForSmallerAlpha) {
  const auto labels = some_labels(20000, 10, 1);
  const double low = unevenness(labels, partition(labels, 10, 10, Partition::dirichlet, 0.1, 1));
  const double middle = unevenness(labels, partition(labels, 10, 10, Partition::dirichlet, 1, 1));
  const double high = unevenness(labels, partition(labels, 10, 10, Partition::dirichlet, 1000, 1));
  EXPECT_GT(low, middle + 0.1);
  EXPECT_GT(middle, high + 0.1);
  EXPECT_NEAR(high, 0.1, 0.03);
}

TEST(Partition, DirichletSharesHaveTheMomentsOfTheDistribution) {
  // One class over n agents: each share has mean 1/n and variance (n-1) / (n^2 (n alpha + 1)).
  const std::vector<double> labels(20000, 0.0);
  for (const double alpha : {0.5, 4.0}) {
    double sum = 0;
    double squares = 0;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed)
      for (const auto& part : partition(labels, 1, 4, Partition::dirichlet, alpha, seed)) {
        const double share = static_cast<double>(part.size()) / 20000;
        sum += share;
        squares += share * share;
        ++count;
      }
    const double mean = sum / count;
    const double expected = 3.0 / (16 * (4 * alpha + 1));
    EXPECT_NEAR(mean, 0.25, 1e-12);
    EXPECT_NEAR(squares / count - mean * mean, expected, 0.15 * expected) << alpha;
  }
}

TEST(Partition, DirichletWithTinyAlphaSucceedsOrNamesTheKeyToRaise) {
  const auto labels = some_labels(5000, 10, 1);
  expect_partition(partition(labels, 10, 2, Partition::dirichlet, 1e-4, 1), 5000, 2);
  expect_refused<ConfigError>([&] { partition(labels, 10, 100, Partition::dirichlet, 1e-4, 1); },
                              {"problem.partition_alpha = 0.0001", "raise"});
  for (const double alpha : {0.0, -1.0, std::nan(""), HUGE_VAL})
    expect_refused<ConfigError>([&] { partition(labels, 10, 2, Partition::dirichlet, alpha, 1); },
                                {"problem.partition_alpha"});
}

TEST(Partition, LabelAndDirichletRejectDataWithoutClasses) {
  const std::vector<double> targets{0.5, 1.5, 2.5};
  for (const auto kind : {Partition::label, Partition::dirichlet}) {
    expect_refused<ConfigError>([&] { partition(targets, 0, 2, kind, 1, 1); },
                                {"problem.partition", "sorted, iid"});
    expect_refused<ConfigError>([&] { partition(targets, 3, 2, kind, 1, 1); }, {"label 0.5"});
  }
  expect_refused<ConfigError>([&] { partition(targets, 0, 4, Partition::iid, 1, 1); },
                              {"graph.agents = 4", "3 samples"});
  expect_refused<ConfigError>([&] { partition(targets, 0, 0, Partition::iid, 1, 1); },
                              {"graph.agents"});
}

TEST(Partition, ParsesItsNamesAndSuggestsTheNearest) {
  EXPECT_EQ(parse_partition("label"), Partition::label);
  EXPECT_EQ(parse_partition("sorted"), Partition::sorted);
  EXPECT_EQ(parse_partition("iid"), Partition::iid);
  EXPECT_EQ(parse_partition("dirichlet"), Partition::dirichlet);
  expect_refused<ConfigError>([] { parse_partition("dirichelt"); },
                              {"problem.partition = \"dirichelt\"", "did you mean \"dirichlet\""});
}

}  // namespace
}  // namespace ticopd
