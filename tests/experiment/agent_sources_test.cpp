// A run over one file per agent is the run over one file that a partition divides the same way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "ticopd/data/partition.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/experiment/run_set.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Set = std::vector<std::string>;

constexpr int agents = 4;
constexpr int samples = 90;

class RunOfAgentSources : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "ticopd_sources_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
    for (int s = 0; s < samples; ++s) {
      labels_.push_back((s * s + s / 7) % 3);
      std::string line = std::to_string(10 * (s * s + s / 7) % 30);
      for (int k = 0; k < 5; ++k) line += "," + std::to_string((s * 37 + k * k * 11) % 23 - 9);
      lines_.push_back(line + "\n");
    }
    write("all.csv", lines_);
    write("test.csv", {lines_.begin(), lines_.begin() + 20});
  }
  void TearDown() override { fs::remove_all(base_); }

  void write(const std::string& name, const std::vector<std::string>& lines) const {
    std::ofstream out(base_ / name);
    for (const std::string& line : lines) out << line;
  }

  void cut(const std::string& kind) const {
    const auto parts = partition(labels_, 3, agents, parse_partition(kind), 0.3, 1);
    for (std::size_t i = 0; i < agents; ++i) {
      std::vector<std::string> some;
      for (const std::uint32_t s : parts[i]) some.push_back(lines_[s]);
      write("shard-" + std::to_string(i) + ".csv", some);
    }
  }

  Config config(const std::string& data, const Set& set = {}) const {
    return Config::parse(
        "iterations = 25\n[problem]\nobjective = \"softmax\"\ntest = \"test.csv\"\n"
        "data = \"" +
            data + R"("
[graph]
agents = 4
[codec]
kind = "qsgd"
[algorithm]
alpha = 0.3
theta = 0.3
eta = 0.01
[log]
every = 5
)",
        base_, set);
  }

  json run(const Config& c) {
    RunOptions options;
    options.prepare.threads = 1;
    options.out = base_ / ("run" + std::to_string(runs_++));
    return run_experiment(c, options);
  }

  void expect_equal(const std::string& kind, Set set) {
    const json apart = run(config("csv:shard-{agent}.csv", set));
    set.push_back("problem.partition=" + kind);
    const json together = run(config("csv:all.csv", set));
    EXPECT_EQ(apart["digest"], together["digest"]) << kind;
    EXPECT_EQ(apart["inputs"], together["inputs"]) << kind;
    EXPECT_EQ(apart["last"], together["last"]) << kind;
  }

  fs::path base_;
  std::vector<double> labels_;
  std::vector<std::string> lines_;
  int runs_ = 0;
};

TEST_F(RunOfAgentSources, HasTheDigestOfOneDividedFile) {
  cut("iid");
  expect_equal("iid", {});
  cut("dirichlet");
  expect_equal("dirichlet", {"problem.weighting=sample"});  // shards of different sizes
  cut("iid");
  expect_equal("iid", {"problem.batch=4", "network.transport=threads", "network.ranks=3"});
}

// Mean and deviation are sums in the order of the samples, so here the file has that of the agents.
TEST_F(RunOfAgentSources, HasTheDigestOfOneDividedFileThatIsNormalized) {
  cut("sorted");
  std::vector<std::string> all;
  for (int agent = 0; agent < agents; ++agent) {
    std::ifstream in(base_ / ("shard-" + std::to_string(agent) + ".csv"));
    for (std::string line; std::getline(in, line);) all.push_back(line + "\n");
  }
  write("all.csv", all);
  expect_equal("sorted", {"problem.normalize=true", "precision=double"});
}

TEST_F(RunOfAgentSources, AgreesWithWhatTheConfigSaysOfTheShards) {
  cut("iid");
  const json plain = run(config("csv:shard-{agent}.csv"));
  const Set stated{"problem.features=5", "problem.labels=[20, 0, 10]",
                   "problem.shard_samples=[22, 23, 22, 23]"};
  EXPECT_EQ(run(config("csv:shard-{agent}.csv", stated))["digest"], plain["digest"]);
  EXPECT_THROW(run(config("csv:shard-{agent}.csv", {"problem.features=6"})), FormatError);
  EXPECT_THROW(run(config("csv:shard-{agent}.csv", {"problem.labels=[0, 10]"})), FormatError);
  EXPECT_THROW(run(config("csv:shard-{agent}.csv", {"problem.shard_samples=[22, 22, 22, 24]"})),
               FormatError);
}

TEST_F(RunOfAgentSources, TakesNoKeysAboutOneSourceAndNoneTakesItsKeys) {
  const auto refused = [&](const std::string& data, const Set& set, const std::string& word) {
    try {
      config(data, set);
      ADD_FAILURE() << word;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  const std::string apart = "csv:shard-{agent}.csv";
  refused(apart, {"problem.partition=iid"}, "nothing is divided");
  refused(apart, {"problem.partition_alpha=1"}, "nothing is divided");
  refused(apart, {"problem.max_samples=10"}, "nothing is divided");
  refused(apart, {"problem.samples=10"}, "problem.samples");
  refused(apart, {"problem.classes=3"}, "problem.classes");
  refused("csv:all.csv", {"problem.features=5"}, "{agent}");
  refused("csv:all.csv", {"problem.labels=[0, 1]"}, "{agent}");
  refused("csv:all.csv", {"problem.shard_samples=[1, 2, 3, 4]"}, "{agent}");
  refused("csv:all.csv", {"problem.means=[1, 2, 3, 4, 5]"}, "{agent}");
}

TEST_F(RunOfAgentSources, ComesWithoutDefaultsOfOneSource) {
  const json problem = config("csv:shard-{agent}.csv").tree()["problem"];
  for (const char* key : {"partition", "partition_alpha", "max_samples", "features", "labels",
                          "shard_samples", "means", "deviations", "samples", "classes"})
    EXPECT_FALSE(problem.contains(key)) << key;
  // A run of a set that takes another source leaves the keys of the old one behind.
  const Config changed = Config::parse(
      "[problem]\ndata = \"csv:all.csv\"\npartition = \"iid\"\n[algorithm]\nalpha = 0.1\ntheta = "
      "1\neta = 0.1\n",
      base_, Set{"problem.data=csv:shard-{agent}.csv"});
  EXPECT_FALSE(changed.tree()["problem"].contains("partition"));
}

}  // namespace
}  // namespace ticopd
