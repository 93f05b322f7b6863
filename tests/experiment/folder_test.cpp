// The run folder: which files it keeps and rejects, and that files appear only when complete.
#include "ticopd/experiment/folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "ticopd_folder_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((base_ / name).parent_path());
    std::ofstream(base_ / name) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(base_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string with_header(const std::string& rows) { return csv_header() + "\n" + rows; }

  fs::path base_;
};

TEST_F(RunFolderTest, MayBeNewOrEmptyButNotInUse) {
  EXPECT_NO_THROW(RunFolder(base_ / "new").refuse_if_taken(false));
  EXPECT_FALSE(fs::exists(base_ / "new"));
  fs::create_directory(base_ / "empty");
  EXPECT_NO_THROW(RunFolder(base_ / "empty").refuse_if_taken(false));
  write("full/notes.txt", "mine");
  EXPECT_THROW(RunFolder(base_ / "full").refuse_if_taken(false), UsageError);
  EXPECT_THROW(RunFolder(base_ / "full").refuse_if_taken(true), UsageError);  // no run in it
  write("full/metrics.csv", "mine,too\n");
  EXPECT_THROW(RunFolder(base_ / "full").refuse_if_taken(true), UsageError);
  write("full/metrics.csv", with_header(""));
  EXPECT_THROW(RunFolder(base_ / "full").refuse_if_taken(false), UsageError);
  EXPECT_NO_THROW(RunFolder(base_ / "full").refuse_if_taken(true));
  EXPECT_THROW(RunFolder(base_ / "full/notes.txt").refuse_if_taken(true), UsageError);
}

TEST_F(RunFolderTest, BelongsToOneRunAtATime) {
  {
    RunFolder first(base_ / "a/run"), second(base_ / "a/run");
    first.claim(false);
    EXPECT_THROW(second.claim(false), UsageError);
    EXPECT_THROW(second.claim(true), UsageError);
    EXPECT_TRUE(fs::exists(base_ / "a/run"));
  }
  EXPECT_FALSE(fs::exists(base_ / "a"));  // removed, since no run wrote to it
  RunFolder third(base_ / "a/run");
  third.claim(false);
  third.write_summary({{"status", "finished"}});
  EXPECT_EQ(std::distance(fs::directory_iterator(base_ / "a/run"), {}), 1);  // no lock file
}

TEST_F(RunFolderTest, BelongsToTheHolderOfItsLockNotToItsCreator) {
  FolderClaim second(base_ / "run");
  {
    FolderClaim first(base_ / "other");
    FolderClaim quicker(base_ / "other");
    quicker.hold();
    EXPECT_THROW(first.hold(), UsageError);
  }
  EXPECT_TRUE(fs::exists(base_ / "other"));  // its holder may still write to it
  fs::remove(base_ / "run");                 // by a run that failed in the meantime
  second.hold();
  EXPECT_TRUE(fs::exists(base_ / "run"));
}

TEST_F(RunFolderTest, UsedNameGetsANumber) {
  const FolderClaim first = FolderClaim::unused(base_ / "runs/x");
  const FolderClaim second = FolderClaim::unused(base_ / "runs/x");
  EXPECT_EQ(first.path(), base_ / "runs/x");
  EXPECT_EQ(second.path(), base_ / "runs/x-2");
  EXPECT_TRUE(fs::is_directory(second.path()));
}

TEST_F(RunFolderTest, CannotBeCreatedBelowAFile) {
  write("file", "mine");
  EXPECT_THROW(RunFolder(base_ / "file/run").create(), DiskError);
}

TEST_F(RunFolderTest, IsRemovedIfARunFailsBeforeItLogs) {
  RunFolder nothing(base_ / "new");
  nothing.create();
  nothing.abandon();
  EXPECT_FALSE(fs::exists(base_ / "new"));
  RunFolder something(base_ / "new");
  something.create();
  something.add_metrics("0,a");
  something.abandon();
  EXPECT_EQ(read("new/metrics.csv"), with_header("0,a\n"));
  fs::create_directory(base_ / "mine");  // empty, but it existed before, so it must stay
  RunFolder given(base_ / "mine");
  given.create();
  given.abandon();
  EXPECT_TRUE(fs::exists(base_ / "mine"));
  RunFolder resumed(base_ / "new");  // it has read nothing yet, so existing files stay
  resumed.create();
  resumed.abandon();
  EXPECT_EQ(read("new/metrics.csv"), with_header("0,a\n"));
}

TEST_F(RunFolderTest, PublishesRowsInOrderUnderTheHeader) {
  RunFolder folder(base_ / "run");
  folder.create();
  for (const char* row : {"0,a", "1,b", "2,c"}) folder.add_metrics(row);
  folder.publish_metrics(true);
  EXPECT_EQ(read("run/metrics.csv"), with_header("0,a\n1,b\n2,c\n"));
}

