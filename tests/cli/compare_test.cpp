// Comparisons: several runs in one folder, rejected as a whole or resumed as a whole.
#include "cli/program.hpp"

namespace ticopd {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string three_runs = R"(iterations = 30
[problem]
objective = "softmax"
data = "synthetic"
samples = 200
features = 6
classes = 4
partition = "iid"
[graph]
agents = 4
[algorithm]
name = "ticopd"
alpha = 0.3
theta = 0.3
eta = 0.03
[report]
title = "Three"
targets = { loss_max = 1.0 }
[[run]]
label = "TiCoPD 8-bit"
codec.kind = "qsgd"
[[run]]
label = "TiCoPD, gentler"
algorithm.alpha = 0.1
[[run]]
label = "DGD"
algorithm = { name = "dgd", eta = 0.2 }
)";

class Compare : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    write("three.toml", three_runs);
  }

  Arguments three(const std::string& out, const Arguments& more = {}) const {
    Arguments all{"compare", "three.toml", "--out", out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // summary.csv without the columns of measured time.
  std::vector<std::vector<std::string>> table(const std::string& out) const {
    std::vector<std::vector<std::string>> rows;
    std::vector<bool> by_clock;
    for (const std::string& line : lines_of(read_text(folder_ / out / "summary.csv"))) {
      std::vector<std::string> cells{""};
      bool quoted = false;
      for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted)
          cells.emplace_back();
        else
          cells.back() += c;
      }
      if (rows.empty())
        for (const std::string& name : cells) by_clock.push_back(name.ends_with("seconds"));
      EXPECT_EQ(cells.size(), by_clock.size()) << line;
      rows.emplace_back();
      for (std::size_t i = 0; i < cells.size() && i < by_clock.size(); ++i)
        if (!by_clock[i]) rows.back().push_back(cells[i]);
    }
    return rows;
  }

  void refuses(const std::string& toml, int code, const std::vector<std::string>& words,
               const Arguments& more = {}) const {
    write("bad.toml", toml);
    Arguments all{"compare", "bad.toml", "--out", "bad"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome o = ticopd(all);
    EXPECT_EQ(o.code, code) << o.err;
    for (const std::string& word : words)
      EXPECT_NE(o.err.find(word), std::string::npos) << word << " in " << o.err;
    EXPECT_FALSE(fs::exists(folder_ / "bad")) << "nothing may be left of what was refused";
  }
};

TEST_F(Compare, WritesOneFolderPerRunAndOneReport) {
  const Outcome o = ticopd(three("all"));
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* run : {"ticopd-8-bit", "ticopd-gentler", "dgd"})
    EXPECT_EQ(summary("all/" + std::string(run))["status"], "finished");
  const auto rows = table("all");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1][0], "TiCoPD 8-bit");
  EXPECT_EQ(rows[3][0], "DGD");
  for (const char* word : {"TiCoPD 8-bit", "TiCoPD, gentler", "DGD", "loss_max", "consensus"})
    EXPECT_NE(o.out.find(word), std::string::npos) << word << " in\n" << o.out;
}

TEST_F(Compare, MergesARunIntoTheSharedTablesUnlessItNamesAnotherMethod) {
  ASSERT_EQ(ticopd(three("all", {"--quiet"})).code, 0);
  const json gentler = summary("all/ticopd-gentler")["config"];
  EXPECT_EQ(gentler["algorithm"]["alpha"], 0.1);
  EXPECT_EQ(gentler["algorithm"]["theta"], 0.3);
  EXPECT_EQ(gentler["codec"]["kind"], "identity");
  EXPECT_EQ(gentler["name"], "TiCoPD, gentler");
  const json dgd = summary("all/dgd")["config"];
  EXPECT_FALSE(dgd["algorithm"].contains("alpha"));
}

TEST_F(Compare, SetAppliesToEveryRun) {
  ASSERT_EQ(ticopd(three("all", {"--quiet", "--set", "iterations=7"})).code, 0);
  for (const char* run : {"ticopd-8-bit", "ticopd-gentler", "dgd"})
    EXPECT_EQ(summary("all/" + std::string(run))["iterations"], 7);
}

