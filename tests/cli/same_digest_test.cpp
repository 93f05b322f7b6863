// The same config and seed give the same bits for any number of threads and ranks.
#include "cli/program.hpp"

namespace ticopd {
namespace {

class SameDigest : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    std::string toml = small_problem;
    toml.replace(toml.find("agents = 4"), 10, "agents = 10");
    write("small.toml", toml);
  }
};

TEST_F(SameDigest, AnyNumberOfThreadsAndRanksGivesTheSameDigest) {
  const auto digest = run("one", {"--threads", "1"})["digest"];
  const auto rows = metrics("one");
  int number = 0;
  for (const char* threads : {"2", "5"}) {
    const std::string name = "threads" + std::string(threads);
    EXPECT_EQ(run(name, {"--threads", threads})["digest"], digest) << threads << " threads";
    EXPECT_EQ(metrics(name), rows);
  }
  for (const char* ranks : {"1", "3", "10"}) {
    const std::string name = "ranks" + std::to_string(number++);
    EXPECT_EQ(run(name, {"--set", "network.transport=threads", "--set",
                         std::string("network.ranks=") + ranks})["digest"],
              digest)
        << ranks << " ranks";
    EXPECT_EQ(metrics(name), rows) << ranks << " ranks";
    EXPECT_EQ(read_text(folder_ / name / "final.npy"), read_text(folder_ / "one/final.npy"));
  }
}

TEST_F(SameDigest, MiniBatchesDependOnTheSeedAlone) {
  const Arguments batch{"--set", "problem.batch=3"};
  const auto digest = run("one", batch)["digest"];
  EXPECT_EQ(run("two", {"--set", "problem.batch=3", "--threads", "2"})["digest"], digest);
  EXPECT_EQ(
      run("three", {"--set", "problem.batch=3", "--set", "network.transport=threads"})["digest"],
      digest);
  EXPECT_NE(run("full")["digest"], digest);
  EXPECT_NE(run("four", {"--set", "problem.batch=3", "--set", "seed=2"})["digest"], digest);
}

TEST_F(SameDigest, VerifyReproducesTheDigest) {
  run("out");
  const auto before = snapshot();
  const Outcome o = ticopd({"verify", "out", "--threads", "1"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find(summary("out")["digest"].get<std::string>()), std::string::npos) << o.out;
  EXPECT_EQ(o.err, "");
  EXPECT_EQ(snapshot(), before);
}

TEST_F(SameDigest, VerifyReproducesTheDigestFromAnotherFolder) {
  write("data/points.csv", "0,1,2\n1,3,4\n0,1,3\n1,3,5\n0,2,2\n1,4,4\n");
  write("configs/csv.toml",
        "iterations = 5\n[problem]\nobjective = \"logistic\"\ndata = \"csv:../data/points.csv\"\n"
        "partition = \"iid\"\n[graph]\nkind = \"file\"\npath = \"edges.txt\"\nagents = 3\n"
        "[algorithm]\nname = \"dgd\"\neta = 0.1\n");
  write("configs/edges.txt", "0 1\n1 2\n");
  // Relative paths start at the folder of the TOML file, not at the working directory.
  const Outcome ran = ticopd({"run", "configs/csv.toml", "--out", "out", "--quiet"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::filesystem::create_directory(folder_ / "elsewhere");
  EXPECT_EQ(Program(folder_ / "elsewhere", {"verify", "../out"}).wait().code, 0);
}

TEST_F(SameDigest, EarlyRoundsEqualThoseOfALongerRun) {
  run("short", {"--set", "iterations=40"});
  run("long", {"--set", "iterations=400"});
  auto rows = metrics("short"), more = metrics("long");
  ASSERT_LT(rows.size(), more.size());
  rows.pop_back();  // the last round is logged because it is the last
  more.resize(rows.size());
  EXPECT_EQ(rows, more);
}

TEST_F(SameDigest, KeysOnTheCommandLineEqualKeysInTheFile) {
  std::string toml = small_problem;
  toml.replace(toml.find("agents = 4"), 10, "agents = 6");
  write("other.toml", "seed = 7\n" + toml + "beta = 0.5\n[log]\nevery = 4\n");
  const Outcome o = ticopd({"run", "other.toml", "--out", "file", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(run("set", {"--set", "graph.agents=6", "--set", "seed=7", "--set", "algorithm.beta=0.5",
                        "--set", "log.every=4", "--set", "codec.kind=\"qsgd\""})["digest"],
            summary("file")["digest"]);
  EXPECT_EQ(summary("set")["config"]["graph"]["agents"], 6);
}

}  // namespace
}  // namespace ticopd
