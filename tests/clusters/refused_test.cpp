// Ranks that cannot run together are rejected at startup, with one line that names the difference.
#include "clusters/launched.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

class Startup : public Launched {
 protected:
  // Starts mpirun itself. Each rank goes through a script that can change what rank 1 does.
  Outcome started(int ranks, const std::string& rank_one, const Arguments& arguments) const {
    write("start", "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 1 ] && " + rank_one + "\nexec " +
                       places::binary() + " \"$@\" $more\n");
    std::filesystem::permissions(folder_ / "start", std::filesystem::perms::owner_all);
    std::string command = "cd '" + folder_.string() + "' && " + places::mpirun() +
                          " --oversubscribe --bind-to none -n " + std::to_string(ranks) +
                          " ./start";
    for (const std::string& a : arguments) command += " '" + a + "'";
    const int status = std::system((command + " > out.txt 2> err.txt").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            read_text(folder_ / "out.txt"), read_text(folder_ / "err.txt")};
  }

  void expect_refused(const std::string& rank_one, const std::string& named) const {
    const Outcome o = started(3, rank_one, {"run", "small.toml", "--out", "out"});
    EXPECT_EQ(o.code, 78) << o.err;
    EXPECT_NE(o.err.find("rank 1 on "), std::string::npos) << o.err;
    EXPECT_NE(o.err.find(named), std::string::npos) << o.err;
    const auto first = o.err.find("ticopd: ");
    EXPECT_EQ(o.err.find("ticopd: ", first + 1), std::string::npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  }
};

TEST_F(Startup, AcceptsRanksThatAgree) {
  EXPECT_EQ(started(3, "more=--quiet", {"run", "small.toml", "--out", "out"}).code, 0);
}

TEST_F(Startup, RejectsAnotherConfigOnOneRank) {
  expect_refused("more='--set seed=2'", "seed");
  expect_refused("more='--set algorithm.alpha=0.07'", "algorithm.alpha");
  expect_refused("more='--set log.every=7'", "log.every");
  expect_refused("more='--set checkpoint.every=7'", "checkpoint.every");
}

TEST_F(Startup, RejectsAnotherKernelOnOneRank) {
  expect_refused("export TICOPD_KERNEL=plain", "kernel");
}

// Each rank reads its own files here: those of rank 1 lie in another folder.
class OtherFiles : public Startup {
 protected:
  static std::string csv_text(int seed) {
    std::string text;
    for (int i = 0; i < 40; ++i)
      text += std::to_string(i % 4) + "," + std::to_string((i * 7 + seed) % 10) + "," +
              std::to_string(i % 3) + "\n";
    return text;
  }
  void SetUp() override {
    Startup::SetUp();
    std::string toml = small_problem;
    for (const char* key : {"samples = 200\n", "features = 6\n", "classes = 4\n"})
      toml.erase(toml.find(key), std::string(key).size());
    toml.replace(toml.find("\"synthetic\""), 11, "\"csv:data.csv\"\ntest = \"test.csv\"");
    toml.replace(toml.find("agents = 4"), 10, "agents = 4\nkind = \"file\"\npath = \"edges.txt\"");
    for (const std::string place : {"", "other/"}) {
      write(place + "small.toml", toml);
      write(place + "data.csv", csv_text(0));
      write(place + "test.csv", csv_text(3));
      write(place + "edges.txt", "0 1\n1 2\n2 3\n3 0\n");
    }
  }
  Outcome started_apart() const {
    return started(2, "cd other", {"run", "small.toml", "--out", (folder_ / "out").string()});
  }
  void expect_named(const std::string& named) const {
    const Outcome o = started_apart();
    EXPECT_EQ(o.code, 78) << o.err;
    EXPECT_NE(o.err.find("rank 1 on "), std::string::npos) << o.err;
    EXPECT_NE(o.err.find(named), std::string::npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  }
};

TEST_F(OtherFiles, ThatAreEqualAreAccepted) {
  const Outcome o = started_apart();
  EXPECT_EQ(o.code, 0) << o.err;
}

TEST_F(OtherFiles, WithOtherTestSamplesAreRejected) {
  write("other/test.csv", csv_text(4));
  expect_named("test");
}

TEST_F(OtherFiles, WithAnotherEdgeListAreRejected) {
  write("other/edges.txt", "0 1\n1 2\n2 3\n3 0\n0 2\n");
  expect_named("graph");
}

TEST_F(OtherFiles, WithOtherLabelsAreRejected) {
  std::string text = csv_text(0);
  text[0] = '1';
  write("other/data.csv", text);
  expect_named("labels");
}

// The ranks hold the samples of different agents, so what rank 1 read is compared when it resumes.
TEST_F(OtherFiles, WithOtherSamplesAreFoundWhenTheRunGoesOn) {
  ASSERT_EQ(started_apart().code, 0);
  std::filesystem::remove(folder_ / "out/run.json");
  std::filesystem::remove(folder_ / "out/final.npy");
  write("other/data.csv", csv_text(1));
  const Outcome o = started(2, "cd other",
                            {"run", "small.toml", "--out", (folder_ / "out").string(), "--resume"});
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_NE(o.err.find("agent "), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("data"), std::string::npos) << o.err;
}

TEST_F(Startup, RejectsResumeOnOneRankOnly) {
  const Outcome first = started(2, "true", {"run", "small.toml", "--out", "out"});
  ASSERT_EQ(first.code, 0) << first.err;
  const auto before = snapshot("out");
  const Outcome o = started(2, "more=--resume", {"run", "small.toml", "--out", "out"});
  EXPECT_TRUE(o.code == 64 || o.code == 78) << o.code << o.err;
  EXPECT_NE(o.err.find("--resume"), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("deadline"), std::string::npos) << o.err;
  EXPECT_EQ(snapshot("out"), before);
  write("new/", "");
  const Outcome fresh = started(2, "more=--resume", {"run", "small.toml", "--out", "new"});
  EXPECT_TRUE(fresh.code == 64 || fresh.code == 78) << fresh.code << fresh.err;
  EXPECT_NE(fresh.err.find("--resume"), std::string::npos) << fresh.err;
}

// mpirun explains at length that a process ended with a code, after our own message.
TEST_F(Startup, LaunchShowsOneLineAndNotMpirunsParagraphs) {
  const std::vector<std::pair<Arguments, int>> wrong{
      {{"--set", "problem={data=\"csv:none.csv\"}"}, 65},
      {{"--set", "codec.kind=sign", "--set", "codec.bits=3"}, 78},
      {{"--set", "algorithm.alpha=1e6", "--set", "algorithm.beta=0.5", "--quiet"}, 76}};
  for (const auto& [more, code] : wrong) {
    const Outcome o = ticopd(launch(3, "out", more));
    EXPECT_EQ(o.code, code) << o.err;
    int ours = 0;
    for (const std::string& line : lines_of(o.err))
      ours +=
          line.starts_with("ticopd: ") || line.find("warning: ") != std::string::npos ? 1 : 1000;
    EXPECT_LT(ours, 10) << o.err;
    EXPECT_NE(o.err.find("ticopd: "), std::string::npos) << o.err;
    for (const char* theirs : {"-----", "mpirun", "Primary job", "MPI_ABORT", "ORTE", "Hydra"})
      EXPECT_EQ(o.err.find(theirs), std::string::npos) << o.err;
  }
}

// Without the deadline the others would wait inside MPI, where no exception can reach them.
TEST_F(Startup, GivesUpOnAProcessThatNeverArrives) {
  const Outcome o = started(2, "exec sleep 100",
                            {"run", "small.toml", "--out", "out", "--set", "network.deadline_s=2"});
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_NE(o.err.find("network.deadline_s"), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(Startup, RejectsMoreRanksThanAgents) {
  const Outcome o = ticopd(launch(5, "out"));
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_NE(o.err.find("1 to 4, the number of agents"), std::string::npos) << o.err;
}

TEST_F(Startup, RejectsCommandsThatCannotRunOverRanks) {
  const Outcome o = started(3, "true", {"list", "algorithms"});
  EXPECT_EQ(o.code, 64) << o.err;
  EXPECT_EQ(o.out, "");
}

TEST_F(Startup, RejectsThreadRanksUnderMpirun) {
  const Outcome o = ticopd(launch(2, "out", {"--set", "network.transport=threads"}));
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_NE(o.err.find("network.transport"), std::string::npos) << o.err;
}

TEST_F(Startup, RejectsAFolderThatIsNotEmpty) {
  write("out/other", "text");
  const Outcome o = ticopd(launch(2, "out"));
  EXPECT_EQ(o.code, 64) << o.err;
  EXPECT_EQ(read_text(folder_ / "out/other"), "text");
}

TEST_F(Startup, DivergenceEndsAllRanksWithOneExitCode) {
  const Outcome o =
      ticopd(launch(3, "out", {"--set", "algorithm.alpha=1e6", "--set", "algorithm.beta=0.5"}));
  EXPECT_EQ(o.code, 76) << o.err;
  EXPECT_EQ(summary("out")["status"], "diverged");
}

}  // namespace
}  // namespace ticopd
