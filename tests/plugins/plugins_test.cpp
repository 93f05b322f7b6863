// --plugin with the plug-ins of examples/plugin, in every command.
#include "cli/program.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// Numbers as labels, for regression.
const std::string regression = R"(iterations = 40
[problem]
data = "csv:points.csv"
partition = "iid"
[graph]
agents = 4
[codec]
kind = "identity"
[algorithm]
alpha = 0.1
theta = 0.3
eta = 0.03
)";

class Plugins : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    std::string points;  // label, a, b; one of them is far off
    for (int i = 0; i < 40; ++i)
      points += std::to_string(i == 3 ? 1000 : i % 7 + 2 * (i % 5)) + "," + std::to_string(i % 7) +
                "," + std::to_string(i % 5) + "\n";
    write("points.csv", points);
    write("points.toml", regression);
  }

  static std::string plugin(const std::string& name) {
    return places::plugins() + "/" + name + ".so";
  }
  static Arguments with(const std::string& name, Arguments more) {
    more.insert(more.end(), {"--plugin", plugin(name)});
    return more;
  }
  // The output of the command, which must succeed.
  std::string printed(const Arguments& arguments) const {
    const Outcome o = ticopd(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  }
  json summary_of(const std::string& run) const {
    return json::parse(read_text(folder_ / run / "run.json"), nullptr, false);
  }

  const Arguments diffusion{"--set", "algorithm={name=\"diffusion\",mu=0.1}", "--set",
                            "codec.kind=identity"};
};

Arguments joined(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_F(Plugins, AlgorithmHasOneDigestOverThreadsAndRanks) {
  for (const char* precision : {"float", "double"}) {
    const std::string p = precision;
    const Arguments same = joined(with("diffusion", diffusion), {"--set", "precision=" + p});
    const json one = run(p + "1", joined(same, {"--threads", "1"}));
    const json two = run(p + "2", joined(same, {"--threads", "2"}));
    const json ranks = run(
        p + "3", joined(same, {"--set", "network.transport=threads", "--set", "network.ranks=3"}));
    EXPECT_EQ(one["status"], "finished");
    EXPECT_EQ(one["config"]["algorithm"], json({{"name", "diffusion"}, {"mu", 0.1}}));
    EXPECT_EQ(two["digest"], one["digest"]);
    EXPECT_EQ(ranks["digest"], one["digest"]);
  }
}

TEST_F(Plugins, RunJsonNamesThePlugin) {
  const json plugins = run("out", with("diffusion", diffusion))["plugins"];
  ASSERT_EQ(plugins.size(), 1u);
  EXPECT_EQ(plugins[0]["file"], plugin("diffusion"));
  EXPECT_EQ(plugins[0]["name"], "diffusion");
  EXPECT_EQ(plugins[0]["version"], "1.0");
  EXPECT_EQ(plugins[0]["hash"].get<std::string>().size(), 32u);
  EXPECT_FALSE(run("without").contains("plugins"));
}

TEST_F(Plugins, OptionOfACodecIsReadCheckedAndCounted) {
  const Arguments kind{"--set", "codec={kind=\"truncated\"}"};
  const json two = run("two", with("truncated", kind));
  const json three = run("three", with("truncated", joined(kind, {"--set", "codec.bytes=3"})));
  EXPECT_EQ(two["config"]["codec"], json({{"kind", "truncated"}, {"bytes", 2}}));
  const auto bytes = [](const json& j) { return j["ledger"]["payload_bytes"].get<double>(); };
  EXPECT_EQ(bytes(three) / bytes(two), 1.5);

  const auto refused = [&](const char* set) {
    const Outcome o =
        ticopd(with("truncated", {"run", "small.toml", "--set", "codec.kind=truncated", "--set",
                                  set, "--out", "refused"}));
    EXPECT_EQ(o.code, 78);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));
    return o.err;
  };
  EXPECT_NE(refused("codec.bytes=4").find("codec.bytes = 4: allowed is a whole number from 2 to 3"),
            std::string::npos);
  EXPECT_NE(refused("codec.byte=2").find("did you mean \"codec.bytes\"?"), std::string::npos);
}

TEST_F(Plugins, ObjectiveOverSamplesTakesItsOption) {
  const auto loss = [&](const std::string& delta) {
    const std::string out = "huber" + delta;
    printed(with("huber", {"run", "points.toml", "--quiet", "--out", out, "--set",
                           "problem.objective=huber", "--set", "problem.delta=" + delta}));
    return std::stod(metrics(out)[1][4]);  // at round 0
  };
  EXPECT_GT(loss("100"), 3 * loss("1.5"));  // the outlier weighs more
}

