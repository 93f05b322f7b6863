// --resume and verify on other data, another graph, another start, and on another machine.
#include "hostile/checkpoint_file.hpp"
#include "hostile/hostile.hpp"
#include "places.hpp"

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

}  // namespace
}  // namespace ticopd
