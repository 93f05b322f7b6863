// Results that mean what they say: run.json from the start, verify, the cache of MNIST, and files
// of other programs.
#include <csignal>

#include "hostile/hostile.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class RunningSummary : public Hostile {
 protected:
  const Arguments long_run{
      "run",   "small.toml",           "--out", "out", "--quiet", "--set", "iterations=400000",
      "--set", "checkpoint.every=2000"};
};

TEST_F(RunningSummary, SaysRunningAndTheInputsUntilTheEnd) {
  Program program(folder_, long_run);
  ASSERT_TRUE(program.wait_for(folder_ / "out/checkpoint.safetensors"));
  const json running = summary("out");
  EXPECT_EQ(running["status"], "running");
  EXPECT_EQ(running["inputs"]["agents"].size(), 4u);
  EXPECT_EQ(running["config"]["iterations"], 400000);
  EXPECT_TRUE(running.contains("kernel"));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().code, 75);
  EXPECT_EQ(summary("out")["status"], "interrupted");
  EXPECT_EQ(summary("out")["inputs"], running["inputs"]);
}

// The folder of a killed run: every command says something sensible about it.
TEST_F(RunningSummary, OfAKilledRunIsReadByEveryCommand) {
  Program program(folder_, long_run);
  ASSERT_TRUE(program.wait_for(folder_ / "out/checkpoint.safetensors"));
  program.signal(SIGKILL);
  program.wait();
  EXPECT_EQ(summary("out")["status"], "running");
  EXPECT_NE(ticopd({"verify", "out"}).code, 0);
  for (const Arguments& words :
       std::vector<Arguments>{{"verify", "out"}, {"audit", "out"}, {"report", "out"}}) {
    const Outcome o = ticopd(words);
    EXPECT_TRUE(o.code == 0 || o.code == 65 || o.code == 64 || o.code == 78) << words[0] << o.err;
    expect_does_not_say(o.err, {"internal"});
  }
}

TEST_F(RunningSummary, OfAFailedStartIsRemoved) {
  const Outcome o = ticopd({"run", "small.toml", "--out", "out", "--set", "problem.data=csv:none"});
  EXPECT_NE(o.code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

class Verify : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    run("out", {"--set", "log.every=10"});
  }
  void expect_found(const Parts& says) const {
    expect_refused({"verify", "out", "--quiet"}, 65, says);
  }
  std::string change_cell(int line, int column, const std::string& value) const {
    std::string text;
    int number = 0;
    for (const std::string& row : lines_of(read_text(folder_ / "out/metrics.csv"))) {
      std::vector<std::string> cells;
      std::istringstream in(row + ",");
      for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
      if (++number == line) cells.at(static_cast<std::size_t>(column)) = value;
      for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + cells[i];
      text += "\n";
    }
    return text;
  }
};

TEST_F(Verify, FindsOneFlippedBitInFinalModels) {
  std::string bytes = read_text(folder_ / "out/final.npy");
  bytes[bytes.size() - 3] ^= 1;
  write("out/final.npy", bytes);
  expect_found({"final.npy"});
}

TEST_F(Verify, FindsFinalModelsOfAnotherShapeOrNone) {
  const std::string bytes = read_text(folder_ / "out/final.npy");
  write("out/final.npy", bytes.substr(0, bytes.size() - 4));
  expect_found({"final.npy"});
  write("out/final.npy", bytes + "1234");
  expect_found({"final.npy"});
  write("out/final.npy", "");
  expect_found({"final.npy"});
  fs::remove(folder_ / "out/final.npy");
  expect_found({"final.npy"});
}

TEST_F(Verify, FindsAChangedMetricInEveryRow) {
  for (int line = 2; line <= 5; ++line) {
    const std::string whole = read_text(folder_ / "out/metrics.csv");
    write("out/metrics.csv", change_cell(line, 4, "0.125"));
    expect_found({"metrics.csv"});
    write("out/metrics.csv", whole);
  }
}

