// A signal is heard soon whatever the program does, and its children end with it.
#include <sys/file.h>
#include <sys/stat.h>

#include <csignal>

#include "hostile/hostile.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int watchdog_s = 30;  // a busy machine; the programs would need minutes or for ever

class Signals : public Hostile {
 protected:
  static bool alive(pid_t pid) { return ::kill(pid, 0) == 0 && !is_zombie(pid); }
  static bool is_zombie(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t name = text.rfind(')');
    return name == std::string::npos || text.substr(name).starts_with(") Z");
  }
  pid_t pid_in(const std::string& file) const {
    EXPECT_TRUE(within(watchdog_s, [&] {
      return fs::exists(folder_ / file) && fs::file_size(folder_ / file) > 0;
    }));
    return std::stoi(read_text(folder_ / file));
  }
  std::string sleeping(const std::string& pid_file) const {
    return "echo $$ > '" + (folder_ / (pid_file + ".new")).string() + "'\nmv '" +
           (folder_ / (pid_file + ".new")).string() + "' '" + (folder_ / pid_file).string() +
           "'\nexec sleep 600\n";
  }
};

// 10,000 agents on many samples: the first row of metrics alone takes minutes.
const std::string many_agents = R"(iterations = 5
[problem]
objective = "softmax"
data = "synthetic"
samples = 40000
features = 60
classes = 10
partition = "iid"
[graph]
agents = 10000
[codec]
kind = "qsgd"
[algorithm]
name = "choco_sgd"
eta = 0.03
gamma = 0.3
)";

