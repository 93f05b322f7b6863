// Seeds and sweeps: which runs a file makes, and what is refused before any of them is.
#include "ticopd/experiment/sweep.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ticopd/error.hpp"
#include "ticopd/experiment/run_set.hpp"

namespace ticopd {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

const std::string qsgd_run = R"(
[problem]
objective = "softmax"
data = "synthetic"
[codec]
kind = "qsgd"
[algorithm]
name = "choco_sgd"
eta = 0.1
gamma = 0.4
)";

RunSet made(const std::string& first, const std::string& last = "", const Words& set = {},
            Seeds seeds = Seeds::apart) {
  return run_set_of(toml_to_json(first + qsgd_run + last, "test"), ".", set, seeds);
}

Words labels(const RunSet& set) {
  Words all;
  for (const RunSet::Run& run : set.runs) all.push_back(run.label);
  return all;
}

std::string refusal(const std::string& first, const std::string& last = "", const Words& set = {}) {
  try {
    made(first, last, set);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "nothing was refused";
}

void expect_refusal(const std::string& text, const std::string& first, const std::string& last = "",
                    const Words& set = {}) {
  EXPECT_NE(refusal(first, last, set).find(text), std::string::npos) << refusal(first, last, set);
}

TEST(Seeds, ACountBeginsAtTheSeed) {
  const RunSet set = made("seed = 7\nseeds = 3\nname = \"mine\"\n");
  EXPECT_EQ(labels(set), (Words{"mine, seed 7", "mine, seed 8", "mine, seed 9"}));
  EXPECT_EQ(set.seeds, (std::vector<std::uint64_t>{7, 8, 9}));
  for (const RunSet::Run& run : set.runs) {
    EXPECT_EQ(run.group, "mine");
    EXPECT_EQ(run.seeds, set.seeds);
    EXPECT_EQ(run.config.get<std::uint64_t>("seed"), run.seed);
    EXPECT_FALSE(run.given.contains("seeds"));
  }
  EXPECT_EQ(set.runs[2].seed, 9u);
  EXPECT_EQ(set.runs[2].folder, "mine-seed-9");
}

TEST(Seeds, AListIsTakenAsItIs) {
  EXPECT_EQ(labels(made("seeds = [5, 2]\n")), (Words{"run, seed 5", "run, seed 2"}));
}

TEST(Seeds, OneSeedNeedsNoLabelOfItsOwn) {
  const RunSet set = made("seeds = [5]\n");
  EXPECT_EQ(labels(set), Words{"run"});
  EXPECT_EQ(set.runs[0].config.get<std::uint64_t>("seed"), 5u);
}

TEST(Seeds, TogetherARunHasThemAll) {
  const RunSet set =
      made("seeds = 4\nsweep = { \"codec.bits\" = [2, 4] }\n", "", {}, Seeds::together);
  EXPECT_EQ(labels(set), (Words{"run, codec.bits = 2", "run, codec.bits = 4"}));
  EXPECT_EQ(set.runs[1].seeds, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(set.runs[1].seed, 1u);
  EXPECT_EQ(set.seeds, set.runs[1].seeds);
}

TEST(Seeds, WithoutThemNothingChanges) {
  const RunSet set = made("seed = 3\n");
  EXPECT_EQ(labels(set), Words{"run"});
  EXPECT_EQ(set.runs[0].group, "run");
  EXPECT_EQ(set.runs[0].seed, 3u);
  EXPECT_EQ(set.runs[0].swept, json::object());
  EXPECT_TRUE(set.sweep.empty());
  EXPECT_TRUE(set.seeds.empty());
}

TEST(Sweep, IsTheProductWithTheRunsAndTheSeeds) {
  const RunSet set = made("seeds = 2\n", R"(
[sweep]
"codec.bits" = [2, 4]
"algorithm.gamma" = [0.1, 0.2, 0.3]
[[run]]
label = "a"
[[run]]
label = "b"
codec.scaled = false
)");
  ASSERT_EQ(set.runs.size(), 2u * 2 * 3 * 2);
  EXPECT_EQ(set.runs[0].label, "a, algorithm.gamma = 0.1, codec.bits = 2, seed 1");
  EXPECT_EQ(set.runs[0].folder, "a-algorithm.gamma-0.1-codec.bits-2-seed-1");
  EXPECT_EQ(set.runs.back().label, "b, algorithm.gamma = 0.3, codec.bits = 4, seed 2");
  EXPECT_EQ(set.runs.back().swept, (json{{"algorithm.gamma", 0.3}, {"codec.bits", 4}}));
  EXPECT_EQ(set.runs.back().config.get<int>("codec.bits"), 4);
  EXPECT_FALSE(set.runs.back().config.get<bool>("codec.scaled"));
  EXPECT_EQ(set.sweep, (Words{"algorithm.gamma", "codec.bits"}));
}

TEST(Sweep, ZippedListsGoSideBySide) {
  const RunSet set =
      made("", "[sweep]\nmode = \"zip\"\ncodec.bits = [2, 4]\niterations = [50, 25]\n");
  EXPECT_EQ(labels(set), (Words{"run, codec.bits = 2, iterations = 50",
                                "run, codec.bits = 4, iterations = 25"}));
}

TEST(Sweep, ARunMayHaveItsOwn) {
  const RunSet set = made("seeds = 2\nsweep = { \"codec.bits\" = [2, 4] }\n", R"(
[[run]]
label = "a"
[[run]]
label = "b"
seeds = [9]
sweep = { "algorithm.eta" = [0.2] }
[[run]]
label = "c"
seeds = 1
sweep = {}
)");
  EXPECT_EQ(labels(set), (Words{"a, codec.bits = 2, seed 1", "a, codec.bits = 2, seed 2",
                                "a, codec.bits = 4, seed 1", "a, codec.bits = 4, seed 2",
                                "b, algorithm.eta = 0.2", "c"}));
}

TEST(Sweep, LeavesOutAKeyThatARunDoesNotUse) {
  const RunSet set = made("", R"(
[sweep]
"codec.bits" = [2, 4]
[[run]]
label = "q"
[[run]]
label = "top"
codec = { kind = "top_k", k = 3 }
)");
  EXPECT_EQ(labels(set), (Words{"q, codec.bits = 2", "q, codec.bits = 4", "top"}));
  EXPECT_EQ(set.runs[2].swept, json::object());
}

TEST(Sweep, AKindTakesItsOwnOptions) {
  const RunSet set =
      made("", "[sweep]\n\"codec.kind\" = [\"qsgd\", \"identity\"]\n\"codec.bits\" = [2, 4]\n");
  EXPECT_EQ(labels(set),
            (Words{"run, codec.bits = 2, codec.kind = qsgd", "run, codec.kind = identity",
                   "run, codec.bits = 4, codec.kind = qsgd"}));
}

TEST(Sweep, AnotherKindOfGraphKeepsTheNumberOfAgents) {
  const RunSet set = made("[graph]\nagents = 6\n",
                          "[sweep]\n\"graph.kind\" = [\"ring\", \"complete\", \"star\"]\n");
  ASSERT_EQ(set.runs.size(), 3u);
  for (const RunSet::Run& run : set.runs)
    EXPECT_EQ(run.config.get<int>("graph.agents"), 6) << run.label;
}

TEST(Sweep, ASchedulesAndListsAreValues) {
  const RunSet set = made("",
                          "[sweep]\n\"algorithm.eta\" = [0.1, "
                          "{ schedule = \"inverse_sqrt\", c = 0.1, t0 = 10 }]\n");
  EXPECT_EQ(set.runs[1].config.tree()["algorithm"]["eta"]["t0"], 10);
}

TEST(Sweep, CanBeGivenAndReplacedByAnOverride) {
  EXPECT_EQ(made("", "", {"sweep.codec.bits=[2, 3]"}).runs.size(), 2u);
  EXPECT_EQ(made("", "", {"sweep.\"codec.bits\"=[2, 3]", "seeds=3"}).runs.size(), 6u);
  for (const char* key : {"sweep.codec.bits", "sweep.\"codec.bits\"", "sweep.'codec.bits'"}) {
    const RunSet set =
        made("", "[sweep]\n\"codec.bits\" = [2, 4]\n", {std::string(key) + "=[8]", "seeds=2"});
    EXPECT_EQ(labels(set), (Words{"run, codec.bits = 8, seed 1", "run, codec.bits = 8, seed 2"}))
        << key;
  }
}

TEST(Sweep, BadKeysAndValuesAreRefused) {
  expect_refusal("no such key; did you mean \"codec.bits\"", "", "[sweep]\n\"codec.bitz\" = [1]\n");
  expect_refusal("no run uses this key", "", "[sweep]\n\"graph.p\" = [0.1]\n");
  expect_refusal("no run uses this key", "", "[sweep]\n\"algorithm.theta\" = [0.1]\n");
  expect_refusal("at least one value", "", "[sweep]\n\"codec.bits\" = []\n");
  expect_refusal("allowed is a list of values: [4]", "", "[sweep]\n\"codec.bits\" = 4\n");
  expect_refusal("is given twice", "", "[sweep]\n\"codec.bits\" = [4, 2, 4.0]\n");
  expect_refusal("codec.bits = 99: allowed", "", "[sweep]\n\"codec.bits\" = [4, 99]\n");
  expect_refusal("give seeds = 5", "", "[sweep]\nseed = [1, 2]\n");
  expect_refusal("changes no run", "", "[sweep]\nname = [\"a\", \"b\"]\n");
  expect_refusal("no such key", "", "[sweep]\n\"a/~b\" = [1]\n");
  expect_refusal("did you mean \"zip\"", "", "[sweep]\nmode = \"zap\"\n");
  EXPECT_THROW(run_set_of({{"codec", 3}, {"sweep", {{"codec.bits", {1}}}}}, "."), ConfigError);
}

TEST(Sweep, ARunWithItsOwnSweepMustUseItsKeys) {
  expect_refusal("number 2: sweep.\"codec.bits\": no run uses", "", R"(
[sweep]
"codec.bits" = [2, 4]
[[run]]
label = "q"
[[run]]
label = "top"
codec = { kind = "top_k", k = 3 }
sweep = { "codec.bits" = [1] }
)");
}

TEST(Sweep, ZippedListsOfDifferentLengthAreRefused) {
  expect_refusal("has 2 values", "",
                 "[sweep]\nmode = \"zip\"\ncodec.bits = [1, 2]\niterations = [1, 2, 3]\n");
}

TEST(Sweep, TooManyRunsAreRefusedWithTheirNumber) {
  std::string hundred = "[1";
  for (int i = 2; i <= 100; ++i) hundred += fmt::format(", {}", i);
  hundred += "]";
  expect_refusal("ask for 1000000 runs; allowed are at most 10000", "",
                 fmt::format("[sweep]\niterations = {0}\n\"problem.samples\" = {0}\n"
                             "\"problem.batch\" = {0}\n",
                             hundred));
  expect_refusal("ask for 20000 runs", "seeds = 200\n",
                 fmt::format("[sweep]\niterations = {}\n", hundred));
}

TEST(Sweep, AnOverrideOfASweptKeyIsRefused) {
  expect_refusal("this key is swept", "", "[sweep]\n\"codec.bits\" = [2, 4]\n", {"codec.bits=3"});
  expect_refusal("`seeds` is a list", "seeds = [1, 2]\n", "", {"seed=3"});
}

TEST(Seeds, BadOnesAreRefused) {
  for (const char* seeds :
       {"0", "-1", "1.5", "\"x\"", "[]", "[-1]", "[1, 1]", "[1.5]", "10001", "true"})
    EXPECT_NE(refusal(fmt::format("seeds = {}\n", seeds)).find("seeds"), std::string::npos)
        << seeds;
  expect_refusal("the last seed would be above", "seed = 9223372036854775806\nseeds = 3\n");
}

TEST(Sweep, TwoRunsWithOneLabelAreRefused) {
  expect_refusal("another run has it", "seeds = 2\n",
                 "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"a, seed 2\"\nseeds = [5]\n");
}

TEST(Sweep, OneRunOfAFileWithSeedsIsRefusedAndNamesCompare) {
  for (const char* key : {"seeds = 3\n", "sweep = { iterations = [1] }\n"}) try {
      Config::parse(key + qsgd_run, ".");
      ADD_FAILURE() << key;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find("ticopd compare"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace ticopd
