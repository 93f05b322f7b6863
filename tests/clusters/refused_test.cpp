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
