// Run folders that are damaged or belong to another run, and runs that diverge.
#include "cli/program.hpp"

namespace ticopd {
namespace {

class RunFolderOnDisk : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    run("out");
  }

  // As if the run had been killed: only the checkpoint tells which round it reached.
  void forget_the_end() const {
    std::filesystem::remove(folder_ / "out/run.json");
    std::filesystem::remove(folder_ / "out/final.npy");
  }

  void expect_refused(const Arguments& arguments, int code,
                      const std::vector<std::string>& says) const {
    const auto before = snapshot();
    const Outcome o = ticopd(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    for (const std::string& part : says)
      EXPECT_NE(o.err.find(part), std::string::npos) << "`" << part << "` is not in: " << o.err;
    EXPECT_EQ(snapshot(), before);
  }

  const Arguments resume{"run", "small.toml", "--out", "out", "--resume"};
};

TEST_F(RunFolderOnDisk, ResumeRejectsAnotherConfig) {
  Arguments other = resume;
  other.insert(other.end(), {"--set", "algorithm.alpha=0.2", "--set", "iterations=40"});
  expect_refused(other, 78, {"--resume", "out", "algorithm.alpha is 0.2 now and was 0.3"});
  forget_the_end();
  expect_refused(other, 78, {"--resume", "out", "algorithm.alpha is 0.2 now and was 0.3"});
}

TEST_F(RunFolderOnDisk, ResumeRejectsADamagedSummary) {
  write("out/run.json", "{]");
  expect_refused(resume, 65, {"out/run.json", "not a run summary"});
}

TEST_F(RunFolderOnDisk, ResumeRejectsADamagedCheckpoint) {
  forget_the_end();
  const std::string whole = read_text(folder_ / "out/checkpoint.safetensors");
  write("out/checkpoint.safetensors", "short");
  expect_refused(resume, 65, {"checkpoint.safetensors", "too short"});
  write("out/checkpoint.safetensors", std::string(1000, '\x7f'));
  expect_refused(resume, 65, {"checkpoint.safetensors", "not a checkpoint"});
  write("out/checkpoint.safetensors", whole.substr(0, whole.size() / 4));
  expect_refused(resume, 65, {"checkpoint.safetensors"});
  write("out/checkpoint.safetensors", whole.substr(0, whole.size() - 1));
  expect_refused(resume, 65, {"checkpoint.safetensors"});
}

TEST_F(RunFolderOnDisk, ResumeRejectsATensorWithOneBitFlipped) {
  forget_the_end();
  const std::string whole = read_text(folder_ / "out/checkpoint.safetensors");
  for (const std::size_t back : {std::size_t{1}, whole.size() / 40}) {
    std::string damaged = whole;
    damaged[whole.size() - back] ^= 1;
    write("out/checkpoint.safetensors", damaged);
    expect_refused(resume, 65, {"checkpoint.safetensors", "agent", "damaged"});
  }
}

TEST_F(RunFolderOnDisk, ResumeRejectsAFolderThatHoldsNoRun) {
  std::filesystem::remove_all(folder_ / "out");
  std::filesystem::create_directory(folder_ / "out");
  write("out/thesis.txt", "chapter 1");
  expect_refused(resume, 64, {"--resume", "out", "no run"});
}

TEST_F(RunFolderOnDisk, ResumeRejectsBadMetadataInACheckpoint) {
  forget_the_end();
  const std::string whole = read_text(folder_ / "out/checkpoint.safetensors");
  for (const std::string note :
       {"\"digest\":\"", "\"round\":\"", "\"ledger\":\"", "\"seconds\":\"", "\"config\":\""}) {
    std::string bytes = whole;
    const std::size_t at = bytes.find(note);
    ASSERT_NE(at, std::string::npos) << note;
    bytes[at + note.size()] = 'z';
    write("out/checkpoint.safetensors", bytes);
    expect_refused(resume, 65, {"checkpoint.safetensors"});
  }
}

TEST_F(RunFolderOnDisk, ResumeRejectsMetricsWithAnotherHeader) {
  forget_the_end();
  write("out/metrics.csv", "time,loss\n1,2\n");
  expect_refused(resume, 65, {"out/metrics.csv:1:"});
}

TEST_F(RunFolderOnDisk, ResumeRejectsTruncatedOrMissingMetrics) {
  forget_the_end();
  const std::string whole = read_text(folder_ / "out/metrics.csv");
  write("out/metrics.csv", whole.substr(0, whole.size() - 3));
  expect_refused(resume, 65, {"out/metrics.csv", "round 30 is missing", "cannot go on"});
  std::filesystem::remove(folder_ / "out/metrics.csv");
  expect_refused(resume, 65, {"out/metrics.csv", "is missing", "round 30"});
  write("out/metrics.csv", whole + "31,1,2");  // a round that the checkpoint does not know
  EXPECT_EQ(ticopd(resume).code, 0);
  EXPECT_EQ(read_text(folder_ / "out/metrics.csv"), whole);
}

TEST_F(RunFolderOnDisk, VerifyRejectsAnEditedDigest) {
  nlohmann::json edited = summary("out");
  const std::string digest = edited["digest"];
  edited["digest"] = "00000000000000000000000000000000";
  write("out/run.json", edited.dump());
  expect_refused({"verify", "out"}, 65, {"digest", digest, "00000000000000000000000000000000"});
}

TEST_F(RunFolderOnDisk, VerifyRejectsARunOfAnotherInstructionSet) {
  nlohmann::json edited = summary("out");
  edited["instruction_set"] = "abacus";
  write("out/run.json", edited.dump());
  expect_refused({"verify", "out"}, 69, {"instruction_set", "abacus"});
}

TEST_F(RunFolderOnDisk, VerifyRejectsARunOfTwoDevicesIfOneIsMissing) {
  nlohmann::json edited = summary("out");
  edited["devices"] = {{{"from_round", 0}, {"device", "cpu"}},
                       {{"from_round", 1}, {"device", "abacus"}}};
  write("out/run.json", edited.dump());
  expect_refused({"verify", "out"}, 69, {"cpu, from round 2 on abacus"});
}

class Divergence : public CommandLine {
 protected:
  const Arguments wild{"run",   "small.toml",
                       "--out", "out",
                       "--set", "problem.objective=least_squares",
                       "--set", "algorithm.alpha=50",
                       "--set", "algorithm.beta=0.5",
                       "--set", "iterations=2000"};
};

TEST_F(Divergence, MessageNamesTheQuantityTheRoundAndTheStepSizeToLower) {
  const Outcome o = ticopd(wild);
  EXPECT_EQ(o.code, 76) << o.err;
  for (const char* part :
       {"diverged", "round ", "lower algorithm.alpha (now 50", "algorithm.theta (now 0.3"})
    EXPECT_NE(o.err.find(part), std::string::npos) << "`" << part << "` is not in: " << o.err;
  EXPECT_TRUE(o.err.find("loss_max") != std::string::npos ||
              o.err.find("agent") != std::string::npos)
      << o.err;
}

TEST_F(Divergence, LeavesMetricsAndASummaryWithStatusDiverged) {
  ticopd(wild);
  EXPECT_EQ(summary("out")["status"], "diverged");
  EXPECT_NE(summary("out")["reason"].get<std::string>().find("lower algorithm.alpha"),
            std::string::npos);
  EXPECT_GE(metrics("out").size(), 2u);  // the header, round 0
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/final.npy"));
  for (const auto& [name, bytes] : snapshot()) EXPECT_FALSE(name.ends_with(".tmp")) << name;
}

TEST_F(Divergence, SummaryShowsTheLastLoggedRound) {
  const Arguments slowly{"run",   "small.toml",
                         "--out", "out",
                         "--set", "problem.objective=least_squares",
                         "--set", "codec.kind=identity",
                         "--set", "algorithm={name=\"dgd\",eta=1.5}",
                         "--set", "log.every=1",
                         "--set", "iterations=2000",
                         "--json"};
  for (const bool over_ranks : {false, true}) {
    Arguments all = slowly;
    if (over_ranks)
      all.insert(all.end(), {"--set", "network.transport=threads", "--set", "network.ranks=2"});
    const Outcome o = ticopd(all);
    ASSERT_EQ(o.code, 76) << o.err;
    const nlohmann::json made = summary("out");
    EXPECT_EQ(nlohmann::json::parse(o.out, nullptr, false), made);
    const auto last = metrics("out").back();
    EXPECT_GT(made["iterations"], 0);
    EXPECT_EQ(std::to_string(made["iterations"].get<int>()), last.at(0));
    EXPECT_EQ(made["digest"].get<std::string>().size(), 32u);
    EXPECT_EQ(made["ledger"]["agents"].size(), 4u);
    EXPECT_EQ(8 * made["ledger"]["payload_bytes"].get<double>() / 4, std::stod(last.at(2)));
    std::filesystem::remove_all(folder_ / "out");
  }
}

TEST_F(Divergence, GivesTheSameMessageOverSeveralRanks) {
  Arguments ranks = wild;
  ranks.insert(ranks.end(), {"--set", "network.transport=threads", "--set", "network.ranks=2"});
  const Outcome alone = ticopd(wild);
  std::filesystem::remove_all(folder_ / "out");
  const Outcome two = ticopd(ranks);
  EXPECT_EQ(two.code, 76);
  EXPECT_EQ(two.err, alone.err);
}

}  // namespace
}  // namespace ticopd
