// The config alone: defaults, overrides, and the keys that decide the bits of a run.
#include "ticopd/experiment/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

using nlohmann::json;
using Set = std::vector<std::string>;

Config parse(const std::string& toml, const Set& set = {}) {
  return Config::parse(toml, ".", set);
}

// The defaults of the contract, key by key.
const json defaults = json::parse(R"({
  "seed": 1, "iterations": 1000, "precision": "float",
  "problem": {"objective": "mlp", "hidden": [100], "activation": "sigmoid", "data": "mnist",
              "normalize": false,
              "partition": "label", "partition_alpha": 0.3, "weighting": "agent", "batch": "full",
              "l2": 0.0, "samples": 2000, "features": 64, "classes": 10, "l2r": 0.1},
  "graph": {"kind": "ring", "agents": 10, "weights": "metropolis", "drop": 0.0, "rows": 0,
            "p": 0.4, "radius": 0.5},
  "codec": {"kind": "identity", "bits": 8, "scaled": true, "bucket": 0, "coding": "fixed"},
  "algorithm": {"name": "ticopd", "gamma": 1.0},
  "network": {"transport": "none", "ranks": 2, "deadline_s": 60.0, "noise": "none"},
  "log": {"points": 60, "lyapunov": false},
  "checkpoint": {"every_s": 60.0}
})");

TEST(Config, HasTheDefaultsOfTheContract) {
  const json contract = defaults.flatten();
  std::set<std::string> seen;
  // The kinds that use the keys which the default kinds do not.
  for (const char* kinds : {"", "problem.objective=nonconvex_logistic", "problem.data=synthetic",
                            "problem.partition=dirichlet", "graph.kind=grid",
                            "graph.kind=erdos_renyi", "graph.kind=geometric", "codec.kind=qsgd"}) {
    const std::string set = kinds;
    const json tree = (set.empty() ? parse("") : parse("", {set})).tree().flatten();
    const std::string chosen = set.substr(0, set.find('='));
    for (const auto& [key, value] : contract.items()) {
      std::string dotted = key.substr(1);
      std::ranges::replace(dotted, '/', '.');
      if (!tree.contains(key) || dotted == chosen) continue;
      EXPECT_EQ(tree[key], value) << key;
      seen.insert(key);
    }
  }
  for (const auto& [key, value] : contract.items()) EXPECT_TRUE(seen.contains(key)) << key;
}

TEST(Config, ListsOnlyTheKeysThatTheChosenKindsUse) {
  const Config config = parse("", {"codec.kind=top_k", "codec.k=3", "problem.data=csv:x.csv"});
  for (const char* key : {"codec.k", "codec.kind", "codec.coding", "problem.hidden"})
    EXPECT_TRUE(config.has(key)) << key;
  for (const char* key : {"codec.bits", "codec.scaled", "graph.p", "graph.rows", "problem.samples",
                          "problem.partition_alpha", "problem.l2r"})
    EXPECT_FALSE(config.has(key)) << key;
  EXPECT_TRUE(parse("", {"codec.kind=top_k", "codec.k=3", "codec.then=qsgd"}).has("codec.bits"));
  EXPECT_EQ(config.get<double>("problem.partition_alpha"), 0.3);  // the default
}

TEST(Config, RefusesAKeyThatTheChosenKindDoesNotUse) {
  for (const std::vector<std::string>& set :
       std::vector<std::vector<std::string>>{{"codec.kind=sign", "codec.fraction=0.1"},
                                             {"codec.kind=top_k", "codec.k=2", "codec.bits=4"},
                                             {"graph.kind=random_edge", "graph.path=x"},
                                             {"problem.objective=softmax", "problem.hidden=[5]"},
                                             {"problem.partition_alpha=1"},
                                             {"problem.samples=10"}})
    EXPECT_THROW(Config::parse("", ".", set), ConfigError) << set.back();
}

TEST(Config, AnOverrideOfTheKindTakesTheOptionsOfTheOldKindAway) {
  const std::string toml = "[graph]\nkind = \"erdos_renyi\"\np = 0.5\nagents = 7\n";
  const Config torus = parse(toml, {"graph.kind=ring"});
  EXPECT_FALSE(torus.has("graph.p"));
  EXPECT_EQ(torus.get<int>("graph.agents"), 7);
  EXPECT_THROW(parse(toml, {"graph.kind=ring", "graph.p=0.5"}), ConfigError);
  EXPECT_THROW(parse("[graph]\nkind = \"ring\"\np = 0.5\n", {"graph.agents=7"}), ConfigError);
}

TEST(Config, AResolvedTreeOfVersion01HasTheOptionsOfAllKinds) {
  json tree = parse("", {"codec.kind=sign"}).tree();
  tree["codec"]["bits"] = 8;
  tree["graph"]["p"] = 0.4;
  EXPECT_THROW(Config::from_json(tree, "."), ConfigError);
  EXPECT_EQ(Config::resolved(tree, ".").identity(), parse("", {"codec.kind=sign"}).identity());
}

TEST(Config, ReadsIntegersInScientificNotation) {
  const Config config = parse("", {"iterations=5e1", "problem.batch=1e2", "problem.hidden=[2e1]"});
  EXPECT_TRUE(config.tree()["iterations"].is_number_integer());
  EXPECT_EQ(config.get<int>("iterations"), 50);
  EXPECT_EQ(config.get<int>("problem.batch"), 100);
  EXPECT_EQ(config.get<std::vector<int>>("problem.hidden"), (std::vector<int>{20}));
  EXPECT_EQ(parse("", {"iterations=5e1"}).identity(), parse("iterations = 50").identity());
  for (const char* other : {"seed=1e17", "seed=1.5", "seed=nan", "seed=inf", "seed=-1e1"})
    EXPECT_THROW(parse("", {other}), ConfigError) << other;
}

