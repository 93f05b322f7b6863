// Reports of runs that go on, were killed or have not begun, and of searches.
#include <chrono>
#include <memory>
#include <thread>

#include "report/folders.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/report/search_folder.hpp"

namespace ticopd {
namespace {

using Unfinished = Folders;

std::vector<std::string> only(const std::filesystem::path& folder) {
  return {folder.string()};
}

TEST_F(Unfinished, ARunIsRunningWhileItsFolderIsHeldAndStoppedAfterwards) {
  const auto folder = made_up("run", "a", {{"0", "1", ""}}, "ticopd", 8, "running");
  {
    FolderClaim claim(folder);
    claim.hold();
    EXPECT_EQ(read_folders(only(folder)).runs[0].status(), "running");
    EXPECT_EQ(read_folders(only(folder)).runs[0].word("/reason"), "");
  }
  EXPECT_EQ(read_folders(only(folder)).runs[0].status(), "stopped");
  EXPECT_EQ(read_folders(only(folder)).runs[0].word("/reason"),
            "its process ended; go on with --resume");
}

TEST_F(Unfinished, LookingAtAFolderDoesNotKeepARunFromBeginningThere) {
  const auto folder = made_up("run", "a", {{"0", "1", ""}});
  auto glance = std::make_unique<FolderGlance>(folder);
  EXPECT_FALSE(glance->in_use());
  EXPECT_FALSE(FolderGlance(folder).in_use());  // nor another look
  std::thread leaves([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    glance.reset();
  });
  FolderClaim claim(folder);
  EXPECT_NO_THROW(claim.hold());
  leaves.join();
  EXPECT_TRUE(FolderGlance(folder).in_use());
}

TEST_F(Unfinished, RunsWithoutARowAreMissingWithTheReason) {
  made_up("all/a", "a", {{"0", "1", ""}});
  made_up("all/b", "b", {});
  made_up("all/c", "c", {{"0", "1", ""}});
  std::filesystem::remove(base_ / "all/c/metrics.csv");
  write("all/compare.json",
        R"({"runs": [{"label": "A", "folder": "a"}, {"label": "B", "folder": "b"},
                     {"label": "C", "folder": "c"}, {"label": "D", "folder": "d"}]})");
  const Collection all = read_folders(only(base_ / "all"));
  ASSERT_EQ(all.runs.size(), 1u);
  ASSERT_EQ(all.missing.size(), 3u);
  EXPECT_NE(all.missing[0].find("B: "), std::string::npos);
  EXPECT_NE(all.missing[0].find("no row yet"), std::string::npos);
  EXPECT_NE(all.missing[1].find("no row yet"), std::string::npos);
  EXPECT_NE(all.missing[2].find("D: "), std::string::npos);
  EXPECT_NE(all.missing[2].find("not begun"), std::string::npos);
}

TEST_F(Unfinished, AReportLeavesTheUnfinishedFilesOfARunThatGoesOn) {
  const auto folder = made_up("run", "a", {{"0", "1", ""}}, "ticopd", 8, "running");
  FolderClaim claim(folder);
  claim.hold();
  write("run/metrics.csv.tmp", "half a file");
  const Collection all = read_folders(only(folder));
  write_report(folder, all.runs, all.options);
  EXPECT_TRUE(std::filesystem::exists(folder / "metrics.csv.tmp"));
}

const char* const search =
    R"({"config": {"algorithm": {"name": "ticopd"}, "codec": {"kind": "qsgd"}},
  "axes": ["alpha"], "metric": "loss_max", "rounds": 8, "budget_bits": 0.0})";

