// problem.data with {agent} on the command line: the same digest however the run is shared, and one
// clear line, before the first run, for sources that do not fit.
#include "cli/wrong.hpp"

namespace ticopd {
namespace {

constexpr int agents = 4;  // of small.toml

std::string shard(int agent, int features = 3) {
  std::string text;
  for (int s = 0; s < 6 + agent; ++s) {
    text += std::to_string((s * s + agent) % 3);
    for (int k = 0; k < features; ++k)
      text += "," + std::to_string((s * 37 + agent * 5 + k * 11) % 23 - 9) + ".5";
    text += "\n";
  }
  return text;
}

const std::vector<GivenFile> good{
    {"d/0.csv", shard(0)}, {"d/1.csv", shard(1)}, {"d/2.csv", shard(2)}, {"d/3.csv", shard(3)}};

// The keys of small.toml about data that is made.
const std::string of_shards = R"(iterations = 30
[problem]
objective = "softmax"
data = "csv:d/{agent}.csv"
[graph]
agents = 4
[codec]
kind = "qsgd"
[algorithm]
alpha = 0.3
theta = 0.3
eta = 0.003
)";

class AgentSources : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    write("small.toml", of_shards);
    for (const GivenFile& f : good) write(f.name, f.bytes);
  }
};

TEST_F(AgentSources, HaveOneDigestHoweverTheRunIsShared) {
  const auto digest = run("one")["digest"];
  EXPECT_EQ(run("threads", {"--threads", "3"})["digest"], digest);
  EXPECT_EQ(
      run("ranks", {"--set", "network.transport=threads", "--set", "network.ranks=3"})["digest"],
      digest);
  EXPECT_EQ(ticopd({"verify", "one"}).code, 0);
  const Outcome compared =
      ticopd({"compare", "small.toml", "--set", "seeds=2", "--out", "both", "--quiet"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(ticopd({"theory", "small.toml"}).code, 0);
}

TEST_F(AgentSources, ChangedShardIsNotResumed) {
  run("out", {"--set", "iterations=10"});
  write("d/2.csv", shard(7));
  const Outcome o = ticopd(
      {"run", "small.toml", "--out", "out", "--resume", "--set", "iterations=20", "--quiet"});
  EXPECT_EQ(o.code, 78);
  EXPECT_NE(o.err.find("agent 2"), std::string::npos) << o.err;
}

// With processes each reads the shards of its own agents alone: the others need not be there.
class AgentSourcesOverMpi : public AgentSources {
 protected:
  void SetUp() override {
    AgentSources::SetUp();
    const Outcome o = ticopd(
        {"launch", "-n", "2", "--", "run", "small.toml", "--out", "two", "--quiet", "--json"});
    if (o.code == 69) GTEST_SKIP() << "no MPI: " << o.err;
    ASSERT_EQ(o.code, 0) << o.err;
    digest_ = nlohmann::json::parse(o.out, nullptr, false)["digest"];
  }
  std::string digest_;
};

TEST_F(AgentSourcesOverMpi, HaveTheDigestOfOneProcess) {
  EXPECT_EQ(run("one")["digest"], digest_);
  EXPECT_EQ(summary("two")["inputs"], summary("one")["inputs"]);
  EXPECT_EQ(ticopd({"audit", "two"}).code, 0);
}

TEST_F(AgentSourcesOverMpi, CanBeMadeLongerByOtherRanks) {
  const Outcome o = ticopd({"launch", "-n", "3", "--", "run", "small.toml", "--out", "two",
                            "--resume", "--set", "iterations=50", "--quiet", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out, nullptr, false)["digest"],
            run("one", {"--set", "iterations=50"})["digest"]);
  EXPECT_EQ(metrics("two"), metrics("one"));
}

TEST_F(AgentSourcesOverMpi, NameTheAgentWhoseFileIsMissing) {
  std::filesystem::remove(folder_ / "d/3.csv");
  const Outcome o =
      ticopd({"launch", "-n", "2", "--", "run", "small.toml", "--out", "no", "--quiet"});
  EXPECT_EQ(o.code, 65);
  EXPECT_EQ(lines_of(o.err).size(), 1u) << o.err;
  EXPECT_NE(o.err.find("agent 3: ./d/3.csv"), std::string::npos) << o.err;
}

// d/ with one file replaced; "" removes it.
Wrong with(std::string name, int agent, const std::string& bytes, std::vector<std::string> says,
           const Arguments& assignments = {}, int code = 65) {
  Wrong w = set(std::move(name), assignments, std::move(says), code);
  w.files = good;
  w.files.push_back({"small.toml", of_shards});
  GivenFile& file = w.files[static_cast<std::size_t>(agent)];
  if (bytes.empty())
    file = {"d/other", "x"};
  else
    file.bytes = bytes;
  return w;
}
Wrong keys(std::string name, const Arguments& assignments, std::vector<std::string> says,
           int code = 78) {
  return with(std::move(name), 0, shard(0), std::move(says), assignments, code);
}

class BadAgentSources : public Refused {};
TEST_P(BadAgentSources, AreRejectedInOneLine) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Run, BadAgentSources,
    ::testing::Values(
        with("missing", 3, "", {"agent 3: ./d/3.csv", "cannot be read"}),
        with("empty", 2, "\n", {"agent 2: ./d/2.csv", "holds no samples"}),
        with("header_alone", 2, "label,a,b,c\n", {"agent 2: ./d/2.csv", "holds no samples"}),
        with("more_features", 1, shard(1, 4), {"agent 1: ./d/1.csv", "4 features", "d/0.csv", "3"}),
        with("fewer_features", 0, shard(0, 2),
             {"agent 1: ./d/1.csv", "3 features", "d/0.csv", "2"}),
        with("word", 3, "0,1,x,3\n", {"agent 3: ./d/3.csv:1", "column 3", "`x`"}),
        with("ragged", 3, "0,1,2,3\n1,2\n", {"agent 3: ./d/3.csv:2", "2 columns"}),
        with("fraction", 3, "0.5,1,2,3\n", {"agent 3: ./d/3.csv", "label 0.5", "whole numbers"}),
        with("infinite", 3, "0,1,inf,3\n", {"agent 3: ./d/3.csv:1", "finite"}),
        keys("more_agents", {"graph.agents=5"}, {"agent 4: ./d/4.csv", "cannot be read"}, 65),
        keys("misspelt", {"problem.data=csv:d/{agnt}.csv"}, {"{agnt}", "did you mean \"{agent}\""}),
        keys("other_format", {"problem.data=cvs:d/{agent}.csv"}, {"did you mean \"csv\""}),
        keys("no_place", {"problem.data=mnist:{agent}"}, {"nothing may follow mnist"}),
        keys("partition", {"problem.partition=iid"}, {"problem.partition", "nothing is divided"}),
        keys("partition_alpha", {"problem.partition_alpha=1"}, {"nothing is divided"}),
        keys("max_samples", {"problem.max_samples=5"},
             {"problem.max_samples", "nothing is divided"}),
        keys("samples", {"problem.samples=5"}, {"problem.samples", "does not use it"}),
        keys("stated_features", {"problem.features=4"},
             {"agent 0: ./d/0.csv", "3 features", "problem.features = 4"}, 65),
        keys("stated_samples", {"problem.shard_samples=[6, 7, 8, 8]"},
             {"agent 3: ./d/3.csv", "9 samples", "8"}, 65),
        keys("stated_agents", {"problem.shard_samples=[6, 7, 8]"},
             {"problem.shard_samples", "3 numbers", "4 agents"}),
        keys("stated_nothing", {"problem.shard_samples=[6, 7, 8, 0]"}, {"problem.shard_samples"}),
        keys("stated_labels", {"problem.labels=[0, 1]"},
             {"agent 1: ./d/1.csv", "label 2", "problem.labels = [0, 1]"}, 65),
        keys("label_twice", {"problem.labels=[0, 1, 2, 1]"}, {"problem.labels", "1 twice"}),
        keys("label_word", {"problem.labels=[\"a\"]"}, {"problem.labels"}),
        keys("means_word", {"problem.normalize=true", "problem.means=[1, \"a\", 2]"},
             {"problem.means[1] = \"a\"", "a finite number"}),
        keys("means_nan", {"problem.normalize=true", "problem.means=[1, 2, nan]"},
             {"problem.means[2] = nan", "a finite number"}),
        keys("means_none", {"problem.normalize=true", "problem.means=[]"}, {"problem.means = []"}),
        keys("means_alone", {"problem.normalize=true", "problem.means=[1, 2, 3]"},
             {"problem.means has 3 numbers", "problem.deviations 0"}),
        keys("means_length",
             {"problem.normalize=true", "problem.means=[1, 2]", "problem.deviations=[1, 1]"},
             {"problem.means has 2 numbers", "3 features"}),
        keys("means_unused", {"problem.means=[1, 2, 3]", "problem.deviations=[1, 1, 1]"},
             {"problem.means", "problem.normalize = true"}),
        keys("deviation_zero", {"problem.normalize=true", "problem.deviations=[1, 0, 2]"},
             {"problem.deviations[1] = 0", "a number above 0"}),
        keys("means_of_one_file",
             {"problem.data=csv:d/0.csv", "problem.normalize=true", "problem.means=[1, 2, 3]"},
             {"problem.means", "{agent}"}),
        keys("labels_of_targets", {"problem.objective=least_squares", "problem.labels=[0, 1]"},
             {"problem.labels", "targets"}),
        keys("two_classes", {"problem.objective=logistic"}, {"2 classes", "softmax"}),
        keys("test_of_agent", {"problem.test=d/{agent}.csv"}, {"problem.test", "one source"}),
        keys("test_missing", {"problem.test=none.csv"}, {"none.csv", "cannot be read"}, 65),
        keys("test_features", {"problem.test=small.toml"}, {"small.toml"}, 65),
        keys("labels_of_one_file", {"problem.data=csv:d/0.csv", "problem.labels=[0, 1, 2]"},
             {"problem.labels", "{agent}"})),
    name_of);

}  // namespace
}  // namespace ticopd
