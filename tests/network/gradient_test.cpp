// The network's gradient verb: blocks, threads and mini-batches.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "network/ranks.hpp"

namespace ticopd::dense {
namespace {

constexpr int n = 4;
constexpr std::size_t m = 20;

// Records what it is asked for. Block b of agent i has the gradient (100 i + b, ...).
class Noting final : public Objective<double> {
 public:
  int agents() const override { return n; }
  std::size_t dimension() const override { return 3; }
  std::size_t samples(int) const override { return m; }
  double value(int, std::span<const double>) const override { return 0; }
  void gradient(int, std::span<const double>, std::span<double>) const override {}
  std::size_t blocks(int agent, const Batch& batch) const override {
    return batch.full ? static_cast<std::size_t>(agent) + 1 : 1;
  }
  double evaluate(int agent, std::size_t block, const Batch& batch, std::span<const double> x,
                  std::span<double> g) const override {
    for (std::size_t k = 0; k < g.size(); ++k)
      g[k] = 100 * agent + static_cast<double>(block) + x[k];
    const std::lock_guard lock(mutex);
    batches[agent] = batch.samples;
    return static_cast<double>(block);
  }
  mutable std::mutex mutex;
  mutable std::map<int, std::vector<std::uint32_t>> batches;
};

struct World {
  explicit World(std::size_t batch, std::uint64_t seed = 1, int threads = 2)
      : pool(threads),
        net({.graph = graph,
             .objective = f,
             .codec = *codec,
             .transport = alone,
             .pool = pool,
             .seed = seed,
             .batch = batch}) {}
  std::map<int, std::vector<std::uint32_t>> batches(std::uint32_t round) {
    net.begin_round(round);
    Field<double> x = net.field(), g = net.field();
    net.gradient(x, g);
    return f.batches;
  }
  Graph graph = ring(n);
  Noting f;
  std::unique_ptr<Codec<double>> codec = make_codec<double>({});
  Alone alone;
  Pool pool;
  CpuNetwork<double> net;
};

TEST(Gradient, AddsTheBlocksOfEachAgentAtItsOwnRow) {
  for (const int threads : {1, 3}) {
    World w(0, 1, threads);
    Field<double> x = w.net.field(), g = w.net.field();
    for (std::size_t i = 0; i < n; ++i) x.row(i)[1] = 0.25 * static_cast<double>(i);
    w.net.gradient(x, g);
    for (std::size_t i = 0; i < n; ++i) {
      const auto blocks = static_cast<double>(i + 1);
      const double expected = blocks * 100 * static_cast<double>(i) + blocks * (blocks - 1) / 2;
      EXPECT_EQ(g.row(i)[0], expected);
      EXPECT_EQ(g.row(i)[1], expected + blocks * x.row(i)[1]);
    }
    std::vector<double> values(n);
    w.net.evaluate_at(x.row(3), values, g);
    for (std::size_t i = 0; i < n; ++i) {
      const auto blocks = static_cast<double>(i + 1);
      EXPECT_EQ(values[i], blocks * (blocks - 1) / 2);
      EXPECT_EQ(g.row(i)[1] - g.row(i)[0], blocks * x.row(3)[1]) << "at the common model";
    }
  }
}

// An objective as a user writes it: only the four required functions.
class Counting final : public Objective<double> {
 public:
  int agents() const override { return n; }
  std::size_t dimension() const override { return 3; }
  double value(int agent, std::span<const double>) const override {
    ++values;
    return agent;
  }
  void gradient(int, std::span<const double>, std::span<double> g) const override {
    for (double& v : g) v = 1;
  }
  mutable std::atomic<int> values = 0;
};

TEST(Gradient, DoesNotEvaluateTheValue) {
  const Graph graph = ring(n);
  const Counting f;
  const auto codec = make_codec<double>({});
  Alone alone;
  for (const int threads : {1, 3}) {
    Pool pool(threads);
    CpuNetwork<double> net(
        {.graph = graph, .objective = f, .codec = *codec, .transport = alone, .pool = pool});
    Field<double> x = net.field(), g = net.field();
    f.values = 0;
    net.gradient(x, g);
    net.full_gradient(x, g);
    EXPECT_EQ(f.values, 0);
    EXPECT_EQ(g.row(n - 1)[2], 1);
    std::vector<double> values(n);
    net.evaluate_at(x.row(0), values, g);
    EXPECT_EQ(values, (std::vector<double>{0, 1, 2, 3}));
    EXPECT_EQ(f.values, n);
  }
}

TEST(MiniBatch, HoldsDistinctSamplesOfTheAgent) {
  World w(7);
  for (std::uint32_t round = 0; round < 20; ++round)
    for (const auto& [agent, samples] : w.batches(round)) {
      EXPECT_EQ(samples.size(), 7u);
      EXPECT_EQ(std::set(samples.begin(), samples.end()).size(), 7u);
      for (const std::uint32_t s : samples) EXPECT_LT(s, m);
    }
}

// DoCoM and BEER need the same samples at two points of one round, and fresh ones in the next.
TEST(MiniBatch, DependsOnlyOnSeedAgentAndRound) {
  World w(7), same(7), other(7, 2);
  const auto first = w.batches(5);
  EXPECT_EQ(w.batches(5), first) << "twice in one round";
  EXPECT_EQ(same.batches(5), first) << "whatever came before";
  const auto next = w.batches(6), reseeded = other.batches(5);
  for (int i = 0; i < n; ++i) {
    EXPECT_NE(next.at(i), first.at(i)) << "another round";
    EXPECT_NE(reseeded.at(i), first.at(i)) << "another seed";
    if (i > 0) {
      EXPECT_NE(first.at(i), first.at(0)) << "another agent";
    }
  }
}

TEST(MiniBatch, BatchOfAllSamplesIsTheFullGradient) {
  World w(m);
  for (const auto& [agent, samples] : w.batches(1)) EXPECT_TRUE(samples.empty());
}

}  // namespace
}  // namespace ticopd::dense
