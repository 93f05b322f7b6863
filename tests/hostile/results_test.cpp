// Results that mean what they say: other inputs, other machines, damaged results, one rule of
// divergence, and keys that nobody reads.
#include <csignal>

#include "hostile/checkpoint_file.hpp"
#include "hostile/hostile.hpp"
#include "places.hpp"
#include "ticopd/ticopd.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// 40 samples of two classes with two features; `seed` changes all numbers and no label.
std::string csv_text(int seed) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const int label = i % 2;
    text += std::to_string(label);
    for (int k = 0; k < 2; ++k)
      text += "," + std::to_string((label == k ? 1.0 : 0.0) + ((i * 7 + k * 3 + seed) % 10) / 20.0);
    text += "\n";
  }
  return text;
}

const std::string csv_problem = R"(iterations = 30
[problem]
objective = "softmax"
data = "csv:data.csv"
partition = "iid"
[graph]
kind = "file"
path = "edges.txt"
agents = 4
[codec]
kind = "qsgd"
[checkpoint]
every = 10
[algorithm]
alpha = 0.3
theta = 0.3
eta = 0.03
)";

class OtherInputs : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write("data.csv", csv_text(0));
    write("edges.txt", "0 1\n1 2\n2 3\n3 0\n");
    write("csv.toml", csv_problem);
    const Outcome o = ticopd({"run", "csv.toml", "--out", "out", "--quiet"});
    ASSERT_EQ(o.code, 0) << o.err;
  }
  static Arguments resume(const Arguments& more = {}) {
    Arguments all{"run", "csv.toml", "--out", "out", "--resume", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // As if the run had been killed before its end. Without run.json only the checkpoint knows the
  // inputs.
  void interrupt() const {
    json status = summary("out");
    status["status"] = "running";
    write("out/run.json", status.dump());
    fs::remove(folder_ / "out/final.npy");
  }
  void expect_resume_refused(const Parts& says) const {
    interrupt();
    expect_refused(resume(), 78, says);
    expect_refused(resume({"--set", "network.transport=threads"}), 78, says);
    forget_the_end();
    expect_refused(resume(), 78, says);
    expect_refused(resume({"--set", "network.transport=threads"}), 78, says);
  }
};

TEST_F(OtherInputs, SameFilesGoOn) {
  const std::string digest = summary("out")["digest"];
  interrupt();
  const Outcome o = ticopd(resume());
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_EQ(summary("out")["status"], "finished");
  EXPECT_EQ(summary("out")["digest"], digest);
}

TEST_F(OtherInputs, ChangedDataAreRefusedByAgent) {
  write("data.csv", csv_text(1));
  expect_resume_refused({"--resume", "agent 0", "data"});
}

TEST_F(OtherInputs, OneChangedSampleIsRefusedByAgent) {
  std::string text = csv_text(0);
  text[2] = text[2] == '0' ? '1' : '0';
  write("data.csv", text);
  expect_resume_refused({"--resume", "agent ", "data"});
}

TEST_F(OtherInputs, FewerSamplesAreRefusedWithBothNumbers) {
  std::string text = csv_text(0);
  text.resize(text.size() / 2);
  text.resize(text.rfind('\n') + 1);
  write("data.csv", text);
  expect_resume_refused({"--resume", "agent 0", "samples now and had 10"});
}

TEST_F(OtherInputs, AnotherEdgeListIsRefusedAsAnotherGraph) {
  write("edges.txt", "0 1\n1 2\n2 3\n3 0\n0 2\n");
  expect_resume_refused({"--resume", "graph"});
}

TEST_F(OtherInputs, TheSameGraphInAnotherOrderGoesOn) {
  write("edges.txt", "# the same\n3 0\n2 1\n3 2\n0 1\n");
  interrupt();
  const Outcome o = ticopd(resume());
  EXPECT_EQ(o.code, 0) << o.err;
}

TEST_F(OtherInputs, AnotherStartIsRefused) {
  forget_the_end();
  CheckpointFile checkpoint(folder_ / "out/checkpoint.safetensors");
  checkpoint.edit("inputs", [](json& inputs) { inputs["start"] = std::string(32, '0'); });
  checkpoint.save();
  expect_refused(resume(), 78, {"--resume", "start"});
}

TEST_F(OtherInputs, AreRefusedByVerifyAndNamed) {
  write("data.csv", csv_text(1));
  expect_refused({"verify", "out"}, 65, {"agent 0", "data"});
  write("data.csv", csv_text(0));
  write("edges.txt", "0 1\n1 2\n2 3\n3 0\n0 2\n");
  expect_refused({"verify", "out"}, 65, {"graph"});
}

TEST_F(OtherInputs, AreRefusedInAComparisonAndASearch) {
  write("two.toml", csv_problem + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\nseed = 2\n");
  ASSERT_EQ(ticopd({"compare", "two.toml", "--out", "all", "--quiet"}).code, 0);
  for (const char* run : {"all/a", "all/b"}) forget_the_end(run);
  write("data.csv", csv_text(1));
  const Outcome o = ticopd({"compare", "two.toml", "--out", "all", "--resume", "--quiet"});
  EXPECT_EQ(o.code, 78) << o.err;
  expect_says(o.err, {"agent 0", "data"});
}

TEST_F(OtherInputs, ResultsRecordTheInputsOfEveryAgent) {
  const json inputs = summary("out")["inputs"];
  ASSERT_EQ(inputs["agents"].size(), 4u);
  for (const json& agent : inputs["agents"]) {
    EXPECT_EQ(agent["samples"], 10);
    EXPECT_EQ(agent["data"].get<std::string>().size(), 32u);
    EXPECT_EQ(agent["labels"].size(), 2u);
  }
  EXPECT_EQ(inputs["graph"].get<std::string>().size(), 32u);
  EXPECT_EQ(inputs["start"].get<std::string>().size(), 32u);
  EXPECT_NE(inputs["agents"][0]["data"], inputs["agents"][1]["data"]);
}

TEST_F(OtherInputs, FingerprintsAreThoseOfEveryNumberOfRanks) {
  ASSERT_EQ(ticopd({"run", "csv.toml", "--out", "three", "--quiet", "--set",
                    "network.transport=threads", "--set", "network.ranks=3"})
                .code,
            0);
  EXPECT_EQ(summary("three")["inputs"], summary("out")["inputs"]);
}

class OtherMachine : public Hostile {
 protected:
  // Starts with the environment, is interrupted after the first checkpoint and goes on without it.
  Outcome in_two_lives(const std::map<std::string, std::string>& environment) const {
    Arguments words{
        "run",   "small.toml",           "--out", "out", "--quiet", "--set", "iterations=40000",
        "--set", "checkpoint.every=2000"};
    for (int attempt = 1;; ++attempt) {
      Program program(folder_, words, environment);
      EXPECT_TRUE(program.wait_for(folder_ / "out/checkpoint.safetensors"));
      program.signal(SIGTERM);
      const Outcome first = program.wait();
      if (first.code == 75 || attempt == 10) break;
      fs::remove_all(folder_ / "out");  // the signal came too late
    }
    words.emplace_back("--resume");
    return ticopd(words);
  }
  // Two segments that meet, with these values.
  void expect_segments(const std::string& key, const json& first, const json& second) const {
    const json segments = summary("out")["segments"];
    ASSERT_EQ(segments.size(), 2u) << segments;
    EXPECT_EQ(segments[0][key], first);
    EXPECT_EQ(segments[1][key], second);
    EXPECT_EQ(segments[0]["from_round"], 0);
    EXPECT_EQ(segments[0]["to_round"], segments[1]["from_round"]);
    EXPECT_EQ(segments[1]["to_round"], 40000);
  }
};

TEST_F(OtherMachine, AnotherKernelWarnsAndIsRecordedAsASegment) {
  run("probe");
  const std::string usual = summary("probe")["kernel"];
  if (usual == "plain") GTEST_SKIP() << "there is one kernel only";
  const Outcome o = in_two_lives({{"TICOPD_KERNEL", "plain"}});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_says(o.err, {"warning", "kernel", "plain", usual});
  expect_segments("kernel", "plain", usual);
  expect_refused({"verify", "out", "--quiet"}, 69, {"plain"});
}

TEST_F(OtherMachine, AnotherBlasCoreWarnsAndIsRecorded) {
  run("probe");
  const std::map<std::string, std::string> other{{"OPENBLAS_CORETYPE", "Nehalem"}};
  ASSERT_EQ(ticopd({"run", "small.toml", "--out", "other", "--quiet"}, other).code, 0);
  const json here = summary("probe")["blas"], there = summary("other")["blas"];
  if (here == there) GTEST_SKIP() << "this BLAS has one core type: " << here;
  const Outcome o = in_two_lives(other);
  EXPECT_EQ(o.code, 0) << o.err;
  expect_says(o.err, {"warning", "blas"});
  expect_segments("blas", there, here);
  expect_refused({"verify", "out", "--quiet"}, 69, {"blas"});
}

TEST_F(OtherMachine, TheSameMachineHasOneSegmentAndNoWarning) {
  const Outcome o = in_two_lives({});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_EQ(summary("out")["segments"].size(), 1u);
  EXPECT_EQ(ticopd({"verify", "out", "--quiet"}).code, 0);
}

TEST_F(OtherMachine, ACheckpointWithoutFingerprintsWarns) {
  const fs::path old = places::tree() + "/tests/cli/folder_of_0.1";
  write("old/", "");
  for (const char* name : {"checkpoint.safetensors", "metrics.csv", "run.json"})
    fs::copy_file(old / name, folder_ / "old" / name);
  const Outcome o = ticopd({"run", old / "experiment.toml", "--out", "old", "--resume", "--quiet"},
                           {{"TICOPD_KERNEL", "plain"}});
  if (contains(o.err, "another version of xxHash"))
    GTEST_SKIP() << "the state of a digest belongs to one version of xxHash";
  EXPECT_EQ(o.code, 0) << o.err;
  expect_says(o.err, {"warning", "fingerprint", "cannot be checked"});
  EXPECT_EQ(summary("old")["digest"], "2e2d12d5280524d2d7fd0db81c2d522c");
}

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

// Uncompressed DGD on least squares with a step just too long: each round multiplies the loss.
class OneRuleOfDivergence : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    const std::string head = small_problem.substr(0, small_problem.find("[codec]"));
    problem_ = with(head, "\"softmax\"", "\"least_squares\"");
    write("run.toml", problem_ + method_);
    write("set.toml", problem_ + "[[run]]\nlabel = \"a\"\n" + nested_);
    write("tune.toml",
          problem_ + method_ + "[tune]\nruns = 3\n[tune.search]\neta = [0.9999, 1.0]\n");
  }
  static inline const std::string method_ =
      "[codec]\nkind = \"identity\"\n[algorithm]\nname = \"dgd\"\neta = 1.0\n";
  static inline const std::string nested_ =
      "codec = {kind = \"identity\"}\nalgorithm = {name = \"dgd\", eta = 1.0}\n";
  // The number of rounds after which the loss is finite and far beyond a billion times the first.
  Arguments rounds() const { return {"--set", "iterations=" + std::to_string(rounds_)}; }
  Arguments words(Arguments all) const {
    const Arguments more = rounds();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // Finds the number of rounds: the first that `run` calls diverged.
  void find_rounds() {
    const Outcome o = ticopd({"run", "run.toml", "--out", "probe", "--quiet", "--set",
                              "log.every=1", "--set", "iterations=5000"});
    ASSERT_EQ(o.code, 76) << o.err;
    rounds_ = summary("probe")["iterations"].get<int>();
    const auto last = metrics("probe").back();
    loss_ = std::stod(last.at(4));
    ASSERT_TRUE(std::isfinite(loss_)) << "not a close case";
  }
  std::string problem_;
  int rounds_ = 0;
  double loss_ = 0;
};

TEST_F(OneRuleOfDivergence, HoldsForRunCompareAndTune) {
  find_rounds();
  const Outcome alone = ticopd(words({"run", "run.toml", "--out", "alone", "--quiet"}));
  EXPECT_EQ(alone.code, 76) << alone.err;
  const Outcome compared = ticopd(words({"compare", "set.toml", "--out", "compared", "--quiet"}));
  EXPECT_EQ(compared.code, 76) << compared.err;
  EXPECT_EQ(summary("compared/a")["status"], "diverged");
  const Outcome tuned = ticopd(words({"tune", "tune.toml", "--out", "tuned"}));
  EXPECT_EQ(tuned.code, 76) << tuned.err << tuned.out;
  EXPECT_FALSE(fs::exists(folder_ / "tuned/tuned.toml"));
}

TEST_F(OneRuleOfDivergence, OneRoundLessIsFinishedForAll) {
  find_rounds();
  --rounds_;
  EXPECT_EQ(ticopd(words({"run", "run.toml", "--out", "alone", "--quiet"})).code, 0);
  EXPECT_EQ(ticopd(words({"compare", "set.toml", "--out", "compared", "--quiet"})).code, 0);
  const Outcome tuned = ticopd(words({"tune", "tune.toml", "--out", "tuned"}));
  EXPECT_EQ(tuned.code, 0) << tuned.err;
}

TEST_F(OneRuleOfDivergence, IsThatOfALevelWithoutALoss) {
  const Outcome o = ticopd({"run", "run.toml", "--out", "out", "--quiet", "--set", "log.level=rows",
                            "--set", "iterations=20000"});
  EXPECT_EQ(o.code, 76) << o.err;
}

class UnbiasedMethods : public Hostile, public ::testing::WithParamInterface<std::string> {
 protected:
  Arguments words(const std::string& codec, double eta, int iterations = 30) const {
    std::string algorithm = GetParam();
    if (algorithm == "lead") algorithm = "{name=\"lead\", eta=" + std::to_string(eta) + "}";
    return {"run",    "small.toml",
            "--out",  "out",
            "--set",  "codec=" + codec,
            "--set",  "algorithm=" + algorithm,
            "--set",  "iterations=" + std::to_string(iterations),
            "--quiet"};
  }
};

TEST_P(UnbiasedMethods, WarnBeforeRoundOneIfTheCodecIsBiased) {
  const Outcome biased = ticopd(words("{kind=\"qsgd\",bits=4,scaled=true}", 0.01));
  expect_says(biased.err, {"warning", "unbiased", "scaled = false"});
  fs::remove_all(folder_ / "out");
  const Outcome unbiased = ticopd(words("{kind=\"qsgd\",bits=4,scaled=false}", 0.01));
  expect_does_not_say(unbiased.err, {"unbiased"});
  fs::remove_all(folder_ / "out");
  const Outcome top = ticopd(words("{kind=\"top_k\",fraction=0.2}", 0.01));
  expect_says(top.err, {"warning", "unbiased"});
}

INSTANTIATE_TEST_SUITE_P(Of, UnbiasedMethods, ::testing::Values("lead"),
                         [](const auto& test) { return test.param; });

TEST_F(OneRuleOfDivergence, AdviceForAnUnbiasedMethodNamesTheCodec) {
  const Outcome o = ticopd({"run", "small.toml", "--out", "out", "--quiet", "--set",
                            "codec={kind=\"qsgd\",bits=1,scaled=true}", "--set",
                            "algorithm={name=\"lead\",eta=0.5,gamma=1,alpha=1}", "--set",
                            "problem.objective=least_squares", "--set", "iterations=20000"});
  if (o.code == 0) GTEST_SKIP() << "it does not diverge";
  EXPECT_EQ(o.code, 76) << o.err;
  const std::size_t at = o.err.find("diverged");
  ASSERT_NE(at, std::string::npos) << o.err;
  EXPECT_TRUE(contains(o.err.substr(at), "codec.scaled = false") ||
              contains(o.err.substr(at), "scaled = false"))
      << o.err;
}

// solve() of a program has the same rule.
struct Steep final : Objective<double> {
  int agents() const override { return 4; }
  std::size_t dimension() const override { return 2; }
  double value(int, std::span<const double> x) const override {
    return 0.5 * (x[0] * x[0] + x[1] * x[1]) + 1;
  }
  void gradient(int, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k];
  }
  void start(std::uint64_t, std::span<double> x) const override {
    for (double& v : x) v = 1;
  }
};

