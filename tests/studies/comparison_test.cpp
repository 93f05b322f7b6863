// A comparison from C++, without a terminal: what it calls back, returns, saves and resumes.
#include "ticopd/studies/comparison.hpp"

#include <nlohmann/json.hpp>

#include "studies/small_study.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Comparison : public SmallStudy {
 protected:
  static CompareOptions into(const std::string& name, bool resume = false) {
    CompareOptions options;
    options.prepare.threads = 1;
    options.out = name;
    options.resume = resume;
    return options;
  }

  // Stops a comparison after this round of its second run, like Ctrl-C.
  static void stop_at(const std::string& name, std::uint32_t at) {
    std::atomic<bool> stop = false;
    CompareOptions options = into(name);
    std::size_t current = 0;
    options.stop = &stop;
    options.on_begin = [&](const RunSet::Run&, std::size_t index) { current = index; };
    options.on_round = [&](std::uint32_t round) { stop = current == 1 && round >= at; };
    EXPECT_THROW(compare(two(), options), Interrupted);
  }

  static json digest(const fs::path& folder) {
    return RunFolder::require_finished(folder)["digest"];
  }
};

TEST_F(Comparison, ReturnsItsRunsAndTheReport) {
  CompareOptions options = into("out");
  options.command = "by hand";
  const Compared compared = compare(two(), options);
  EXPECT_EQ(compared.folder, "out");
  ASSERT_EQ(compared.runs.size(), 2u);
  EXPECT_EQ(compared.runs[0].label, "CHOCO");
  EXPECT_EQ(compared.runs[1].folder, "out/dgd");
  EXPECT_EQ(compared.runs[1].diverged, "");
  ASSERT_EQ(compared.collection.runs.size(), 2u);
  EXPECT_EQ(compared.collection.runs[1].label, "DGD");
  ASSERT_EQ(compared.collection.options.targets.size(), 1u);
  EXPECT_EQ(compared.collection.options.stop, nullptr);
  const json page = report_json(compared.collection.runs, compared.collection.options);
  EXPECT_EQ(page["runs"].size(), 2u);
  EXPECT_TRUE(fs::exists("out/summary.csv"));
  EXPECT_FALSE(compared.written.files.empty());
  EXPECT_EQ(parse_json(read_file("out/compare.json"))["command"], "by hand");
}

TEST_F(Comparison, CallsBackInTheOrderOfItsRuns) {
  std::vector<std::string> calls;
  CompareOptions options = into("out");
  options.on_folder = [&](const fs::path& out) { calls.push_back("in " + out.string()); };
  options.on_begin = [&](const RunSet::Run& run, std::size_t index) {
    calls.push_back(std::to_string(index) + " begins: " + run.label);
  };
  options.on_log = [&](const Metrics& m) {
    if (m.iteration == 0) calls.emplace_back("round 0 is logged");
  };
  options.on_round = [&](std::uint32_t round) {
    if (round == 40) calls.emplace_back("round 40 is made");
  };
  options.on_end = [&](const RunOutcome& run) { calls.push_back("end of " + run.label); };
  compare(two(), options);
  EXPECT_EQ(calls,
            (std::vector<std::string>{"in out", "0 begins: CHOCO", "round 0 is logged",
                                      "round 40 is made", "end of CHOCO", "1 begins: DGD",
                                      "round 0 is logged", "round 40 is made", "end of DGD"}));
}

TEST_F(Comparison, StoppedComparisonResumesToTheSameDigests) {
  compare(two(), into("whole"));
  stop_at("cut", 7);
  EXPECT_EQ(RunFolder::require_summary("cut/dgd")["status"], "interrupted");
  EXPECT_FALSE(fs::exists("cut/summary.csv"));
  EXPECT_THROW(compare(two(), into("cut")), UsageError) << "without resume it is taken";
  std::vector<std::uint32_t> rounds;
  CompareOptions options = into("cut", true);
  options.on_round = [&](std::uint32_t round) { rounds.push_back(round); };
  const Compared compared = compare(two(), options);
  EXPECT_EQ(compared.runs.size(), 2u);
  ASSERT_EQ(rounds.size(), 33u) << "the first run and seven rounds were made before";
  EXPECT_EQ(rounds.front(), 8u);
  for (const char* run : {"choco", "dgd"})
    EXPECT_EQ(digest(fs::path("cut") / run), digest(fs::path("whole") / run));
}

TEST_F(Comparison, ResumeNeedsAFolder) {
  EXPECT_THROW(compare(two(), into("", true)), UsageError);
  EXPECT_FALSE(fs::exists("runs"));
}

TEST_F(Comparison, WithoutAFolderItTakesOneOfItsNameAndTime) {
  const Compared compared = compare(two(), into(""));
  EXPECT_EQ(compared.folder.parent_path(), "runs");
  EXPECT_TRUE(compared.folder.filename().string().starts_with("two-2")) << compared.folder;
  EXPECT_TRUE(fs::exists(compared.folder / "summary.csv"));
}

TEST_F(Comparison, ChecksEveryConfigBeforeTheFirstRun) {
  RunSet bad = two();
  bad.runs[1].config = Config::from_json(
      [&] {
        json tree = bad.runs[1].config.tree();
        tree["codec"]["kind"] = "qsgd";  // dgd sends uncompressed rows only
        return tree;
      }(),
      ".");
  try {
    compare(bad, into("out"));
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("DGD: codec.kind")) << e.what();
  }
  EXPECT_FALSE(fs::exists("out"));
}

TEST_F(Comparison, LeavesNoFilesIfItsDataCannotBeRead) {
  EXPECT_THROW(compare(two({"problem.data=csv:none.csv"}), into("out")), FormatError);
  EXPECT_FALSE(fs::exists("out"));
}

TEST_F(Comparison, TellsWhichRunDivergedAndEndsTheOthers) {
  RunSet set = two();
  json tree = set.runs[0].config.tree();
  tree["algorithm"]["eta"] = 1e30;
  set.runs[0].config = Config::from_json(tree, ".");
  const Compared compared = compare(set, into("out"));
  EXPECT_NE(compared.runs[0].diverged.find("eta"), std::string::npos) << compared.runs[0].diverged;
  EXPECT_EQ(compared.runs[1].diverged, "");
}

TEST_F(Comparison, OfDivergedRunsAloneThrowsAndReportsThem) {
  try {
    compare(two({"algorithm.eta=1e30"}), into("out"));
    ADD_FAILURE() << "accepted";
  } catch (const EveryRunDiverged& e) {
    EXPECT_STREQ(e.what(), "diverged: every run");
    EXPECT_EQ(e.compared.runs.size(), 2u);
    EXPECT_EQ(e.compared.collection.runs.size(), 2u);
    EXPECT_TRUE(fs::exists("out/summary.csv"));
  }
}

}  // namespace
}  // namespace ticopd
