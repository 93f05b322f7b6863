// Experiments from a config, as the command line runs them: schedules, resume, verify.
#include "ticopd/experiment/experiment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Set = std::vector<std::string>;

class Experiment : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "ticopd_experiment_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  static Config config(const Set& set = {}) {
    return Config::parse(R"(
iterations = 20
[problem]
objective = "softmax"
data = "synthetic"
samples = 100
features = 5
classes = 3
partition = "iid"
[graph]
agents = 4
[codec]
kind = "qsgd"
[algorithm]
name = "choco_sgd"
eta = 0.1
gamma = 0.4
)",
                         ".", set);
  }

  RunOptions into(const std::string& name, bool resume = false) const {
    RunOptions options;
    options.prepare.threads = 1;
    options.out = base_ / name;
    options.resume = resume;
    return options;
  }

  std::string digest(const Set& set) {
    return run_experiment(config(set), into(std::to_string(runs_++)))["digest"];
  }

  fs::path base_;
  int runs_ = 0;
};

TEST_F(Experiment, ConstantScheduleEqualsTheNumber) {
  const std::string plain = digest({});
  EXPECT_EQ(digest({R"(algorithm.eta={schedule="constant", c=0.1})"}), plain);
  EXPECT_EQ(digest({R"(algorithm.eta={schedule="step", c=0.1, factor=0.5, every=100})"}), plain);
}

TEST_F(Experiment, EachScheduleChangesTheRun) {
  const std::string plain = digest({});
  const std::string lowered =
      digest({R"(algorithm.eta={schedule="step", c=0.1, factor=0.5, every=5})"});
  const std::string inverse = digest({R"(algorithm.eta={schedule="inverse", c=1, t0=9})"});
  const std::string root =
      digest({R"(algorithm.eta={schedule="inverse_sqrt", c=0.3162277660168379, t0=9})"});
  EXPECT_NE(lowered, plain);
  EXPECT_NE(inverse, plain);
  EXPECT_NE(root, plain);
  EXPECT_NE(root, inverse);
  // All three start at 0.1, so the first round is equal.
  EXPECT_EQ(
      digest({"iterations=1", R"(algorithm.eta={schedule="step", c=0.1, factor=0.5, every=5})"}),
      digest({"iterations=1"}));
  EXPECT_EQ(digest({"iterations=1", R"(algorithm.eta={schedule="inverse", c=1, t0=9})"}),
            digest({"iterations=1"}));
}

TEST_F(Experiment, CallsBackOncePerLoggedRound) {
  RunOptions options = into("run");
  std::vector<std::uint32_t> logged, rounds;
  options.on_log = [&](const Metrics& m) { logged.push_back(m.iteration); };
  options.on_round = [&](std::uint32_t round) { rounds.push_back(round); };
  run_experiment(config({"log.every=8"}), options);
  EXPECT_EQ(logged, (std::vector<std::uint32_t>{0, 1, 8, 16, 20}));
  EXPECT_EQ(rounds.size(), 20u);
}

TEST_F(Experiment, StoppedRunResumesToTheSameDigest) {
  std::atomic<bool> stop{false};
  RunOptions options = into("cut");
  options.stop = &stop;
  options.on_round = [&](std::uint32_t round) { stop = round >= 7; };
  const json cut = run_experiment(config(), options);
  EXPECT_EQ(cut["status"], "interrupted");
  EXPECT_EQ(cut["iterations"], 7);
  const json resumed = run_experiment(config(), into("cut", true));
  EXPECT_EQ(resumed["status"], "finished");
  const json whole = run_experiment(config(), into("whole"));
  EXPECT_EQ(resumed["digest"], whole["digest"]);
  EXPECT_EQ(resumed["ledger"], whole["ledger"]);
}

TEST_F(Experiment, ResumeNamesTheFirstKeyThatDiffers) {
  run_experiment(config(), into("run"));
  const auto difference = [&](const Set& set) -> std::string {
    try {
      run_experiment(config(set), into("run", true));
      return "none";
    } catch (const ConfigError& e) {
      return e.what();
    }
  };
  const auto expect = [&](const Set& set, const std::string& part) {
    const std::string told = difference(set);
    EXPECT_NE(told.find(part), std::string::npos) << told;
  };
  expect({"seed=2"}, "seed is 2 now and was 1");
  expect({"codec.bits=4"}, "codec.bits is 4 now and was 8");
  expect({"codec.kind=top_k", "codec.k=4"}, "codec.k is 4 now and was not there");
  expect({"problem.hidden=[100, 50]"}, "problem.hidden");
  expect({"graph.agents=5", "seed=2"}, "graph.agents is 5 now and was 4");
  EXPECT_EQ(difference({"network.transport=threads", "checkpoint.every=3", "name=other"}), "none");
}

TEST_F(Experiment, VerifyRunsAgainAndFindsTheSameDigest) {
  const json done = run_experiment(config(), into("run"));
  const Verdict verdict = verify_experiment(base_ / "run", {});
  EXPECT_TRUE(verdict.comparable);
  EXPECT_TRUE(verdict.same) << verdict.difference;
  EXPECT_EQ(verdict.digest, done["digest"]);
}

