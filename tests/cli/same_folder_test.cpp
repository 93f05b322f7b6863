// Several programs at once: each has a folder of its own, or is told that the folder is in use.
#include <memory>

#include "cli/program.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

class SameFolder : public CommandLine {
 protected:
  // Long enough to be still running when the other programs start.
  Arguments long_run(const Arguments& more = {}) const {
    Arguments all{"run",   "small.toml",       "--out", "out",
                  "--set", "iterations=40000", "--set", "checkpoint.every=2000"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  void expect_refused(const Arguments& arguments) const {
    const Outcome o = ticopd(arguments);
    EXPECT_EQ(o.code, 64) << o.err;
    EXPECT_NE(o.err.find("out: another ticopd is using it"), std::string::npos) << o.err;
    EXPECT_EQ(lines_of(o.err).size(), 1u) << o.err;
  }
};

TEST_F(SameFolder, RunsThatStartInTheSameSecondGetDifferentFolders) {
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 6; ++i)
    programs.push_back(
        std::make_unique<Program>(folder_, Arguments{"run", "small.toml", "--json"}));
  for (const auto& p : programs) EXPECT_EQ(p->wait().code, 0);
  int folders = 0;
  for (const auto& e : fs::directory_iterator(folder_ / "runs")) {
    EXPECT_TRUE(fs::exists(e.path() / "run.json")) << e.path();
    ++folders;
  }
  EXPECT_EQ(folders, 6);
}

TEST_F(SameFolder, FolderIsLockedDuringARunAndFreeAfterItsDeath) {
  Program first(folder_, long_run());
  ASSERT_TRUE(first.wait_for(folder_ / "out/checkpoint.safetensors"));
  first.signal(SIGSTOP);  // so that it still runs when the others start
  expect_refused(long_run());
  expect_refused(long_run({"--resume"}));
  first.signal(SIGKILL);
  first.signal(SIGCONT);
  first.wait();
  const Outcome resumed = ticopd(long_run({"--resume"}));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(snapshot("out").size(), 5u);  // the lock leaves no file
}

TEST_F(SameFolder, FolderIsLockedForCompareAndTuneToo) {
  const auto refused_once_there = [&](const std::string& command, const char* file) {
    Arguments words{command, "small.toml", "--out", "out", "--set", "iterations=100000"};
    Program first(folder_, words);
    ASSERT_TRUE(first.wait_for(folder_ / file));
    first.signal(SIGSTOP);
    words.push_back("--resume");
    expect_refused(words);
    first.signal(SIGKILL);
    first.wait();
    fs::remove_all(folder_ / "out");
  };
  refused_once_there("compare", "out/small/metrics.csv");
  refused_once_there("tune", "out/search.json");
}

TEST_F(SameFolder, FailedRunRemovesItsNewFolderAndParents) {
  const auto before = snapshot();
  for (const Arguments& where : {Arguments{}, Arguments{"--out", "a/b/c"}}) {
    Arguments all{"run", "small.toml", "--set", "problem.data=csv:none.csv"};
    all.insert(all.end(), where.begin(), where.end());
    EXPECT_EQ(ticopd(all).code, 65);
    EXPECT_EQ(snapshot(), before);
  }
}

}  // namespace
}  // namespace ticopd