TEST(SolveDiverges, AtTheSameLossAsTheCommandLine) {
  ticopd::Setup<double> s{.graph = ring(4), .objective = std::make_shared<Steep>()};
  s.iterations = 200;
  s.watch.rounds = {};
  EXPECT_THROW(solve(DGD{.eta = 4.0}, s), Diverged);
  s.iterations = 3;
  EXPECT_NO_THROW(solve(DGD{.eta = 4.0}, s));
}

class UnusedKeys : public Refused {};
TEST_P(UnusedKeys, AreRefusedWithTheKindThatIgnoresThem) {
  expect_refusal();
}
INSTANTIATE_TEST_SUITE_P(
    Given, UnusedKeys,
    ::testing::Values(
        set("FractionWithSign", {"codec.kind=sign", "codec.fraction=0.1"},
            {"codec.fraction", "sign", "does not use", "top_k"}),
        set("BitsWithTopK", {"codec={kind=\"top_k\",k=3,bits=4}"}, {"codec.bits", "top_k"}),
        set("PathWithRandomEdge", {"graph.kind=random_edge", "graph.path=edges.txt"},
            {"graph.path", "random_edge", "file"}),
        set("RadiusWithRing", {"graph.radius=0.3"}, {"graph.radius", "ring", "geometric"}),
        set("PWithRing", {"graph.p=0.3"}, {"graph.p", "ring", "erdos_renyi"}),
        set("RowsWithRing", {"graph.rows=2"}, {"graph.rows", "ring"}),
        set("HiddenWithSoftmax", {"problem.hidden=[5]"}, {"problem.hidden", "softmax", "mlp"}),
        set("ActivationWithSoftmax", {"problem.activation=relu"}, {"problem.activation", "mlp"}),
        set("L2rWithSoftmax", {"problem.l2r=0.2"}, {"problem.l2r", "nonconvex_logistic"}),
        set("AlphaOfDirichletWithIid", {"problem.partition_alpha=0.2"},
            {"problem.partition_alpha", "iid", "dirichlet"}),
        set("SamplesWithMnist", {"problem.data=mnist", "problem.samples=9"},
            {"problem.samples", "mnist", "synthetic"}),
        set("InAnInlineTable", {"codec={kind=\"sign\",bits=8}"}, {"codec.bits", "sign"})),
    [](const auto& test) { return test.param.name; });