TEST_F(Verify, FindsMissingAndExtraRows) {
  const std::string whole = read_text(folder_ / "out/metrics.csv");
  const auto rows = lines_of(whole);
  write("out/metrics.csv", whole.substr(0, whole.size() - rows.back().size() - 1));
  expect_found({"metrics.csv"});
  write("out/metrics.csv", whole + rows.back() + "\n");
  expect_found({"metrics.csv"});
  write("out/metrics.csv", rows[0] + "\n");
  expect_found({"metrics.csv"});
  write("out/metrics.csv", with(whole, "loss_max", "loss_min"));
  expect_found({"metrics.csv"});
  fs::remove(folder_ / "out/metrics.csv");
  expect_found({"metrics.csv"});
}

TEST_F(Verify, DoesNotCompareSeconds) {
  const std::string header = lines_of(read_text(folder_ / "out/metrics.csv"))[0];
  const auto seconds =
      static_cast<int>(std::ranges::count(header.substr(0, header.find("seconds")), ','));
  write("out/metrics.csv", change_cell(3, seconds, "12345"));
  const Outcome o = ticopd({"verify", "out", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
}

TEST_F(Verify, ResumeWritesMissingFinalModelsAgain) {
  const std::string final = read_text(folder_ / "out/final.npy");
  fs::remove(folder_ / "out/final.npy");
  const Outcome o =
      ticopd({"run", "small.toml", "--out", "out", "--resume", "--quiet", "--set", "log.every=10"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read_text(folder_ / "out/final.npy"), final);
  EXPECT_EQ(summary("out")["status"], "finished");
  EXPECT_EQ(ticopd({"verify", "out", "--quiet"}).code, 0);
}

class DamagedMnist : public Hostile {};

TEST_F(DamagedMnist, InTheCacheIsFoundWhenItIsRead) {
  const char* home = std::getenv("HOME");
  const fs::path cache = fs::path(home == nullptr ? "/" : home) / ".cache/ticopd/mnist";
  if (!fs::exists(cache / "verified")) GTEST_SKIP() << "no MNIST in " << cache;
  write("ticopd/mnist/", "");
  const fs::path mine = folder_ / "ticopd/mnist";
  for (const auto& e : fs::directory_iterator(cache))
    fs::copy(e.path(), mine / e.path().filename());
  const std::map<std::string, std::string> there{{"XDG_CACHE_HOME", folder_}};
  const Arguments train{"run",   "small.toml",         "--out",     "out",
                        "--set", "problem.data=mnist", "--set",     "iterations=1",
                        "--set", "log.level=rows",     "--offline", "--quiet"};
  const auto without_mnist = [&](Arguments all) {
    write("mnist.toml", with(with(with(small_problem, "samples = 200\n", ""), "features = 6\n", ""),
                             "classes = 4\n", ""));
    all[1] = "mnist.toml";
    return all;
  };
  const Arguments all = without_mnist(train);
  const Outcome first = ticopd(all, there);
  ASSERT_EQ(first.code, 0) << first.err;
  fs::remove_all(folder_ / "out");
  for (const std::string name : {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    std::string bytes = read_text(mine / name);
    const auto time = fs::last_write_time(mine / name);
    bytes[bytes.size() / 2] ^= 1;
    write("ticopd/mnist/" + name, bytes);
    fs::last_write_time(mine / name, time);  // the size and the time are those of before
    const Outcome o = ticopd(all, there);
    EXPECT_TRUE(o.code == 65 || o.code == 69) << o.code << o.err;
    expect_says(o.err, {"damaged", "ticopd/mnist"});
    EXPECT_FALSE(fs::exists(folder_ / "out"));
    bytes[bytes.size() / 2] ^= 1;
    write("ticopd/mnist/" + name, bytes);  // another time: not damaged all the same
    const Outcome again = ticopd(all, there);
    EXPECT_EQ(again.code, 0) << again.err;
    fs::remove_all(folder_ / "out");
  }
}

class StrangersFiles : public Hostile {
 protected:
  const Arguments resume{"run", "small.toml", "--out", "out", "--resume"};
};

TEST_F(StrangersFiles, MetricsOfAnotherProgramAreNotReplaced) {
  for (const std::string text :
       {"time,loss\n1,2\n", "", "\n", "iteration\n", "\xef\xbb\xbfiteration,bits_paper\n"}) {
    write("out/metrics.csv", text);
    expect_refused(resume, 64, {"--resume", "out", "no run"});
  }
}

TEST_F(StrangersFiles, MetricsBesideOurSummaryAreNotReplaced) {
  run("out");
  fs::remove(folder_ / "out/checkpoint.safetensors");
  fs::remove(folder_ / "out/final.npy");
  json running = summary("out");
  running["status"] = "running";
  write("out/run.json", running.dump());
  write("out/metrics.csv", "time,loss\n1,2\n");
  expect_refused(resume, 65, {"out/metrics.csv"});
}

TEST_F(StrangersFiles, SummaryAndCheckpointOfAnotherProgramAreNotReplaced) {
  for (const std::string text : {"{}", "{\"status\": \"done\"}", "[]", "x", ""}) {
    write("out/run.json", text);
    expect_refused(resume, 65, {"run.json"});
  }
  fs::remove(folder_ / "out/run.json");
  const std::string header =
      R"({"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"__metadata__":{"format":"pt"}}   )";
  const std::uint64_t length = header.size() / 8 * 8;
  write("out/checkpoint.safetensors",
        std::string(reinterpret_cast<const char*>(&length), sizeof length) +
            header.substr(0, length) + std::string(4, '\0'));
  expect_refused(resume, 65, {"checkpoint.safetensors"});
}

TEST_F(StrangersFiles, GarbageInACellOfMetricsIsRefused) {
  run("out");
  forget_the_end();
  const std::string whole = read_text(folder_ / "out/metrics.csv");
  const std::string line = lines_of(whole)[2];
  const std::size_t first = line.find(',');
  for (const std::string cell :
       {"x", "=1+1", "0x10", "1.2.3", "1 2", " 1", "--1", "\x1b[2J", "1e", "\"1\"", "true", "-"}) {
    std::string other = line;
    other.replace(first + 1, other.find(',', first + 1) - first - 1, cell);
    write("out/metrics.csv", with(whole, line, other));
    expect_refused(resume, 65, {"out/metrics.csv:3"});
  }
  write("out/metrics.csv", with(whole, line, line + std::string(1, '\0')));
  expect_refused(resume, 65, {"out/metrics.csv"});
  write("out/metrics.csv", with(whole, line, line + ",1"));
  expect_refused(resume, 65, {"out/metrics.csv"});
  write("out/metrics.csv", with(whole, line, line + "\n" + line));
  expect_refused(resume, 65, {"out/metrics.csv"});
}

TEST_F(StrangersFiles, GarbageInTrialsIsRefused) {
  ASSERT_EQ(ticopd({"tune", "small.toml", "--out", "out", "--runs", "2"}).code, 0);
  const std::string whole = read_text(folder_ / "out/trials.csv");
  const std::string line = lines_of(whole)[1];
  for (const std::string& other :
       {std::string("x,y,z"), "x" + line, line + ",1", line.substr(0, line.rfind(',')) + ",x",
        line + "\n" + line, "-1" + line.substr(line.find(','))}) {
    write("out/trials.csv", with(whole, line, other));
    expect_refused({"tune", "small.toml", "--out", "out", "--runs", "2", "--resume"}, 65,
                   {"out/trials.csv"});
  }
}

TEST_F(StrangersFiles, ComparisonOfOtherRunsIsNotReplaced) {
  write("two.toml", small_problem + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\nseed = 2\n");
  write("other.toml", small_problem + "[[run]]\nlabel = \"c\"\nseed = 3\n");
  ASSERT_EQ(ticopd({"compare", "two.toml", "--out", "out", "--quiet"}).code, 0);
  const std::string before = read_text(folder_ / "out/compare.json");
  const Outcome o = ticopd({"compare", "other.toml", "--out", "out", "--resume", "--quiet"});
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_EQ(read_text(folder_ / "out/compare.json"), before);
  EXPECT_FALSE(fs::exists(folder_ / "out/c"));
}

TEST_F(StrangersFiles, ComparisonWithChangedRunsKeepsItsOwnRecord) {
  write("two.toml", small_problem + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\nseed = 2\n");
  ASSERT_EQ(ticopd({"compare", "two.toml", "--out", "out", "--quiet"}).code, 0);
  expect_refused({"compare", "two.toml", "--out", "out", "--resume", "--quiet", "--set",
                  "algorithm.eta=0.5", "--set", "report.title=other"},
                 78, {"algorithm.eta"});
}

}  // namespace
}  // namespace ticopd