// Writes a list of devices into run.json, as if the run had moved after round 7.
void claim_devices(const fs::path& folder, const json& devices) {
  std::ifstream in(folder / "run.json");
  json summary = json::parse(in);
  summary["devices"] = devices;
  std::ofstream(folder / "run.json") << summary;
}

TEST_F(Experiment, RunOfTwoDevicesIsVerifiedInTwoParts) {
  const json done = run_experiment(config(), into("run"));
  claim_devices(base_ / "run",
                {{{"from_round", 0}, {"device", "cpu"}}, {{"from_round", 7}, {"device", "cpu"}}});
  RunOptions options;
  std::vector<std::uint32_t> rounds;
  options.on_round = [&](std::uint32_t round) { rounds.push_back(round); };
  const Verdict verdict = verify_experiment(base_ / "run", options);
  EXPECT_TRUE(verdict.same) << verdict.difference;
  EXPECT_EQ(verdict.digest, done["digest"]);
  ASSERT_EQ(rounds.size(), 20u);
  EXPECT_EQ(rounds[7], 8u);
}

TEST_F(Experiment, RunOfAMissingDeviceCannotBeVerified) {
  run_experiment(config(), into("run"));
  claim_devices(base_ / "run", {{{"from_round", 0}, {"device", "cpu"}},
                                {{"from_round", 7}, {"device", "some GPU"}}});
  const Verdict verdict = verify_experiment(base_ / "run", {});
  EXPECT_FALSE(verdict.comparable);
  EXPECT_FALSE(verdict.same);
  EXPECT_NE(verdict.difference.find("cpu, from round 8 on some GPU"), std::string::npos)
      << verdict.difference;
}

TEST_F(Experiment, DamagedListOfDevicesIsRejected) {
  run_experiment(config(), into("run"));
  for (const char* devices :
       {"[]", "7", R"([{"from_round": 1, "device": "cpu"}])", R"([{"from_round": 0}])",
        R"([{"from_round": 0, "device": "cpu"}, {"from_round": 0, "device": "cpu"}])",
        R"([{"from_round": 0, "device": "cpu"}, {"from_round": 20, "device": "cpu"}])"}) {
    claim_devices(base_ / "run", json::parse(devices));
    EXPECT_THROW(verify_experiment(base_ / "run", {}), FormatError) << devices;
  }
}

TEST_F(Experiment, ResumedRunNamesItsSingleDevice) {
  std::atomic<bool> stop{false};
  RunOptions options = into("cut");
  options.stop = &stop;
  options.on_round = [&](std::uint32_t round) { stop = round >= 7; };
  run_experiment(config(), options);
  const json resumed = run_experiment(config(), into("cut", true));
  EXPECT_EQ(resumed["device"], "cpu");
  EXPECT_FALSE(resumed.contains("devices"));
  ASSERT_EQ(resumed["transport"]["parts"].size(), 2u);
  for (const json& part : resumed["transport"]["parts"]) EXPECT_EQ(part["device"], "cpu");
}

TEST_F(Experiment, InterruptedRunCannotBeVerified) {
  const std::atomic<bool> stop{true};
  RunOptions options = into("cut");
  options.stop = &stop;
  run_experiment(config(), options);
  EXPECT_THROW(verify_experiment(base_ / "cut", {}), FormatError);
}

TEST_F(Experiment, RunJsonListsEveryAgentAtTheLastRound) {
  RunOptions options;
  options.out = base_ / "run";
  Metrics last;
  options.on_log = [&](const Metrics& m) { last = m; };
  const json summary = run_experiment(config(), options);
  ASSERT_EQ(summary["last"]["iteration"], 20);
  const json agents = summary["last"]["agents"];
  ASSERT_EQ(agents.size(), 4u);
  double loss = 0, grad = 0, distance = 0, accuracy = 1;
  for (const json& a : agents) {
    loss = std::max(loss, a["loss"].get<double>());
    grad = std::max(grad, a["grad_norm2"].get<double>());
    distance += a["distance2"].get<double>();
    accuracy = std::min(accuracy, a["accuracy"].get<double>());
  }
  EXPECT_EQ(loss, last.loss_max);
  EXPECT_EQ(grad, last.grad_norm2_max);
  EXPECT_EQ(distance, last.consensus);
  EXPECT_EQ(accuracy, last.accuracy_min.value_or(2));
  EXPECT_EQ(summary["edges"], json::parse("[[0,1],[0,3],[1,2],[2,3]]"));
}

// A run killed between its last checkpoint and run.json: the state is complete, the summary
// missing.
TEST_F(Experiment, RunResumedAfterItsLastRoundStillListsTheAgents) {
  RunOptions options;
  options.out = base_ / "run";
  const json before = run_experiment(config(), options);
  fs::remove(base_ / "run/run.json");
  options.resume = true;
  const json after = run_experiment(config(), options);
  EXPECT_EQ(after["last"], before["last"]);
  EXPECT_EQ(after["digest"], before["digest"]);
}

}  // namespace
}  // namespace ticopd