TEST_F(Plugins, ObjectiveBringsItsData) {
  write("sensors.toml", R"(iterations = 1500
[problem]
objective = "sensors"
[graph]
agents = 6
[algorithm]
alpha = 0.03
theta = 4
eta = 0.4
)");
  const json j = json::parse(
      printed(with("sensors", {"run", "sensors.toml", "--quiet", "--json", "--out", "out"})));
  EXPECT_EQ(j["dimension"], 2);
  EXPECT_LT(std::stod(metrics("out").back()[4]), 1e-9);  // loss_max: the source was found
  const Outcome o = ticopd(with("sensors", {"run", "sensors.toml", "--set", "problem.samples=9"}));
  EXPECT_EQ(o.code, 78);
  EXPECT_NE(o.err.find("problem.samples"), std::string::npos) << o.err;
}

TEST_F(Plugins, GraphIsSeededAndKeepsItsOption) {
  const auto edges = [&](const std::string& out, const Arguments& more) {
    return run(out, with("small_world", joined({"--set", "graph={kind=\"small_world\",agents=8}"},
                                               more)))["edges"];
  };
  const json some = edges("some", {});
  EXPECT_GT(some.size(), 8u);
  EXPECT_EQ(edges("ring", {"--set", "graph.shortcuts=0"}).size(), 8u);
  EXPECT_NE(edges("other", {"--set", "seed=2"}), some);
}

TEST_F(Plugins, MetricIsAColumnThatReportsKnow) {
  run("out", with("farthest", {}));
  EXPECT_TRUE(lines_of(read_text(folder_ / "out" / "metrics.csv"))[0].ends_with(",farthest"));
  const json shown =
      json::parse(printed(with("farthest", {"report", "out", "--json", "--out", "with"})));
  EXPECT_EQ(shown["columns"].back(), "farthest");
  // Somebody who has not got the plug-in can read the other columns.
  printed({"report", "out", "--out", "without"});
  // A run without the column beside it.
  run("before");
  printed(with("farthest", {"report", "a=out", "b=before", "--out", "both"}));
}

TEST_F(Plugins, EveryListingHasTheEntries) {
  Arguments all{"list"};
  for (const char* name : {"diffusion", "truncated", "huber", "sensors", "small_world", "farthest"})
    all = with(name, all);
  const std::string text = printed(all);
  for (const char* name : {"diffusion", "truncated", "huber", "sensors", "small_world", "farthest"})
    EXPECT_NE(text.find(std::string("\n  ") + name), std::string::npos) << name;
  all[0] = "schema";
  const json schema = json::parse(printed(all))["$defs"];
  EXPECT_EQ(schema["codec"]["properties"]["bytes"]["maximum"], 3);
  EXPECT_EQ(schema["problem"]["properties"]["delta"]["exclusiveMinimum"], 0);
  EXPECT_EQ(schema["graph"]["properties"]["shortcuts"]["default"], 0.5);
  EXPECT_NE(schema["algorithm"].dump().find("diffusion"), std::string::npos);
}

TEST_F(Plugins, VerifyReportTheoryAndAuditTakeThem) {
  run("out", with("diffusion", diffusion));
  EXPECT_NE(printed(with("diffusion", {"verify", "out", "--quiet"})).find("same digest"),
            std::string::npos);
  const auto reported = [](const std::string& text) {
    return json::parse(text)["runs"][0]["algorithm"];
  };
  EXPECT_EQ(reported(printed(with("diffusion", {"report", "out", "--json", "--out", "report"}))),
            "diffusion");
  EXPECT_EQ(ticopd(with("diffusion", {"audit", "out"})).code, 0);
  // A report and an audit read files alone, and need no plug-in.
  EXPECT_EQ(reported(printed({"report", "out", "--json", "--out", "plain"})), "diffusion");
  EXPECT_EQ(ticopd({"audit", "out"}).code, 0);
  write("theory.toml", read_text(folder_ / "small.toml"));
  EXPECT_EQ(
      ticopd(with("truncated", {"theory", "theory.toml", "--set", "codec={kind=\"truncated\"}"}))
          .code,
      0);
}

TEST_F(Plugins, CompareRunsThemBesideOthers) {
  write("both.toml", small_problem + R"(
[[run]]
label = "diffusion"
algorithm = { name = "diffusion", mu = 0.1 }
codec = { kind = "identity" }
[[run]]
label = "truncated"
codec = { kind = "truncated", bytes = 3 }
)");
  Arguments all = with("truncated", with("diffusion", {"compare", "both.toml", "--out", "both"}));
  EXPECT_NE(printed(all).find("truncated"), std::string::npos);
  EXPECT_NE(read_text(folder_ / "both" / "report.html").find("truncated, 3 bytes"),
            std::string::npos);
  all.push_back("--resume");
  printed(all);
}