TEST_F(Compare, GivesEachRunTheDigestOfRunningItAlone) {
  ASSERT_EQ(ticopd(three("all", {"--quiet"})).code, 0);
  const std::string shared = three_runs.substr(0, three_runs.find("[[run]]"));
  write("alone.toml", shared + "[codec]\nkind = \"qsgd\"\n");
  ASSERT_EQ(ticopd({"run", "alone.toml", "--out", "alone", "--quiet"}).code, 0);
  EXPECT_EQ(summary("alone")["digest"], summary("all/ticopd-8-bit")["digest"]);
}

TEST_F(Compare, AcceptsSeveralFilesAndFilesOfASingleRun) {
  const Outcome o = ticopd({"compare", "three.toml", "small.toml", "--out", "all", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(table("all").size(), 5u);
  EXPECT_EQ(table("all")[4][0], "small");
}

TEST_F(Compare, ResumesAfterKillToTheSameSummary) {
  const Arguments longer{"--set", "iterations=20000", "--set",   "checkpoint.every=1000",
                         "--set", "log.every=500",    "--quiet", "--jobs",
                         "1"};
  Arguments resume = longer;
  resume.push_back("--resume");
  ASSERT_EQ(ticopd(three("whole", longer)).code, 0);
  // The signal must hit the second run. On a busy machine it may come too late; then try again.
  for (int attempt = 1;; ++attempt) {
    Program program(folder_, three("cut", longer));
    ASSERT_TRUE(program.wait_for(folder_ / "cut/ticopd-gentler/checkpoint.safetensors"));
    program.signal(SIGKILL);
    if (program.wait().code == 128 + SIGKILL && !fs::exists(folder_ / "cut/summary.csv")) break;
    ASSERT_LT(attempt, 10);
    fs::remove_all(folder_ / "cut");
  }
  EXPECT_TRUE(fs::exists(folder_ / "cut/ticopd-8-bit/run.json"));
  const std::string first = read_text(folder_ / "cut/ticopd-8-bit/run.json");
  EXPECT_EQ(ticopd(three("cut", longer)).code, 64) << "without --resume it is taken";
  const Outcome o = ticopd(three("cut", resume));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(table("cut"), table("whole"));
  EXPECT_EQ(read_text(folder_ / "cut/ticopd-8-bit/run.json"), first) << "made once, not again";
}

TEST_F(Compare, CtrlCSavesAndPrintsTheCommandToResume) {
  const Arguments longer{"--set", "iterations=40000", "--set", "checkpoint.every=1000"};
  for (int attempt = 1;; ++attempt) {
    Program program(folder_, three("cut", longer));
    ASSERT_TRUE(program.wait_for(folder_ / "cut/ticopd-8-bit/checkpoint.safetensors"));
    program.signal(SIGINT);
    const Outcome o = program.wait();
    if (o.code == 75) {
      EXPECT_NE(o.err.find("ticopd compare three.toml"), std::string::npos) << o.err;
      EXPECT_NE(o.err.find("--resume --out cut"), std::string::npos) << o.err;
      break;
    }
    ASSERT_LT(attempt, 10) << o.err;
    fs::remove_all(folder_ / "cut");
  }
}

TEST_F(Compare, ReportsADivergedRunAndContinuesWithTheOthers) {
  write("far.toml",
        three_runs + "[[run]]\nlabel = \"too far\"\nalgorithm = { name = \"dgd\", eta = 1e30 }\n");
  const Outcome o = ticopd({"compare", "far.toml", "--out", "all"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("diverged"), std::string::npos) << o.out;
  EXPECT_EQ(table("all").size(), 5u);
  EXPECT_EQ(table("all")[4][2], "diverged");
  const Outcome again = ticopd({"compare", "far.toml", "--out", "all", "--resume"});
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(Compare, RejectsTwoRunsWithTheSameLabel) {
  refuses(three_runs + "[[run]]\nlabel = \"DGD\"\n", 78,
          {"[[run]] number 4", "\"DGD\"", "another"});
}

TEST_F(Compare, RejectsARunWithoutALabel) {
  refuses(three_runs + "[[run]]\niterations = 3\n", 78, {"[[run]] number 4", "label"});
}

TEST_F(Compare, RejectsAnUnknownTargetMetricWithTheNearestName) {
  refuses(three_runs + "", 78, {"report.targets", "accuracy_min"},
          {"--set", "report.targets={acuracy_min=0.9}"});
}

TEST_F(Compare, RejectsATargetThatIsNotAFiniteNumberBeforeTheFirstRun) {
  for (const char* value : {"nan", "inf", "\"much\""})
    refuses(three_runs, 78, {"report.targets.accuracy_min = ", value, "allowed is a number"},
            {"--set", std::string("report.targets={accuracy_min=") + value + "}"});
}

TEST_F(Compare, RejectsABadRunBeforeTheFirstRunStarts) {
  refuses(three_runs + "[[run]]\nlabel = \"x\"\nalgorithm = { name = \"choco_sgd\", eta = 0.1 }\n",
          78, {"x: ", "algorithm.gamma"});
  refuses(three_runs + "[[run]]\nlabel = \"x\"\ngraf.kind = \"ring\"\n", 78,
          {"number 4", "graf", "graph"});
}

TEST_F(Compare, LeavesNoFilesIfTheDataCannotBeRead) {
  refuses(three_runs, 65, {"none.csv"}, {"--set", "problem.data=csv:none.csv"});
  write("bad/", "");  // an empty folder that existed before, so compare must not remove it
  const Outcome o =
      ticopd({"compare", "three.toml", "--out", "bad", "--set", "problem.data=csv:none.csv"});
  EXPECT_EQ(o.code, 65) << o.err;
  EXPECT_TRUE(fs::is_empty(folder_ / "bad"));
  EXPECT_EQ(ticopd(three("bad", {"--quiet"})).code, 0);
}

TEST_F(Compare, RejectsResumeInAFolderThatHoldsNoComparison) {
  write("other/file.txt", "mine");
  const Outcome o = ticopd(three("other", {"--resume"}));
  EXPECT_EQ(o.code, 64) << o.err;
  EXPECT_NE(o.err.find("no comparison"), std::string::npos) << o.err;
}

TEST_F(Compare, RunRejectsAFileOfSeveralRunsAndNamesCompare) {
  const Outcome o = ticopd({"run", "three.toml", "--out", "x"});
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_NE(o.err.find("ticopd compare"), std::string::npos) << o.err;
}

TEST_F(Compare, ReportRebuildsTheSummary) {
  ASSERT_EQ(ticopd(three("all", {"--quiet"})).code, 0);
  const std::string before = read_text(folder_ / "all/summary.csv");
  fs::remove(folder_ / "all/summary.csv");
  fs::remove(folder_ / "all/report.html");
  const Outcome o = ticopd({"report", "all"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read_text(folder_ / "all/summary.csv"), before);
}

TEST_F(Compare, ReportRejectsFoldersWithoutARunAndDuplicateLabels) {
  ASSERT_EQ(ticopd(three("all", {"--quiet"})).code, 0);
  write("empty/", "");
  Outcome o = ticopd({"report", "empty"});
  EXPECT_EQ(o.code, 65) << o.err;
  EXPECT_NE(o.err.find("run.json"), std::string::npos) << o.err;
  o = ticopd({"report", "all/dgd", "all/dgd", "--out", "twice"});
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_NE(o.err.find("\"DGD\""), std::string::npos) << o.err;
  o = ticopd({"report", "all", "--target", "lossmax=1"});
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_NE(o.err.find("loss_max"), std::string::npos) << o.err;
  const std::string csv = read_text(folder_ / "all/dgd/metrics.csv");
  write("all/dgd/metrics.csv", csv.substr(0, csv.size() - 40));
  o = ticopd({"report", "all"});
  EXPECT_EQ(o.code, 65) << o.err;
  EXPECT_NE(o.err.find("metrics.csv:"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace ticopd