TEST_F(Unfinished, TheTrialsOfASearchAreRunsTheFurthestAndBestFirst) {
  write("search/search.json", search);
  write("search/trials.csv",
        "bracket,trial,iterations,spent,alpha,loss_max,bits_payload,rounds,status\n"
        "0,0,2,2,0.5,1.5,100,2,finished\n"
        "0,1,2,2,0.25,1.25,100,2,finished\n"
        "0,2,2,1,9,nan,nan,1,diverged\n"
        "0,1,8,6,0.25,0.75,400,8,finished\n");
  const Collection all = read_folders(only(base_ / "search"));
  ASSERT_EQ(all.runs.size(), 3u);
  EXPECT_EQ(all.runs[0].label, "trial 1: alpha = 0.25");
  EXPECT_EQ(all.runs[0].rows(), 2u);
  EXPECT_EQ(all.runs[0].status(), "finished");
  EXPECT_EQ(all.runs[0].column("loss_max").back(), 0.75);
  EXPECT_EQ(all.runs[0].column("bits_payload").back(), 400);
  EXPECT_FALSE(all.runs[0].has("consensus"));
  EXPECT_EQ(all.runs[0].field("/config/algorithm/alpha"), 0.25);
  EXPECT_EQ(all.runs[1].status(), "stopped");
  EXPECT_EQ(all.runs[2].status(), "diverged");
  EXPECT_NO_THROW(write_report(base_ / "out", all.runs, all.options));
}

TEST_F(Unfinished, ASearchOfManyTrialsShowsTheBestAndSaysHowManyAreLeftOut) {
  write("search/search.json", search);
  std::string text = "bracket,trial,iterations,spent,alpha,loss_max,bits_payload,rounds,status\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("0,{},2,2,0.5,{},100,2,finished\n", i, 50 - i);
  write("search/trials.csv", text);
  const Collection all = read_folders(only(base_ / "search"));
  ASSERT_EQ(all.runs.size(), 20u);
  EXPECT_TRUE(all.runs[0].label.starts_with("trial 49"));
  ASSERT_EQ(all.missing.size(), 1u);
  EXPECT_NE(all.missing[0].find("30 trials"), std::string::npos);
}

TEST_F(Unfinished, SearchesOfSeveralRunsAndDamagedOnes) {
  write("set/one/search.json", search);
  write("set/two/search.json", search);
  write("set/two/trials.csv",
        "bracket,trial,iterations,spent,alpha,loss_max,bits_payload,rounds,status\n"
        "0,0,2,2,0.5,1.5,100,2,finished\n");
  const Collection all = read_folders(only(base_ / "set"));
  ASSERT_EQ(all.runs.size(), 1u);
  EXPECT_EQ(all.runs[0].label, "two: trial 0: alpha = 0.5");
  ASSERT_EQ(all.missing.size(), 1u);
  EXPECT_NE(all.missing[0].find("one"), std::string::npos);
  for (const char* damaged :
       {"", "trial\n1\n", "trial,spent,bits_payload,rounds,status\n",
        "bracket,trial,iterations,spent,alpha,loss_max,bits_payload,rounds,status\n0,0,2\n",
        "bracket,trial,iterations,spent,alpha,loss_max,bits_payload,rounds,status\n"
        "0,x,2,2,0.5,1.5,100,2,finished\n"}) {
    write("set/two/trials.csv", damaged);
    EXPECT_THROW(read_folders(only(base_ / "set")), FormatError) << damaged;
  }
  write("set/two/search.json", "[]");
  EXPECT_THROW(read_folders(only(base_ / "set")), FormatError);
}

TEST_F(Unfinished, RowsFromARoundOnAreThoseOfTheWholeReport) {
  const Series run =
      read_series(made_up("run", "a", {{"0", "1", ""}, {"1", "nan", ""}, {"2", "0.5", ""}}));
  const std::vector<std::size_t> columns = shown_columns({&run, 1});
  const nlohmann::json whole = report_json({&run, 1}, {})["runs"][0],
                       rows = rows_json(run, columns, 1);
  EXPECT_EQ(rows["from"], 1);
  EXPECT_EQ(rows["iterations"], whole["iterations"]);
  EXPECT_EQ(rows["status"], "finished");
  for (std::size_t c = 0; c < columns.size(); ++c) {
    ASSERT_EQ(rows["metrics"][c].size(), 2u);
    EXPECT_EQ(rows["metrics"][c][0], whole["metrics"][c][1]);
    EXPECT_EQ(rows["metrics"][c][1], whole["metrics"][c][2]);
  }
}

}  // namespace
}  // namespace ticopd