class UsedKeys : public Hostile {};

TEST_F(UsedKeys, DefaultsOfOtherKindsAreNoMistakeAndNotListed) {
  run("out");
  const json config = summary("out")["config"];
  EXPECT_TRUE(config["codec"].contains("bits"));
  for (const char* key : {"fraction", "k", "p", "kappa", "omega", "threshold"})
    EXPECT_FALSE(config["codec"].contains(key)) << key;
  for (const char* key : {"p", "radius", "rows", "path"})
    EXPECT_FALSE(config["graph"].contains(key)) << key;
  for (const char* key : {"hidden", "activation", "l2r", "partition_alpha"})
    EXPECT_FALSE(config["problem"].contains(key)) << key;
}

TEST_F(UsedKeys, AnOverrideOfTheKindDropsTheFilesOptionsOfTheOldKind) {
  write("file.toml", with(small_problem, "kind = \"qsgd\"\n", "kind = \"qsgd\"\nbits = 4\n"));
  const Outcome o =
      ticopd({"run", "file.toml", "--out", "out", "--quiet", "--set", "codec.kind=sign"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(summary("out")["config"]["codec"].contains("bits"));
}

TEST_F(UsedKeys, ARunsCodecAndGraphOfAnotherKindStartFromNothing) {
  const std::string shared =
      with(with(small_problem, "kind = \"qsgd\"\n", "kind = \"qsgd\"\nbits = 4\n"), "agents = 4\n",
           "kind = \"erdos_renyi\"\np = 0.9\nagents = 4\n");
  write("set.toml", shared + R"([[run]]
label = "same"
[[run]]
label = "other codec"
codec = {kind = "top_k", k = 5}
[[run]]
label = "other graph"
graph = {kind = "ring", agents = 5}
[[run]]
label = "other bits"
codec = {bits = 6}
)");
  const Outcome o = ticopd({"compare", "set.toml", "--out", "out", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  const json compared = json::parse(read_text(folder_ / "out/compare.json"));
  std::map<std::string, json> config;
  for (const json& run : compared["runs"])
    config[run["label"]] = summary("out/" + run["folder"].get<std::string>())["config"];
  EXPECT_EQ(config["same"]["codec"]["bits"], 4);
  EXPECT_EQ(config["other codec"]["codec"]["k"], 5);
  EXPECT_FALSE(config["other codec"]["codec"].contains("bits"));
  EXPECT_EQ(config["other graph"]["graph"]["agents"], 5);
  EXPECT_FALSE(config["other graph"]["graph"].contains("p"));
  EXPECT_EQ(config["other bits"]["codec"]["bits"], 6);
  EXPECT_EQ(config["other bits"]["codec"]["kind"], "qsgd");
}

TEST_F(UsedKeys, AnUnusedKeyInARunIsRefusedWithItsLabel) {
  write("set.toml", small_problem +
                        "[[run]]\nlabel = \"fine\"\n[[run]]\nlabel = \"wrong one\"\n"
                        "codec = {kind = \"sign\", fraction = 0.1}\n");
  expect_refused({"compare", "set.toml", "--out", "out"}, 78,
                 {"set.toml", "number 2", "codec.fraction", "sign"});
  expect_refused({"tune", "set.toml", "--out", "out"}, 78,
                 {"set.toml", "number 2", "codec.fraction", "sign"});
}

TEST_F(UsedKeys, TunedConfigsAreAcceptedAgain) {
  ASSERT_EQ(ticopd({"tune", "small.toml", "--out", "t", "--runs", "2"}).code, 0);
  const Outcome o = ticopd({"run", "t/tuned.toml", "--out", "out", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err;
}

}  // namespace
}  // namespace ticopd