class ManyAgents : public Signals {
 protected:
  void SetUp() override {
    Signals::SetUp();
    write("many.toml", many_agents);
  }
  // Sends the signal while round 0 is measured.
  Outcome interrupted(int number, const Arguments& more) const {
    Arguments all{"run", "many.toml", "--out", "out", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    Program program(folder_, all);
    EXPECT_TRUE(program.wait_for(folder_ / "out/run.json"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // now it measures
    EXPECT_FALSE(program.ended());
    program.signal(number);
    return ended_within(watchdog_s, program);
  }
};

TEST_F(ManyAgents, StopWhileTheyAreMeasured) {
  const Outcome o = interrupted(SIGTERM, {});
  EXPECT_EQ(o.code, 75) << o.err;
  expect_says(o.err, {"interrupted", "--resume --out out"});
  EXPECT_EQ(summary("out")["status"], "interrupted");
  expect_no_leftovers("out");
  // It goes on, and ends if it is not asked for more than a row can be measured of.
  const Outcome again = ticopd({"run", "many.toml", "--out", "out", "--resume", "--quiet", "--set",
                                "log.samples=20", "--set", "log.agents=2"});
  EXPECT_EQ(again.code, 78) << again.err;  // other metrics are another metrics.csv
}

TEST_F(ManyAgents, StopOverRanksWhileTheyAreMeasured) {
  const Outcome o =
      interrupted(SIGINT, {"--set", "network.transport=threads", "--set", "network.ranks=2"});
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_EQ(summary("out")["status"], "interrupted");
  expect_no_leftovers("out");
}

// The interrupted row is measured when the run goes on: nothing is lost or logged twice.
TEST_F(ManyAgents, GoOnWithTheRowThatWasInterrupted) {
  const std::string smaller = with(with(many_agents, "agents = 10000", "agents = 300"),
                                   "samples = 40000", "samples = 20000");
  write("many.toml", smaller);
  const Outcome o = interrupted(SIGTERM, {"--set", "log.every=1"});
  if (o.code == 0) GTEST_SKIP() << "the machine was faster than the signal";
  ASSERT_EQ(o.code, 75) << o.err;
  const Arguments words{"run", "many.toml", "--quiet", "--set", "log.every=1", "--out"};
  Arguments again = words, whole = words;
  again.insert(again.end(), {"out", "--resume"});
  whole.emplace_back("whole");
  ASSERT_EQ(ticopd(again).code, 0);
  ASSERT_EQ(ticopd(whole).code, 0);
  EXPECT_EQ(metrics("out"), metrics("whole"));
  EXPECT_EQ(summary("out")["digest"], summary("whole")["digest"]);
}

class SleepingGnuplot : public Signals {
 protected:
  void SetUp() override {
    Signals::SetUp();
    write_gnuplot(sleeping("gnuplot.pid"), "sleeping");
    write("two.toml", small_problem + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\nseed = 2\n");
    environment["TICOPD_GNUPLOT"] = folder_ / "sleeping";
  }
  void expect_stops(const Arguments& words, const std::string& out) {
    for (const int number : {SIGTERM, SIGINT}) {
      fs::remove(folder_ / "gnuplot.pid");
      Program program(folder_, words, environment);
      const pid_t child = pid_in("gnuplot.pid");
      program.signal(number);
      const Outcome o = ended_within(watchdog_s, program);
      EXPECT_EQ(o.code, 75) << o.err;
      expect_says(o.err, {"interrupted"});
      EXPECT_TRUE(within(watchdog_s, [&] { return !alive(child); })) << words[0];
      expect_no_leftovers();
      EXPECT_FALSE(fs::exists(folder_ / out / "figure.svg"));
      if (words[0] != "report") fs::remove_all(folder_ / out);
    }
  }
  std::map<std::string, std::string> environment;
};

TEST_F(SleepingGnuplot, StopsAReportOnASignal) {
  run("one");
  expect_stops({"report", "one"}, "one");
}

TEST_F(SleepingGnuplot, StopsAComparisonOnASignal) {
  expect_stops({"compare", "two.toml", "--out", "out", "--quiet"}, "out");
}

TEST_F(SleepingGnuplot, StopsASearchOnASignal) {
  expect_stops({"tune", "small.toml", "--out", "out", "--runs", "2"}, "out");
}

TEST_F(SleepingGnuplot, InterruptedComparisonGoesOnWithItsFigure) {
  Program program(folder_, {"compare", "two.toml", "--out", "out", "--quiet"}, environment);
  pid_in("gnuplot.pid");
  program.signal(SIGTERM);
  const Outcome o = ended_within(watchdog_s, program);
  ASSERT_EQ(o.code, 75) << o.err;
  expect_says(o.err, {"go on with: ticopd compare two.toml"});
  const Outcome again = ticopd({"compare", "two.toml", "--out", "out", "--resume", "--quiet"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(fs::exists(folder_ / "out/summary.csv"));
}

TEST_F(SleepingGnuplot, EndsWithTheProgramThatIsKilled) {
  run("one");
  pid_t child = 0;
  {
    Program program(folder_, {"report", "one"}, environment);
    child = pid_in("gnuplot.pid");
    EXPECT_TRUE(alive(child));
    program.signal(SIGKILL);
    EXPECT_EQ(program.wait().code, 128 + SIGKILL);
  }
  EXPECT_TRUE(within(watchdog_s, [&] { return !alive(child); })) << "gnuplot lives on";
  // The scratch folder of the killed program is removed by the next one.
  environment.clear();
  EXPECT_EQ(ticopd({"report", "one"}, {{"TICOPD_GNUPLOT", "/bin/false"}}).code, 0);
  expect_no_leftovers();
}

class SleepingFetch : public Signals {};

TEST_F(SleepingFetch, StopsOnASignal) {
  write("bin/", "");
  write_script("bin/npm", sleeping("npm.pid"));
  for (const Arguments& words : std::vector<Arguments>{
           {"data", "fetch", "mnist"},
           {"run", "small.toml", "--out", "out", "--set", "problem={data=\"mnist\"}"}}) {
    fs::remove(folder_ / "npm.pid");
    Program program(
        folder_, words,
        {{"XDG_CACHE_HOME", folder_}, {"PATH", (folder_ / "bin").string() + ":/usr/bin:/bin"}});
    const pid_t child = pid_in("npm.pid");
    program.signal(SIGTERM);
    const Outcome o = ended_within(watchdog_s, program);
    EXPECT_EQ(o.code, 75) << o.err;
    EXPECT_TRUE(within(watchdog_s, [&] { return !alive(child); }));
    EXPECT_FALSE(fs::exists(folder_ / "out"));
    expect_no_leftovers();
  }
}

TEST_F(SleepingFetch, StopsWhileItWaitsForAnotherFetch) {
  write("ticopd/mnist/lock", "");
  const int fd = ::open((folder_ / "ticopd/mnist/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  Program program(folder_, {"data", "fetch", "mnist"}, {{"XDG_CACHE_HOME", folder_}});
  program.wait_until_it_catches(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(program.ended());
  program.signal(SIGTERM);
  const Outcome o = ended_within(watchdog_s, program);
  ::close(fd);
  EXPECT_EQ(o.code, 75) << o.err;
}

class LongCommands : public Signals {};

TEST_F(LongCommands, VerifyStopsAndLeavesTheFolderAlone) {
  run("out", {"--set", "iterations=100000", "--set", "log.points=5"});
  json longer = summary("out");
  longer["config"]["iterations"] = 400000000;
  write("out/run.json", longer.dump());
  const Snapshot before = snapshot();
  Program program(folder_, {"verify", "out", "--quiet"});
  program.wait_until_it_catches(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  if (program.ended()) GTEST_SKIP() << "refused: " << program.wait().err;
  program.signal(SIGTERM);
  const Outcome o = ended_within(watchdog_s, program);
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_TRUE(snapshot() == before) << changes(before, snapshot());
}

TEST_F(LongCommands, TheoryStops) {
  Program program(folder_, {"theory", "small.toml", "--set", "iterations=4000000", "--set",
                            "theory.rounds=100000000"});
  Program plain(folder_, {"theory", "small.toml", "--set", "graph.agents=2000", "--set",
                          "problem.samples=200000"});
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  if (plain.ended()) GTEST_SKIP() << "too fast to be interrupted";
  plain.signal(SIGTERM);
  const Outcome o = ended_within(watchdog_s, plain);
  EXPECT_TRUE(o.code == 75 || o.code == 128 + SIGTERM) << o.code << o.err;
}

// Nobody writes to the pipe, so the program waits in a system call.
TEST_F(LongCommands, APipeThatSaysNothingIsLeftOnASignal) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const Arguments& words : std::vector<Arguments>{
           {"run", "pipe", "--out", "out"},
           {"run", "small.toml", "--out", "out", "--set", "problem={data=\"csv:pipe\"}"}}) {
    Program program(folder_, words);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (program.ended()) {  // pipes are refused, which is fine
      EXPECT_NE(program.wait().code, 70);
      continue;
    }
    program.signal(SIGTERM);
    const Outcome o = ended_within(watchdog_s, program);
    EXPECT_TRUE(o.code == 75 || o.code == 128 + SIGTERM) << o.code << o.err;
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
}

}  // namespace
}  // namespace ticopd
