// Ctrl-C, SIGTERM, SIGHUP and kill -9 during a run: nothing is lost, and the resumed run ends with
// the same digest and metrics.
#include <csignal>

#include "cli/program.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

class Interruption : public CommandLine {
 protected:
  // Long enough that the signal hits the middle of the run; its duration is not tested.
  // Checkpoints fall on logged rounds, so a row that is lost or written twice would show.
  Arguments long_run(const std::string& out, const Arguments& more = {}) const {
    Arguments all{"run",   "small.toml",       "--out", out,
                  "--set", "iterations=40000", "--set", "checkpoint.every=2000",
                  "--set", "log.every=500"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Starts a run, sends the signal after the first checkpoint and returns the outcome. On a busy
  // machine the signal may come after the end; then it tries again.
  Outcome interrupted_by(int signal, const Arguments& more = {}) const {
    for (int attempt = 1;; ++attempt) {
      Program program(folder_, long_run("cut", more));
      EXPECT_TRUE(program.wait_for(folder_ / "cut/checkpoint.safetensors"));
      program.signal(signal);
      const Outcome o = program.wait();
      if (o.code != 0 || attempt == 10) return o;
      std::filesystem::remove_all(folder_ / "cut");
    }
  }

  void expect_same_as_uninterrupted(const Arguments& more = {}) const {
    Arguments resume = long_run("cut", {"--resume"});
    resume.insert(resume.end(), more.begin(), more.end());
    const Outcome resumed = ticopd(resume);
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    ASSERT_EQ(ticopd(long_run("whole")).code, 0);
    EXPECT_EQ(summary("cut")["digest"], summary("whole")["digest"]);
    EXPECT_EQ(summary("cut")["ledger"], summary("whole")["ledger"]);
    EXPECT_EQ(metrics("cut"), metrics("whole"));
    EXPECT_EQ(read_text(folder_ / "cut/final.npy"), read_text(folder_ / "whole/final.npy"));
    for (const auto& [name, bytes] : snapshot("cut")) EXPECT_FALSE(name.ends_with(".tmp")) << name;
  }
};

TEST_F(Interruption, CtrlCSavesAndResumeReachesTheSameDigest) {
  const Outcome o = interrupted_by(SIGINT);
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_NE(o.err.find("--resume --out cut"), std::string::npos) << o.err;
  EXPECT_EQ(summary("cut")["status"], "interrupted");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cut/final.npy"));
  expect_same_as_uninterrupted();
}

TEST_F(Interruption, CtrlCPrintsAResumeCommandThatAShellCanRun) {
  write("it's a file.toml", small_problem);
  for (int attempt = 1;; ++attempt) {
    Program program(
        folder_, {"run", "it's a file.toml", "--out", "my run", "--set", "iterations=40000",
                  "--set", "checkpoint.every=1000", "--set", "report.title=\"it's\"", "--quiet"});
    ASSERT_TRUE(program.wait_for(folder_ / "my run/checkpoint.safetensors"));
    program.signal(SIGINT);
    const Outcome o = program.wait();
    if (o.code == 0 && attempt < 10) {  // the signal came too late
      std::filesystem::remove_all(folder_ / "my run");
      continue;
    }
    ASSERT_EQ(o.code, 75) << o.err;
    const std::string line = lines_of(o.err.substr(o.err.find("go on with: ") + 12)).at(0);
    ASSERT_TRUE(line.starts_with("ticopd ")) << line;
    const std::string command = "cd " + folder_.string() + " && " + places::binary() +
                                line.substr(6) + " > out.txt 2> err.txt";
    EXPECT_EQ(std::system(command.c_str()), 0) << line << read_text(folder_ / "err.txt");
    EXPECT_EQ(summary("my run")["status"], "finished");
    return;
  }
}

TEST_F(Interruption, SummaryNamesTheRoundOfEachFigure) {
  const Outcome o = interrupted_by(SIGINT);
  ASSERT_EQ(o.code, 75) << o.err;
  const auto rounds = summary("cut")["iterations"].get<std::uint32_t>();
  const std::uint32_t logged = rounds - rounds % 500;
  const std::string at = rounds == logged ? "" : "at round " + std::to_string(logged) + ": ";
  EXPECT_NE(o.out.find("interrupted after " + std::to_string(rounds) + " rounds"),
            std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("\n  " + at + "loss "), std::string::npos) << o.out;
  char sent[32];  // 36 bytes per message, one message per round
  const double bits = 8.0 * 36 * rounds;
  std::snprintf(sent, sizeof sent, "  sent %.1f %s per", bits / (bits < 1e6 ? 1e3 : 1e6),
                bits < 1e6 ? "kbit" : "Mbit");
  EXPECT_NE(o.out.find(sent), std::string::npos) << sent << " is not in: " << o.out;
}

TEST_F(Interruption, SigtermSavesAndResumeMayUseMoreRanks) {
  const Outcome o = interrupted_by(SIGTERM);
  EXPECT_EQ(o.code, 75) << o.err;
  expect_same_as_uninterrupted({"--set", "network.transport=threads", "--set", "network.ranks=3"});
}

TEST_F(Interruption, ClosingTheTerminalSavesToo) {
  const Outcome o = interrupted_by(SIGHUP);
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_EQ(summary("cut")["status"], "interrupted");
  expect_same_as_uninterrupted();
}

TEST_F(Interruption, ClosingTheTerminalIsIgnoredUnderNohup) {
  const auto before = std::signal(SIGHUP, SIG_IGN);  // as nohup leaves it
  Program program(folder_, long_run("cut"));
  std::signal(SIGHUP, before);
  ASSERT_TRUE(program.wait_for(folder_ / "cut/checkpoint.safetensors"));
  program.signal(SIGHUP);
  EXPECT_EQ(program.wait().code, 0);
  EXPECT_EQ(summary("cut")["status"], "finished");
}

TEST_F(Interruption, RunOverRanksResumesInOneProcess) {
  const Outcome o =
      interrupted_by(SIGINT, {"--set", "network.transport=threads", "--set", "network.ranks=2"});
  EXPECT_EQ(o.code, 75) << o.err;
  expect_same_as_uninterrupted();
}

TEST_F(Interruption, KilledRunResumesFromItsLastCheckpoint) {
  const Outcome o = interrupted_by(SIGKILL);
  EXPECT_EQ(o.code, 128 + SIGKILL);
  EXPECT_EQ(summary("cut")["status"], "running");
  write("cut/.metrics.csv.1.0.tmp",
        "iteration,bi");  // a kill in the middle of a write leaves such a file
  write("cut/checkpoint.safetensors.tmp", "half");
  expect_same_as_uninterrupted();
}

TEST_F(Interruption, ManyInterruptionsDoNotChangeTheResult) {
  EXPECT_EQ(interrupted_by(SIGINT).code, 75);
  for (const int signal : {SIGTERM, SIGKILL, SIGINT}) {
    Program program(folder_, long_run("cut", {"--resume"}));
    const auto saved = std::filesystem::last_write_time(folder_ / "cut/checkpoint.safetensors");
    while (!program.ended() &&
           std::filesystem::last_write_time(folder_ / "cut/checkpoint.safetensors") == saved)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.signal(signal);
    const int code = program.wait().code;
    EXPECT_TRUE(code == (signal == SIGKILL ? 128 + SIGKILL : 75) || code == 0)
        << code;  // 0: the signal came too late
  }
  expect_same_as_uninterrupted();
}

TEST_F(Interruption, ResumeWithoutACheckpointStartsFromTheBeginning) {
  run("whole");
  std::filesystem::create_directory(folder_ / "cut");
  write("cut/metrics.csv", read_text(folder_ / "whole/metrics.csv"));
  EXPECT_EQ(run("cut", {"--resume"})["digest"], summary("whole")["digest"]);
  EXPECT_EQ(metrics("cut"), metrics("whole"));
}

TEST_F(Interruption, CommandKilledWhileItWroteItsFirstFileStartsAgain) {
  for (const auto& [command, file] : {std::pair{"run", ".run.json.1.0.tmp"},
                                      {"compare", ".compare.json.1.0.tmp"},
                                      {"tune", ".search.json.1.0.tmp"}}) {
    SCOPED_TRACE(file);
    std::filesystem::remove_all(folder_ / "cut");
    write(std::string("cut/") + file, "{");
    const Outcome o = ticopd({command, "small.toml", "--out", "cut", "--resume"});
    EXPECT_EQ(o.code, 0) << o.err;
    for (const auto& [name, bytes] : snapshot("cut")) EXPECT_FALSE(name.ends_with(".tmp")) << name;
  }
}

TEST_F(Interruption, ResumeStillRefusesAFolderOfOtherFiles) {
  for (const char* command : {"run", "compare", "tune"}) {
    SCOPED_TRACE(command);
    std::filesystem::remove_all(folder_ / "cut");
    write("cut/.run.json.1.0.tmp", "{");
    write("cut/mine/thesis.txt", "years");
    const auto before = snapshot();
    EXPECT_EQ(ticopd({command, "small.toml", "--out", "cut", "--resume"}).code, 64);
    EXPECT_EQ(snapshot(), before);
  }
}

TEST_F(Interruption, BeerResumesWithAMessageInFlight) {
  write("small.toml", small_problem.substr(0, small_problem.find("[algorithm]")) +
                          "[algorithm]\nname = \"beer\"\neta = 0.05\ngamma = 0.2\n");
  EXPECT_EQ(interrupted_by(SIGINT).code, 75);
  expect_same_as_uninterrupted({"--set", "network.transport=threads", "--set", "network.ranks=2"});
}

TEST_F(Interruption, ResumeLeavesAFinishedRunUnchanged) {
  run("out");
  const auto before = snapshot();
  std::map<std::string, std::filesystem::file_time_type> times;
  for (const auto& e : std::filesystem::directory_iterator(folder_ / "out"))
    times[e.path().string()] = std::filesystem::last_write_time(e.path());
  const Outcome o = ticopd({"run", "small.toml", "--out", "out", "--resume"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find(summary("out")["digest"].get<std::string>()), std::string::npos) << o.out;
  EXPECT_EQ(snapshot(), before);
  for (const auto& [file, time] : times)
    EXPECT_EQ(std::filesystem::last_write_time(file), time) << file;
}

}  // namespace
}  // namespace ticopd
