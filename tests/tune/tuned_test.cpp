// tuned.toml: the result of a search as a config that can be run from any folder.
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/experiment/prepare.hpp"
#include "tune/small_search.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TunedFile : public SmallSearch {
 protected:
  RunSet run_set(const std::string& text, const Set& set = {}) const {
    write("run_set.toml", text);
    const fs::path file = base_ / "run_set.toml";
    return read_run_set(std::span(&file, 1), set);
  }

  static Tuned found(TriedValues values, std::uint32_t rounds = 64) {
    Tuned t;
    t.values = std::move(values);
    t.metric = "loss_max";
    t.value = 0.25;
    t.rounds = rounds;
    t.cost = 38.5;
    t.trials = 60;
    return t;
  }

  // Writes it like `tune`, into another folder than the original config.
  RunSet written(const RunSet& before, const std::vector<Tuned>& tuned) const {
    const std::string text = tuned_toml(before, tuned);
    EXPECT_NO_THROW(toml_to_json(text, "tuned.toml")) << text;
    write("out/tuned.toml", text);
    const fs::path file = base_ / "out/tuned.toml";
    return read_run_set(std::span(&file, 1), {});
  }

  static json without_name(const Config& c) {
    json tree = c.tree();
    tree.erase("name");
    return tree;
  }
};

const std::string choco = "[algorithm]\nname = \"choco_sgd\"\neta = 7\n";

TEST_F(TunedFile, SingleRunDiffersOnlyInStepSizes) {
  const RunSet before = run_set(std::string(problem) + choco);
  const RunSet after = written(before, {found({{"eta", 0.1234}, {"gamma", 1.5e-5}}, 99)});
  ASSERT_EQ(after.runs.size(), 1u);
  json expected = without_name(before.runs[0].config);
  expected["iterations"] = 99;
  expected["algorithm"]["eta"] = 0.1234;
  expected["algorithm"]["gamma"] = 1.5e-5;
  EXPECT_EQ(without_name(after.runs[0].config), expected);
  EXPECT_NO_THROW(check(after.runs[0].config));
}

TEST_F(TunedFile, CommentStatesTheResult) {
  const RunSet before = run_set("name = \"mine\"\n" + std::string(problem) + choco);
  const std::string text = tuned_toml(before, std::vector{found({{"eta", 0.1}, {"gamma", 0.2}})});
  expect_parts(text, {"# mine: loss_max = 0.25 after 64 rounds; 60 trials", "38.5 full runs"});
}

TEST_F(TunedFile, NamesTheDefaultAlgorithm) {
  const RunSet after = written(run_set(std::string(problem)),
                               {found({{"alpha", 0.1}, {"theta", 0.2}, {"eta", 0.3}})});
  EXPECT_EQ(after.runs[0].config.get<std::string>("algorithm.name"), "ticopd");
  EXPECT_NO_THROW(check(after.runs[0].config));
}

TEST_F(TunedFile, HoldsTheFixedParameters) {
  const std::string search = "[tune.search]\neta = [0.01, 1]\ngamma = 0.4\n";
  const RunSet after =
      written(run_set(std::string(problem) + choco + search), {found({{"eta", 0.1}})});
  EXPECT_EQ(after.runs[0].config.get<double>("algorithm.gamma"), 0.4);
  EXPECT_EQ(after.runs[0].config.get<double>("algorithm.eta"), 0.1);
  EXPECT_NO_THROW(check(after.runs[0].config));
  const RunSet overruled = written(run_set(std::string(problem) + choco + "gamma = 0.9\n" + search),
                                   {found({{"eta", 0.1}})});
  EXPECT_EQ(overruled.runs[0].config.get<double>("algorithm.gamma"), 0.4);
}

TEST_F(TunedFile, FindsTheFilesOfTheOriginalConfig) {
  write("data/train.csv", "1,2,0\n2,1,1\n3,1,0\n0,1,1\n");
  write("data/test.csv", "1,2,0\n2,1,1\n");
  write("graph.txt", "0 1\n");
  const std::string text =
      "iterations = 5\n[problem]\nobjective = \"softmax\"\ndata = \"csv:data/train.csv\"\n"
      "test = \"data/test.csv\"\npartition = \"iid\"\n[graph]\nkind = \"file\"\nagents = 2\n"
      "path = \"graph.txt\"\n";
  const auto runs = [](const Config& c) {
    const Prepared<float> p = prepare<float>(c, {.threads = 1});
    return std::isfinite(solve(p.algorithm, p.setup).last.loss_max.value());
  };
  const RunSet one = written(run_set(text + choco), {found({{"eta", 0.1}, {"gamma", 0.2}})});
  EXPECT_TRUE(runs(one.runs[0].config));
  const RunSet two =
      written(run_set(text + choco + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\n"),
              {found({{"eta", 0.1}, {"gamma", 0.2}}), found({{"eta", 0.2}, {"gamma", 0.2}})});
  for (const RunSet::Run& run : two.runs) EXPECT_TRUE(runs(run.config));
  EXPECT_FALSE(two.shared["problem"]["data"].get<std::string>().starts_with("csv:data"));
}

TEST_F(TunedFile, ComparisonStaysAComparison) {
  const RunSet before = run_set("name = \"both\"\n" + std::string(problem) + choco + R"([report]
title = "Two methods"
[[run]]
label = "CHOCO, 4 bit"
codec = {bits = 4}
[[run]]
label = "BEER"
algorithm = {name = "beer"}
[[run]]
label = "CHOCO, longer"
iterations = 128
)");
  const std::vector<Tuned> tuned{found({{"eta", 0.1}, {"gamma", 0.2}}, 90),
                                 found({{"eta", 0.03}, {"gamma", 0.4}}, 45),
                                 found({{"eta", 7.0}, {"gamma", 0.6}}, 64)};
  const RunSet after = written(before, tuned);
  ASSERT_EQ(after.runs.size(), 3u);
  EXPECT_EQ(after.name, "both");
  EXPECT_EQ(after.shared["report"], before.shared["report"]);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after.runs[i].label, before.runs[i].label);
    json expected = before.runs[i].config.tree();
    expected["iterations"] = tuned[i].rounds;
    for (const auto& [name, value] : tuned[i].values) expected["algorithm"][name] = value;
    EXPECT_EQ(after.runs[i].config.tree(), expected) << after.runs[i].label;
    EXPECT_NO_THROW(check(after.runs[i].config));
  }
  // Keys that all runs share are written once.
  EXPECT_FALSE(toml_to_json(tuned_toml(before, tuned), "")["run"][0].contains("problem"));
}

TEST_F(TunedFile, KeepsOverrides) {
  const RunSet before =
      run_set(std::string(problem) + choco + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\n",
              {"problem.samples=120", "codec.bits=4"});
  const RunSet after = written(
      before, {found({{"eta", 0.1}, {"gamma", 0.2}}), found({{"eta", 0.2}, {"gamma", 0.2}})});
  for (const RunSet::Run& run : after.runs) {
    EXPECT_EQ(run.config.get<int>("problem.samples"), 120);
    EXPECT_EQ(run.config.get<int>("codec.bits"), 4);
  }
}

}  // namespace
}  // namespace ticopd