TEST(Config, NamesAnUnknownKeyThatBeginsWithNul) {
  try {
    parse("\"\\u0000x\" = 1");
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& e) {
    EXPECT_EQ(std::string(e.what()).find("\\x00x: no such key"), 0u) << e.what();
  }
}

TEST(Config, HasNoValueForKeysWithoutADefault) {
  const Config config = parse("");
  for (const char* key : {"codec.k", "codec.fraction", "graph.path", "problem.test", "problem.init",
                          "log.every", "algorithm.alpha", "algorithm.beta"})
    EXPECT_FALSE(config.has(key)) << key;
}

TEST(Config, HasTheDefaultsOfEachAlgorithm) {
  EXPECT_EQ(parse("", {"algorithm.name=cp_sgd"}).get<double>("algorithm.alpha_x"), 1);
  EXPECT_EQ(parse("", {"algorithm.name=def_atc"}).get<double>("algorithm.zeta"), 1);
  EXPECT_EQ(parse("", {"algorithm.name=beer"}).get<bool>("algorithm.warm_start"), false);
}

TEST(Config, ReadsEveryTypeThroughOverrides) {
  const Config config =
      parse("seed = 3\n[graph]\nagents = 4\n",
            {"graph.agents=20", "problem.hidden=[30, 20]", "problem.normalize=true", "problem.l2=1",
             "codec.kind=qsgd", "graph.kind=\"star\"", "name=first try"});
  EXPECT_EQ(config.get<int>("graph.agents"), 20);
  EXPECT_EQ(config.get<std::uint64_t>("seed"), 3u);
  EXPECT_EQ(config.get<std::vector<int>>("problem.hidden"), (std::vector<int>{30, 20}));
  EXPECT_TRUE(config.get<bool>("problem.normalize"));
  EXPECT_EQ(config.get<double>("problem.l2"), 1.0);
  EXPECT_EQ(config.get<std::string>("codec.kind"), "qsgd");
  EXPECT_EQ(config.get<std::string>("graph.kind"), "star");
  EXPECT_EQ(config.get<std::string>("name"), "first try");
}

TEST(Config, LastOverrideWins) {
  EXPECT_EQ(parse("", {"seed=2", "seed=3"}).get<std::uint64_t>("seed"), 3u);
}

TEST(Config, TreatsOneAndOnePointZeroAsEqual) {
  EXPECT_EQ(parse("[problem]\nl2 = 1").identity(), parse("[problem]\nl2 = 1.0").identity());
}

TEST(Config, RoundTripsThroughItsTree) {
  const Config config = parse("[algorithm]\nalpha = { schedule = \"inverse\", c = 0.1, t0 = 3 }",
                              {"graph.agents=7", "codec.kind=top_k", "codec.fraction=0.25"});
  const Config again = Config::from_json(json::parse(config.tree().dump()), "/elsewhere");
  EXPECT_EQ(again.tree(), config.tree());
  EXPECT_EQ(again.folder(), "/elsewhere");
}

TEST(Config, IdentityHoldsTheKeysThatDecideTheBits) {
  const json identity = parse("").identity();
  for (const char* set :
       {"network.transport=threads", "network.ranks=5", "checkpoint.every=10", "name=other"})
    EXPECT_EQ(parse("", {set}).identity(), identity) << set;
  for (const char* set :
       {"seed=2", "iterations=5", "precision=double", "graph.agents=9", "log.points=30",
        "codec.kind=qsgd", "algorithm.alpha=0.1", "problem.batch=5"})
    EXPECT_NE(parse("", {set}).identity(), identity) << set;
}

TEST(Config, CopiesAreIndependent) {
  const Config first = parse("seed = 5");
  Config second = first;
  second = parse("seed = 6");
  EXPECT_EQ(first.get<int>("seed"), 5);
  EXPECT_EQ(second.get<int>("seed"), 6);
}

TEST(Config, RejectsATreeThatIsNotATable) {
  EXPECT_THROW(Config::from_json(json(3), "."), ConfigError);
  EXPECT_THROW(Config::from_json(json::array({1}), "."), ConfigError);
  EXPECT_THROW(Config::from_json({{"algorithm", nullptr}, {"graph", nullptr}}, "."), ConfigError);
}

TEST(Toml, NamesLineAndColumnOfAnError) {
  try {
    toml_to_json("a = 1\nb = = 2\n", "some.toml");
    FAIL() << "accepted";
  } catch (const ConfigError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("some.toml:2:")) << e.what();
  }
}

TEST(Toml, OverridesCreateMissingTables) {
  json tree = json::object();
  apply_override(tree, "a.b.c=[1, 2.5, \"x\"]");
  apply_override(tree, "a.d=word");
  apply_override(tree, "a.e=x=y");
  EXPECT_EQ(tree, json::parse(R"({"a": {"b": {"c": [1, 2.5, "x"]}, "d": "word", "e": "x=y"}})"));
  for (const char* wrong : {"", "=1", "a", ".=1", "a.=1", ".a=1", "a..b=1"})
    EXPECT_THROW(apply_override(tree, wrong), UsageError) << wrong;
  EXPECT_THROW(apply_override(tree, "a.d.f=1"), ConfigError);
}

}  // namespace
}  // namespace ticopd
