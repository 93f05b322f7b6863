// --resume --set iterations=N makes a finished run longer: it ends as a run of N rounds does.
#include <csignal>

#include "cli/program.hpp"
#include "hostile/checkpoint_file.hpp"

namespace ticopd {
namespace {

class LongerRun : public CommandLine {
 protected:
  static Arguments with(Arguments all, const Arguments& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Arguments run_of(int iterations, const std::string& out, const Arguments& more = {}) const {
    return with({"run", "small.toml", "--quiet", "--out", out, "--set",
                 "iterations=" + std::to_string(iterations)},
                more);
  }

  void expect_same(const std::string& longer, const std::string& whole) const {
    EXPECT_EQ(summary(longer)["status"], "finished");
    EXPECT_EQ(summary(longer)["digest"], summary(whole)["digest"]);
    EXPECT_EQ(summary(longer)["config"], summary(whole)["config"]);
    EXPECT_EQ(summary(longer)["ledger"], summary(whole)["ledger"]);
    EXPECT_EQ(metrics(longer), metrics(whole));
    EXPECT_EQ(read_text(folder_ / longer / "final.npy"), read_text(folder_ / whole / "final.npy"));
  }

  void expect_refused(const Arguments& arguments, const std::vector<std::string>& says) const {
    const auto before = snapshot();
    const Outcome o = ticopd(arguments);
    EXPECT_EQ(o.code, 78) << o.err;
    for (const std::string& part : says)
      EXPECT_NE(o.err.find(part), std::string::npos) << "`" << part << "` is not in: " << o.err;
    EXPECT_EQ(snapshot(), before);
  }
};

TEST_F(LongerRun, EndsAsARunOfThatLengthForManyMethodsCodecsAndLogs) {
  const std::vector<Arguments> runs{
      {},
      {"--set", "codec.kind=top_k", "--set", "codec.fraction=0.2"},
      {"--set", "codec.coding=entropy", "--set", "precision=double"},
      {"--set", "log.every=10"},
      {"--set", "log.points=20", "--set", "checkpoint.every=7"},
      {"--set", "graph.drop=0.3", "--set", "problem.batch=8"},
      {"--set", "algorithm={name=\"beer\", eta=0.1, gamma=0.3}"},
      {"--set", "algorithm={name=\"choco_sgd\", eta=0.1, gamma=0.3}"},
      {"--set", "algorithm={name=\"lead\", eta=0.1, gamma=0.3, alpha=0.3}"},
      {"--set", "algorithm={name=\"cp_sgd\", eta=0.1, gamma=0.3, omega=0.1}"},
      {"--set", "algorithm={name=\"qdgd\", alpha=0.1, epsilon=0.3}"},
      {"--set", "algorithm={name=\"dgd\", eta={schedule=\"inverse_sqrt\", c=1.0, t0=10}}", "--set",
       "codec={kind=\"identity\"}"},
      {"--set", "network.transport=threads", "--set", "network.ranks=2"},
  };
  int number = 0;
  for (const Arguments& more : runs) {
    const std::string name = std::to_string(number++);
    const Outcome whole = ticopd(run_of(67, "whole" + name, more));
    ASSERT_EQ(whole.code, 0) << name << ": " << whole.err;
    ASSERT_EQ(ticopd(run_of(30, "cut" + name, more)).code, 0);
    ASSERT_NE(summary("cut" + name)["digest"], summary("whole" + name)["digest"]);
    const Outcome longer = ticopd(run_of(67, "cut" + name, with(more, {"--resume"})));
    ASSERT_EQ(longer.code, 0) << name << ": " << longer.err;
    expect_same("cut" + name, "whole" + name);
  }
}

TEST_F(LongerRun, LengthsThatAreLoggedAnywayAndSeveralSteps) {
  ASSERT_EQ(ticopd(run_of(100, "whole")).code, 0);
  ASSERT_EQ(ticopd(run_of(1, "cut")).code, 0);
  for (const int iterations : {10, 11, 57, 99, 100}) {
    const Outcome o = ticopd(run_of(iterations, "cut", {"--resume"}));
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(summary("cut")["iterations"], iterations);
  }
  expect_same("cut", "whole");
  EXPECT_EQ(ticopd({"verify", "cut"}).code, 0);
  EXPECT_EQ(ticopd({"audit", "cut"}).code, 0);
}

TEST_F(LongerRun, OtherThreadsAndRanks) {
  ASSERT_EQ(ticopd(run_of(60, "whole")).code, 0);
  ASSERT_EQ(ticopd(run_of(25, "cut", {"--set", "network.transport=threads"})).code, 0);
  ASSERT_EQ(ticopd(run_of(41, "cut", {"--resume", "--threads", "2"})).code, 0);
  const Outcome o = ticopd(run_of(
      60, "cut", {"--resume", "--set", "network.transport=threads", "--set", "network.ranks=4"}));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(summary("cut")["digest"], summary("whole")["digest"]);
  EXPECT_EQ(metrics("cut"), metrics("whole"));
}

TEST_F(LongerRun, SurvivesKillsAndCanBeMadeLongerWhileInterrupted) {
  const Arguments more{"--set", "checkpoint.every=500", "--set", "log.every=300"};
  ASSERT_EQ(ticopd(run_of(20000, "whole", more)).code, 0);
  ASSERT_EQ(ticopd(run_of(1000, "cut", more)).code, 0);
  for (const int iterations : {10000, 20000}) {  // the second goes on from an interrupted run
    const auto before = std::filesystem::last_write_time(folder_ / "cut/checkpoint.safetensors");
    Program program(folder_, run_of(iterations, "cut", with(more, {"--resume"})));
    while (!program.ended() &&
           std::filesystem::last_write_time(folder_ / "cut/checkpoint.safetensors") == before)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.signal(SIGKILL);
    program.wait();
  }
  const Outcome o = ticopd(run_of(20000, "cut", with(more, {"--resume"})));
  ASSERT_EQ(o.code, 0) << o.err;
  expect_same("cut", "whole");
}

TEST_F(LongerRun, AShorterLengthIsRefusedWithBothNumbers) {
  run("out");
  expect_refused(run_of(29, "out", {"--resume"}),
                 {"iterations is 29 now and was 30", "longer, not shorter"});
  std::filesystem::remove(folder_ / "out/run.json");  // then the checkpoint tells
  expect_refused(run_of(29, "out", {"--resume"}),
                 {"iterations is 29 now and was 30", "longer, not shorter"});
}

TEST_F(LongerRun, TheSameLengthLeavesTheFolderAsItIs) {
  run("out");
  const auto before = snapshot();
  EXPECT_EQ(ticopd(run_of(30, "out", {"--resume"})).code, 0);
  EXPECT_EQ(snapshot(), before);
}

TEST_F(LongerRun, AParameterThatFollowsFromTheLengthIsNamed) {
  for (const std::string given : {"", ", epsilon=0.3", ", alpha=0.1"}) {
    const Arguments qdgd{"--set", "algorithm={name=\"qdgd\"" + given + "}"};
    std::filesystem::remove_all(folder_ / "out");
    ASSERT_EQ(ticopd(run_of(30, "out", qdgd)).code, 0);
    expect_refused(run_of(60, "out", with(qdgd, {"--resume"})),
                   {"iterations is 60 now and was 30", "follows from it",
                    given == ", alpha=0.1" ? "algorithm.epsilon" : "algorithm.alpha"});
  }
}

TEST_F(LongerRun, WithoutACheckpointItIsRefused) {
  run("out");
  std::filesystem::remove(folder_ / "out/checkpoint.safetensors");
  expect_refused(run_of(60, "out", {"--resume"}), {"out", "no checkpoint"});
}

TEST_F(LongerRun, ACheckpointOfAnOlderVersionGoesOnOnlyAfterARoundThatIsLoggedAnyway) {
  const auto as_an_older_version = [&](const std::string& run) {
    CheckpointFile file(folder_ / run / "checkpoint.safetensors");
    file.notes().erase("before_last_row");
    file.save();
  };
  ASSERT_EQ(ticopd(run_of(60, "whole", {"--set", "log.every=10"})).code, 0);
  for (const int length : {25, 40}) {
    std::filesystem::remove_all(folder_ / "out");
    ASSERT_EQ(ticopd(run_of(length, "out", {"--set", "log.every=10"})).code, 0);
    as_an_older_version("out");
    const Arguments longer = run_of(60, "out", {"--set", "log.every=10", "--resume"});
    if (length == 25)
      expect_refused(longer, {"out/checkpoint.safetensors", "older version", "round 25"});
    else
      ASSERT_EQ(ticopd(longer).code, 0);
  }
  expect_same("out", "whole");
}

TEST_F(LongerRun, ADamagedNoteIsRefused) {
  for (const char* note : {"7", "{}", R"({"digest": "1", "logged": -1})",
                           R"({"digest": "1", "logged": 30})", R"({"digest": "zz"})"}) {
    std::filesystem::remove_all(folder_ / "out");
    ASSERT_EQ(ticopd(run_of(30, "out", {"--set", "log.every=7"})).code, 0);
    CheckpointFile file(folder_ / "out/checkpoint.safetensors");
    file.notes()["before_last_row"] = note;
    file.save();
    const auto before = snapshot();
    const Outcome o = ticopd(run_of(60, "out", {"--set", "log.every=7", "--resume"}));
    EXPECT_EQ(o.code, 65) << note << ": " << o.err;
    EXPECT_EQ(snapshot(), before);
  }
}

TEST_F(LongerRun, AnotherConfigIsStillRefused) {
  run("out");
  expect_refused(run_of(60, "out", {"--resume", "--set", "algorithm.eta=0.05"}),
                 {"algorithm.eta is 0.05 now and was 0.03"});
  expect_refused(run_of(60, "out", {"--resume", "--set", "log.every=7"}), {"log.every"});
}

TEST_F(LongerRun, ADivergedRunStaysDiverged) {
  const Arguments wild{"--set", "problem.objective=least_squares",
                       "--set", "algorithm.alpha=50",
                       "--set", "algorithm.beta=0.5"};
  ASSERT_EQ(ticopd(run_of(1000, "out", wild)).code, 76);
  const auto before = snapshot();
  EXPECT_EQ(ticopd(run_of(2000, "out", with(wild, {"--resume"}))).code, 76);
  EXPECT_EQ(snapshot(), before);
}

TEST_F(LongerRun, AComparisonBecomesLongerRunByRun) {
  write("two.toml", small_problem + R"([[run]]
label = "four bits"
codec.bits = 4
[[run]]
label = "beer"
algorithm = {name = "beer", eta = 0.1, gamma = 0.3}
)");
  const auto compare = [&](int iterations, const std::string& out, const Arguments& more = {}) {
    return ticopd(with({"compare", "two.toml", "--quiet", "--out", out, "--set",
                        "iterations=" + std::to_string(iterations)},
                       more));
  };
  ASSERT_EQ(compare(50, "whole").code, 0);
  ASSERT_EQ(compare(20, "cut").code, 0);
  const Outcome o = compare(50, "cut", {"--resume"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (const std::string name : {"four-bits", "beer"}) expect_same("cut/" + name, "whole/" + name);
  const auto before = snapshot();
  const Outcome shorter = compare(30, "cut", {"--resume"});
  EXPECT_EQ(shorter.code, 78) << shorter.err;
  EXPECT_NE(shorter.err.find("iterations is 30 now and was 50"), std::string::npos) << shorter.err;
  EXPECT_EQ(snapshot(), before);
}

TEST_F(LongerRun, OneRunOfAComparisonThatCannotBeLongerIsNamedBeforeAnyGoesOn) {
  write("two.toml", small_problem + R"([[run]]
label = "four bits"
codec.bits = 4
[[run]]
label = "planned"
algorithm = {name = "qdgd"}
)");
  Arguments compare{"compare", "two.toml", "--quiet", "--out", "out"};
  ASSERT_EQ(ticopd(compare).code, 0);
  expect_refused(with(compare, {"--resume", "--set", "iterations=60"}),
                 {"out/planned", "algorithm.alpha follows from it"});
}

}  // namespace
}  // namespace ticopd
