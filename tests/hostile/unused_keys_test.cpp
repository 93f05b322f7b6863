// Keys that the chosen kind does not use.
#include "cli/wrong.hpp"
#include "hostile/hostile.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class UnusedKeys : public Refused {};
TEST_P(UnusedKeys, AreRefusedWithTheKindThatIgnoresThem) {
  expect_refusal();
}
INSTANTIATE_TEST_SUITE_P(
    Given, UnusedKeys,
    ::testing::Values(
        set("FractionWithSign", {"codec.kind=sign", "codec.fraction=0.1"},
            {"codec.fraction", "sign", "does not use", "top_k"}),
        set("BitsWithTopK", {"codec={kind=\"top_k\",k=3,bits=4}"}, {"codec.bits", "top_k"}),
        set("PathWithRandomEdge", {"graph.kind=random_edge", "graph.path=edges.txt"},
            {"graph.path", "random_edge", "file"}),
        set("RadiusWithRing", {"graph.radius=0.3"}, {"graph.radius", "ring", "geometric"}),
        set("PWithRing", {"graph.p=0.3"}, {"graph.p", "ring", "erdos_renyi"}),
        set("RowsWithRing", {"graph.rows=2"}, {"graph.rows", "ring"}),
        set("HiddenWithSoftmax", {"problem.hidden=[5]"}, {"problem.hidden", "softmax", "mlp"}),
        set("ActivationWithSoftmax", {"problem.activation=relu"}, {"problem.activation", "mlp"}),
        set("L2rWithSoftmax", {"problem.l2r=0.2"}, {"problem.l2r", "nonconvex_logistic"}),
        set("AlphaOfDirichletWithIid", {"problem.partition_alpha=0.2"},
            {"problem.partition_alpha", "iid", "dirichlet"}),
        set("SamplesWithMnist", {"problem.data=mnist", "problem.samples=9"},
            {"problem.samples", "mnist", "synthetic"}),
        set("InAnInlineTable", {"codec={kind=\"sign\",bits=8}"}, {"codec.bits", "sign"})),
    [](const auto& test) { return test.param.name; });

class UsedKeys : public Hostile {};

TEST_F(UsedKeys, DefaultsOfOtherKindsAreNoMistakeAndNotListed) {
  run("out");
  const json config = summary("out")["config"];
  EXPECT_TRUE(config["codec"].contains("bits"));
  for (const char* key : {"fraction", "k", "p", "kappa", "omega", "threshold"})
    EXPECT_FALSE(config["codec"].contains(key)) << key;
  for (const char* key : {"p", "radius", "rows", "path"})
    EXPECT_FALSE(config["graph"].contains(key)) << key;
  for (const char* key : {"hidden", "activation", "l2r", "partition_alpha"})
    EXPECT_FALSE(config["problem"].contains(key)) << key;
}

TEST_F(UsedKeys, AnOverrideOfTheKindDropsTheFilesOptionsOfTheOldKind) {
  write("file.toml", with(small_problem, "kind = \"qsgd\"\n", "kind = \"qsgd\"\nbits = 4\n"));
  const Outcome o =
      ticopd({"run", "file.toml", "--out", "out", "--quiet", "--set", "codec.kind=sign"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(summary("out")["config"]["codec"].contains("bits"));
}

TEST_F(UsedKeys, ARunsCodecAndGraphOfAnotherKindStartFromNothing) {
  const std::string shared =
      with(with(small_problem, "kind = \"qsgd\"\n", "kind = \"qsgd\"\nbits = 4\n"), "agents = 4\n",
           "kind = \"erdos_renyi\"\np = 0.9\nagents = 4\n");
  write("set.toml", shared + R"([[run]]
label = "same"
[[run]]
label = "other codec"
codec = {kind = "top_k", k = 5}
[[run]]
label = "other graph"
graph = {kind = "ring", agents = 5}
[[run]]
label = "other bits"
codec = {bits = 6}
)");
  const Outcome o = ticopd({"compare", "set.toml", "--out", "out", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  const json compared = json::parse(read_text(folder_ / "out/compare.json"));
  std::map<std::string, json> config;
  for (const json& run : compared["runs"])
    config[run["label"]] = summary("out/" + run["folder"].get<std::string>())["config"];
  EXPECT_EQ(config["same"]["codec"]["bits"], 4);
  EXPECT_EQ(config["other codec"]["codec"]["k"], 5);
  EXPECT_FALSE(config["other codec"]["codec"].contains("bits"));
  EXPECT_EQ(config["other graph"]["graph"]["agents"], 5);
  EXPECT_FALSE(config["other graph"]["graph"].contains("p"));
  EXPECT_EQ(config["other bits"]["codec"]["bits"], 6);
  EXPECT_EQ(config["other bits"]["codec"]["kind"], "qsgd");
}

TEST_F(UsedKeys, AnUnusedKeyInARunIsRefusedWithItsLabel) {
  write("set.toml", small_problem +
                        "[[run]]\nlabel = \"fine\"\n[[run]]\nlabel = \"wrong one\"\n"
                        "codec = {kind = \"sign\", fraction = 0.1}\n");
  expect_refused({"compare", "set.toml", "--out", "out"}, 78,
                 {"set.toml", "number 2", "codec.fraction", "sign"});
  expect_refused({"tune", "set.toml", "--out", "out"}, 78,
                 {"set.toml", "number 2", "codec.fraction", "sign"});
}

TEST_F(UsedKeys, TunedConfigsAreAcceptedAgain) {
  ASSERT_EQ(ticopd({"tune", "small.toml", "--out", "t", "--runs", "2"}).code, 0);
  const Outcome o = ticopd({"run", "t/tuned.toml", "--out", "out", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
}

}  // namespace
}  // namespace ticopd
