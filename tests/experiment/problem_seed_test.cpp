// problem.seed keeps the problem while `seed` changes the noise.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/run/inputs.hpp"

namespace ticopd {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Prepared<double> problem(Words set) {
  const Config config = Config::parse(R"(
iterations = 5
[problem]
objective = "mlp"
hidden = [4]
data = "synthetic"
samples = 60
features = 5
classes = 3
partition = "iid"
batch = 3
[graph]
kind = "erdos_renyi"
agents = 6
p = 0.5
[codec]
kind = "qsgd"
bits = 2
[algorithm]
name = "choco_sgd"
eta = 0.1
gamma = 0.4
[log]
samples = 20
agents = 2
)",
                                      ".", set);
  PrepareOptions options;
  options.threads = 1;
  return prepare<double>(config, options);
}

json inputs(const Words& set) {
  Alone alone;
  return inputs_of(problem(set).setup, alone);
}

Solution<double> solved(const Words& set) {
  const Prepared<double> p = problem(set);
  return solve(p.algorithm, p.setup);
}

TEST(ProblemSeed, KeepsGraphDataSplitAndStart) {
  const json first = inputs({"seed=1", "problem.seed=7"});
  EXPECT_EQ(first, inputs({"seed=2", "problem.seed=7"}));
  EXPECT_EQ(first, inputs({"seed=7"}));
  const json other = inputs({"seed=1"});
  for (const char* part : {"graph", "start", "agents", "test"}) EXPECT_NE(first[part], other[part]);
}

TEST(ProblemSeed, KeepsTheSamplesAndAgentsThatAreMeasured) {
  const auto at_start = [](const Words& set) {
    Prepared<double> p = problem(set);
    ticopd::Run<double> run(p.algorithm, p.setup);
    return run.measure(MetricLevel::full);
  };
  const Metrics a = at_start({"seed=1", "problem.seed=7"}),
                b = at_start({"seed=2", "problem.seed=7"});
  EXPECT_EQ(a.loss_max, b.loss_max);
  EXPECT_NE(a.loss_max, at_start({"seed=2"}).loss_max);
}

TEST(ProblemSeed, LeavesBatchesAndRoundingToTheSeed) {
  EXPECT_NE(solved({"seed=1", "problem.seed=7"}).digest,
            solved({"seed=2", "problem.seed=7"}).digest);
  // One of the two alone, each against the other's noise.
  EXPECT_NE(solved({"seed=1", "problem.seed=7", "codec={kind=\"identity\"}"}).digest,
            solved({"seed=2", "problem.seed=7", "codec={kind=\"identity\"}"}).digest);
  EXPECT_NE(solved({"seed=1", "problem.seed=7", "problem.batch=\"full\""}).digest,
            solved({"seed=2", "problem.seed=7", "problem.batch=\"full\""}).digest);
}

TEST(ProblemSeed, LeavesDroppedLinksToTheSeed) {
  const Words calm{"problem.seed=7", "problem.batch=\"full\"", "codec={kind=\"identity\"}"};
  const auto with = [&](const char* seed, bool drop) {
    Words set = calm;
    set.emplace_back(seed);
    if (drop) set.emplace_back("graph.drop=0.5");
    return solved(set).digest;
  };
  EXPECT_EQ(with("seed=1", false), with("seed=2", false));  // nothing else is drawn
  EXPECT_NE(with("seed=1", true), with("seed=2", true));
}

TEST(ProblemSeed, IsTheSeedWhereItIsNotGiven) {
  EXPECT_EQ(solved({"seed=3"}).digest, solved({"seed=3", "problem.seed=3"}).digest);
  const Config config = Config::parse("[algorithm]\nname = \"dgd\"\neta = 0.1\n", ".");
  EXPECT_FALSE(config.tree()["problem"].contains("seed"));  // nor in the identity of old folders
}

}  // namespace
}  // namespace ticopd
