// log.level, log.samples and log.agents: what they leave in the folder, and what a run says of its
// metrics' cost.
#include "cli/wrong.hpp"

namespace ticopd {
namespace {

class MetricLevels : public CommandLine {
 protected:
  static std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> all(1);
    for (const char c : line)
      if (c == ',')
        all.emplace_back();
      else
        all.back() += c;
    return all;
  }
  // One column of metrics.csv, without its name.
  std::vector<std::string> column(const std::string& run, const std::string& name) const {
    const auto lines = lines_of(read_text(folder_ / run / "metrics.csv"));
    const auto names = cells(lines.at(0));
    const auto at = std::ranges::find(names, name) - names.begin();
    std::vector<std::string> values;
    for (std::size_t l = 1; l < lines.size(); ++l)
      values.push_back(cells(lines[l]).at(static_cast<std::size_t>(at)));
    return values;
  }
  static bool all_empty(const std::vector<std::string>& values) {
    return std::ranges::all_of(values, [](const std::string& v) { return v.empty(); });
  }
  static bool none_empty(const std::vector<std::string>& values) {
    return std::ranges::none_of(values, [](const std::string& v) { return v.empty(); });
  }
};

TEST_F(MetricLevels, LocalAddsItsOwnColumnAndHasNoGlobalLoss) {
  const auto full = run("full"), local = run("local", {"--set", "log.level=local"});
  EXPECT_EQ(local["digest"], full["digest"]);
  EXPECT_TRUE(
      lines_of(read_text(folder_ / "local/metrics.csv"))[0].ends_with("seconds,loss_local"));
  EXPECT_TRUE(none_empty(column("local", "loss_local")));
  for (const char* name : {"loss_max", "loss_mean", "grad_norm2_max", "accuracy_min"})
    EXPECT_TRUE(all_empty(column("local", name))) << name;
  for (const char* name : {"consensus", "bits_payload", "surrogate_error", "dual_sum"})
    EXPECT_EQ(column("local", name), column("full", name)) << name;
}

TEST_F(MetricLevels, RowsLevelHasTheUsualColumnsAndNoLoss) {
  const auto full = run("full"), rows = run("rows", {"--set", "log.level=rows"});
  EXPECT_EQ(rows["digest"], full["digest"]);
  EXPECT_TRUE(lines_of(read_text(folder_ / "rows/metrics.csv"))[0].ends_with(",seconds"));
  for (const char* name : {"loss_max", "loss_mean", "accuracy_mean"})
    EXPECT_TRUE(all_empty(column("rows", name))) << name;
  EXPECT_EQ(column("rows", "consensus"), column("full", "consensus"));
}

TEST_F(MetricLevels, PartialMetricsAreTheSameOverRanks) {
  for (const char* level : {"full", "local"}) {
    const Arguments set{"--set", std::string("log.level=") + level,
                        "--set", "log.samples=40",
                        "--set", "log.agents=2"};
    Arguments ranks = set;
    ranks.insert(ranks.end(), {"--set", "network.transport=threads", "--set", "network.ranks=3"});
    const std::string one = std::string(level) + "_one", three = std::string(level) + "_three";
    EXPECT_EQ(run(one, set)["digest"], run(three, ranks)["digest"]);
    for (const char* name : {"consensus", "loss_max", "grad_norm2_mean", "accuracy_min"})
      EXPECT_EQ(column(one, name), column(three, name)) << name;
  }
  run("full");
  EXPECT_NE(column("full_one", "loss_mean"), column("full", "loss_mean"));
  EXPECT_EQ(column("full_one", "consensus"), column("full", "consensus"));
}

TEST_F(MetricLevels, SummaryNamesTheCostOfMetricsAndTheKeyToLowerIt) {
  const Arguments costly{"--set", "log.every=1",        "--set", "iterations=10",
                         "--set", "problem.batch=1",    "--set", "problem.samples=20000",
                         "--set", "problem.features=50"};
  const auto summary = run("run", costly);
  ASSERT_GT(summary["share"]["metrics"], 0.2) << "this run should measure most of its time";
  const std::string note = summary["share"]["note"];
  EXPECT_NE(note.find("% of the time: log.level = \"local\" or log.samples would lower it"),
            std::string::npos)
      << note;
  Arguments again{"run", "small.toml", "--out", "said", "--quiet"};
  again.insert(again.end(), costly.begin(), costly.end());
  const Outcome o = ticopd(again);
  EXPECT_NE(o.out.find("metrics took "), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("log.level = \"local\" or log.samples would lower it"), std::string::npos);
}

TEST_F(MetricLevels, ResumeRejectsAnotherLevel) {
  run("run", {"--set", "log.level=local"});
  const Outcome same = ticopd(
      {"run", "small.toml", "--out", "run", "--quiet", "--resume", "--set", "log.level=local"});
  EXPECT_EQ(same.code, 0) << same.err;
  const Outcome other = ticopd({"run", "small.toml", "--out", "run", "--quiet", "--resume"});
  EXPECT_EQ(other.code, 78);
  EXPECT_NE(other.err.find("log.level"), std::string::npos) << other.err;
}

TEST_F(MetricLevels, VerifyAndReportAcceptFoldersOfEveryLevel) {
  Arguments folders{"report"};
  for (const std::string level : {"full", "local", "rows"}) {
    run(level, {"--set", "log.level=" + level});
    const Outcome verified = ticopd({"verify", level, "--quiet"});
    EXPECT_EQ(verified.code, 0) << level << ": " << verified.err << verified.out;
    folders.push_back(level + "=" + level);
    const Outcome alone = ticopd({"report", level, "--out", "report_" + level});
    EXPECT_EQ(alone.code, 0) << level << ": " << alone.err;
  }
  folders.insert(folders.end(), {"--out", "report_all"});
  const Outcome all = ticopd(folders);
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_NE(all.out.find("local loss"), std::string::npos) << all.out;
}

// tests/cli/folder_of_0.1 was left by version 0.1.0, interrupted after 8190 of 20000 rounds; its
// config has no log.level. The digest is that of 0.1.0 without an interruption.
TEST_F(MetricLevels, AFolderOfVersion01GoesOnAndEndsWithItsDigest) {
  const std::filesystem::path old = places::tree() + "/tests/cli/folder_of_0.1";
  write("old/", "");
  for (const char* name : {"checkpoint.safetensors", "metrics.csv", "run.json"})
    std::filesystem::copy_file(old / name, folder_ / "old" / name);
  const Outcome o = ticopd({"run", old / "experiment.toml", "--out", "old", "--resume", "--quiet"},
                           {{"TICOPD_KERNEL", "plain"}});
  if (o.err.find("another version of xxHash") != std::string::npos)
    GTEST_SKIP() << "the state of a digest belongs to one version of xxHash";
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(summary("old")["digest"], "2e2d12d5280524d2d7fd0db81c2d522c");
  EXPECT_EQ(summary("old")["iterations"], 20000);
}

class RefusedLevel : public Refused {};
TEST_P(RefusedLevel, MessageNamesTheKey) {
  expect_refusal();
}
INSTANTIATE_TEST_SUITE_P(
    Of, RefusedLevel,
    ::testing::Values(
        set("UnknownLevel", {"log.level=lokal"}, {"log.level", "lokal", "did you mean \"local\""}),
        set("NegativeSamples", {"log.samples=-1"}, {"log.samples", "-1"}),
        set("MoreAgentsThanThereAre", {"log.agents=5"}, {"log.agents = 5", "at most 4"}),
        Wrong{"TuneOnAMetricThatIsNotMeasured",
              {"tune", "small.toml", "--out", "out", "--set", "log.level=rows", "--set",
               "tune.metric=loss_max"},
              78,
              {"tune.metric = \"loss_max\"", "log.level = \"rows\" does not measure it",
               "log.level = \"full\""}}),
    name_of);

}  // namespace
}  // namespace ticopd