TEST_F(Plugins, TuneSearchesTheRangeOfAnOwnParameter) {
  printed(
      with("diffusion", {"tune", "small.toml", "--set", "algorithm={name=\"diffusion\"}", "--set",
                         "codec.kind=identity", "--runs", "6", "--quiet", "--out", "tuned"}));
  EXPECT_NE(read_text(folder_ / "tuned" / "tuned.toml").find("mu = "), std::string::npos);

  // tuned.toml runs where it lies, also if it declares plug-ins.
  std::filesystem::copy(plugin("diffusion"), folder_ / "mine.so");
  printed({"tune", "small.toml", "--set", "algorithm={name=\"diffusion\"}", "--set",
           "codec.kind=identity", "--set", "plugins.path=[\"mine.so\"]", "--runs", "2", "--quiet",
           "--out", "declared", "--plugin", "./mine.so"});
  printed({"run", "declared/tuned.toml", "--out", "again", "--quiet", "--plugin", "./mine.so"});
}

TEST_F(Plugins, ResumeGoesOnWithTheSameFileAlone) {
  const Arguments same = joined({"run", "small.toml", "--out", "out", "--quiet"},
                                joined(diffusion, {"--set", "iterations=40"}));
  const json whole = run("whole", joined(with("diffusion", diffusion), {"--set", "iterations=40"}));
  printed(with("diffusion", same));
  std::filesystem::remove(folder_ / "out" / "final.npy");  // go on from the checkpoint
  const Arguments again = joined(same, {"--resume"});
  const Outcome without = ticopd(joined(again, {}));
  EXPECT_EQ(without.code, 78);
  const Outcome other = ticopd(with("diffusion", with("truncated", again)));
  EXPECT_EQ(other.code, 78);
  EXPECT_NE(other.err.find("it was made without the plug-in truncated 1.0"), std::string::npos)
      << other.err;
  // Built anew: one byte behind the end of an ELF file changes nothing but its hash.
  std::filesystem::copy(plugin("diffusion"), folder_ / "diffusion.so");
  std::ofstream(folder_ / "diffusion.so", std::ios::app) << 'x';
  const Outcome anew = ticopd(joined(again, {"--plugin", "./diffusion.so"}));
  EXPECT_EQ(anew.code, 78);
  EXPECT_NE(anew.err.find("the plug-in is diffusion 1.0 (./diffusion.so"), std::string::npos)
      << anew.err;
  const Outcome verified = ticopd({"verify", "out", "--plugin", "./diffusion.so"});
  EXPECT_EQ(verified.code, 69);
  printed(with("diffusion", again));
  EXPECT_EQ(summary_of("out")["digest"], whole["digest"]);
}

TEST_F(Plugins, ConfigDeclaresWhatItNeedsAndLoadsNothing) {
  std::filesystem::copy(plugin("truncated"), folder_ / "mine.so");
  write("declared.toml", small_problem + "[plugins]\npath = [\"mine.so\"]\n");
  const Arguments plain{"run",   "declared.toml",       "--quiet", "--out", "out",
                        "--set", "codec.kind=truncated"};
  const Outcome refused = ticopd(plain);
  EXPECT_EQ(refused.code, 78);
  EXPECT_NE(refused.err.find("add --plugin ./mine.so"), std::string::npos) << refused.err;
  printed(joined(plain, {"--plugin", "./mine.so"}));
  // All that are missing stand in one line.
  std::filesystem::copy(plugin("huber"), folder_ / "other.so");
  const Outcome two =
      ticopd({"run", "declared.toml", "--set", "plugins.path=[\"mine.so\", \"other.so\"]"});
  EXPECT_NE(two.err.find("add --plugin ./mine.so --plugin ./other.so"), std::string::npos)
      << two.err;
  // From another folder, the line names the file from there.
  write("sub/here", "");
  const Outcome below = Program(folder_ / "sub", {"run", "../declared.toml"}).wait();
  EXPECT_NE(below.err.find("add --plugin ../mine.so"), std::string::npos) << below.err;
  const Outcome wrong = ticopd({"run", "small.toml", "--set", "plugins.path=mine.so"});
  EXPECT_EQ(wrong.code, 78);
  EXPECT_NE(wrong.err.find("plugins.path = \"mine.so\": allowed is a list of strings"),
            std::string::npos)
      << wrong.err;
}

TEST_F(Plugins, OptionMayStandBeforeTheCommand) {
  EXPECT_NE(printed({"--plugin", plugin("diffusion"), "list", "algorithms"}).find("diffusion"),
            std::string::npos);
}

}  // namespace
}  // namespace ticopd
