// Processes that share a run: each prepares only the shards of its own agents; together they have
// all.
#include <gtest/gtest.h>
#include <unistd.h>

#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/network/placement.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using Set = std::vector<std::string>;

class RankShards : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "ticopd_shards_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  Config config(const Set& set) const {
    return Config::parse(R"(
iterations = 20
[problem]
objective = "softmax"
data = "synthetic"
samples = 210
features = 12
[graph]
agents = 7
[algorithm]
name = "choco_sgd"
eta = 0.1
gamma = 0.4
)",
                         base_, set);
  }

  template <class T>
  static Prepared<T> prepared(const Config& config, int rank, int ranks) {
    PrepareOptions options;
    options.threads = 1;
    options.rank = rank;
    options.ranks = ranks;
    return prepare<T>(config, options);
  }

  static std::size_t bytes(const std::vector<LayoutBytes>& held) {
    std::size_t sum = 0;
    for (const LayoutBytes& part : held) sum += part.bytes;
    return sum;
  }

  // Compares the gradient of each agent at its own point, computed by its host, with one process.
  template <class T>
  void expect_the_bits_of_one_process(const Set& set) const {
    const Config c = config(set);
    const Prepared<T> whole = prepared<T>(c, 0, 1);
    const Objective<T>& f = *whole.setup.objective;
    std::vector<T> x(f.dimension()), want(x.size()), got(x.size());
    std::vector<std::size_t> sizes;
    for (int i = 0; i < f.agents(); ++i) sizes.push_back(f.samples(i));
    for (const int ranks : {2, 3, 7})
      for (int rank = 0; rank < ranks; ++rank) {
        const Prepared<T> mine = prepared<T>(c, rank, ranks);
        const Objective<T>& part = *mine.setup.objective;
        const Placement plan(whole.setup.graph, ranks, rank, sizes);
        EXPECT_EQ(mine.data, whole.data);
        ASSERT_EQ(part.agents(), f.agents());
        ASSERT_EQ(part.dimension(), f.dimension());
        for (int agent = 0; agent < f.agents(); ++agent) {
          EXPECT_EQ(part.samples(agent), f.samples(agent));
          f.start(static_cast<std::uint64_t>(agent), x);
          if (plan.owner(agent) != rank) {
            EXPECT_THROW(part.gradient(agent, x, got), std::logic_error) << agent;
            continue;
          }
          f.gradient(agent, x, want);
          part.gradient(agent, x, got);
          EXPECT_EQ(got, want) << set.front() << ": agent " << agent << " on rank " << rank;
        }
      }
  }

  fs::path base_;
};

TEST_F(RankShards, ShardsHaveTheBitsOfOneProcessForEveryPartition) {
  for (const char* kind : {"label", "sorted", "iid", "dirichlet"}) {
    const Set set{std::string("problem.partition=") + kind, "problem.weighting=sample"};
    expect_the_bits_of_one_process<float>(set);
    expect_the_bits_of_one_process<double>(set);
  }
  expect_the_bits_of_one_process<float>(
      {"problem.partition=sorted", "problem.normalize=true", "problem.max_samples=150"});
  expect_the_bits_of_one_process<float>(  // u8
      {"problem.data=digits", "problem.partition=label", "problem.samples=20"});
}

TEST_F(RankShards, ShardsHaveTheBitsOfOneProcessForARegression) {
  expect_the_bits_of_one_process<double>(
      {"problem.objective=least_squares", "problem.partition=sorted", "problem.init=torch"});
}

TEST_F(RankShards, ShardsHaveTheBitsOfOneProcessForStackedData) {
  std::vector<double> a(7 * 4 * 3), b(7 * 4);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<double>(k * k % 17) - 8;
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = static_cast<double>(k % 5);
  write_npy<double>(base_ / "A.npy", std::vector<std::size_t>{7, 4, 3}, a);
  write_npy<double>(base_ / "b.npy", std::vector<std::size_t>{7, 4}, b);
  const Set set{"problem.data=npy:.", "problem.objective=least_squares", "problem.init=torch"};
  expect_the_bits_of_one_process<float>(set);
  expect_the_bits_of_one_process<double>(set);
  Set fewer = set;
  fewer.push_back("graph.agents=6");
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_THROW(prepared<float>(config(fewer), rank, 2), ConfigError);
}

TEST_F(RankShards, EachShardIsHeldOnceAndTheTestSetByEveryRank) {
  const Set set{"problem.samples=700", "problem.features=40", "problem.partition=iid"};
  const std::size_t all = bytes(prepared<float>(config(set), 0, 1).setup.objective->layouts());
  std::size_t sum = 0;
  for (int rank = 0; rank < 7; ++rank) {
    const std::size_t mine =
        bytes(prepared<float>(config(set), rank, 7).setup.objective->layouts());
    EXPECT_LT(mine, all / 2) << "a seventh of the samples, and the test set of 140";
    sum += mine;
  }
  const std::size_t test_set = 140 * (40 + 1) * sizeof(float);
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(all + 6 * test_set),
              0.02 * static_cast<double>(all));
}

TEST_F(RankShards, MoreProcessesThanAgentsAreRejected) {
  try {
    prepared<float>(config({"problem.partition=iid"}), 0, 8);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("1 to 7"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ticopd