std::string row(int round) {
  return std::to_string(round) + std::string(13, ',') + "0.125\n";
}

TEST_F(RunFolderTest, KeepsTheRowsLoggedUpToTheCheckpoint) {
  for (const std::string& end : {row(10), row(10).substr(0, 6), std::string("1"), std::string()}) {
    write("run/metrics.csv", with_header(row(0) + row(1) + row(5) + end));
    RunFolder folder(base_ / "run");
    folder.keep_metrics(6, 5);
    folder.add_metrics("7,e");
    folder.publish_metrics(true);
    EXPECT_EQ(read("run/metrics.csv"), with_header(row(0) + row(1) + row(5) + "7,e\n")) << end;
  }
}

// Stopped while round 6 was measured, resumed, and killed after its row was written.
TEST_F(RunFolderTest, DropsTheRowOfTheCheckpointsRoundIfTheRunStillHasToLogIt) {
  write("run/metrics.csv", with_header(row(0) + row(5) + row(6)));
  RunFolder folder(base_ / "run");
  folder.keep_metrics(6, 5);
  folder.add_metrics("6,e");
  folder.publish_metrics(true);
  EXPECT_EQ(read("run/metrics.csv"), with_header(row(0) + row(5) + "6,e\n"));
}

TEST_F(RunFolderTest, RejectsForeignOrIncompleteMetrics) {
  const auto refuses = [&](const std::string& text, const std::string& why) {
    write("run/metrics.csv", text);
    try {
      RunFolder(base_ / "run").keep_metrics(6, 5);
      ADD_FAILURE() << text;
    } catch (const FormatError& e) {
      EXPECT_NE(std::string(e.what()).find("metrics.csv" + why), std::string::npos) << e.what();
    }
    EXPECT_EQ(read("run/metrics.csv"), text);
  };
  refuses("time,loss\n1,2\n", ":1: is not our header");
  refuses("", ":1: is not our header");
  refuses(with_header(""), ": round 5 is missing");
  refuses(with_header(row(0) + row(1)), ": round 5 is missing");
  refuses(with_header(row(0) + row(1) + row(5).substr(0, 17)), ": round 5 is missing");
  refuses(with_header(row(0) + "1,2\n" + row(5)), ":3: is not a row");
  refuses(with_header(row(0) + row(5) + row(5)), ":4: is not a row");
  refuses(with_header(row(0) + "x" + row(1) + row(5)), ":3: is not a row");
  fs::remove(base_ / "run/metrics.csv");
  EXPECT_THROW(RunFolder(base_ / "run").keep_metrics(6, 5), FormatError);
}

TEST_F(RunFolderTest, LeavesNoTemporaryFilesOfItsOwn) {
  write("run/notes.tmp", "mine");
  write("run/.metrics.csv.17.0.tmp", "half a ro");  // a run was killed here
  write("run/checkpoint.safetensors.tmp", "half");
  RunFolder folder(base_ / "run");
  folder.create();
  folder.add_metrics("0,a");
  folder.publish_metrics(true);
  folder.write_summary({{"status", "finished"}});
  std::vector<std::string> names;
  for (const auto& e : fs::directory_iterator(base_ / "run"))
    names.push_back(e.path().filename().string());
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"metrics.csv", "notes.tmp", "run.json"}));
}

TEST_F(RunFolderTest, ReadsASummaryOrNamesItsError) {
  EXPECT_FALSE(RunFolder(base_).read_summary().has_value());
  EXPECT_THROW(RunFolder::require_summary(base_), FormatError);
  const nlohmann::json whole = {{"config", nlohmann::json::object()},
                                {"status", "finished"},
                                {"digest", "00"},
                                {"config_folder", "."}};
  RunFolder(base_).write_summary(whole);
  EXPECT_EQ(RunFolder(base_).read_summary(), whole);
  for (const auto& [key, value] : whole.items()) {
    nlohmann::json damaged = whole;
    damaged[key] = 3;
    RunFolder(base_).write_summary(damaged);
    EXPECT_THROW(RunFolder::require_summary(base_), FormatError) << key;
    damaged.erase(key);
    RunFolder(base_).write_summary(damaged);
    EXPECT_THROW(RunFolder::require_summary(base_), FormatError) << key;
  }
}

TEST_F(RunFolderTest, RefusesASummaryWhoseLedgerIsNoTable) {
  const auto written = [&](const std::string& ledger) {
    std::ofstream(base_ / "run.json")
        << R"({"config": {}, "status": "running", "digest": "", "config_folder": "", "ledger": )"
        << ledger << "}";
    return RunFolder::require_summary(base_);
  };
  EXPECT_NO_THROW(written("{}"));
  for (const char* ledger : {"[]", "[[1]]", "7", "null", R"({"agents": {}})", R"({"agents": [1]})"})
    EXPECT_THROW(written(ledger), FormatError) << ledger;
}

}  // namespace
}  // namespace ticopd
