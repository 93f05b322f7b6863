// A run under mpirun -n K has the same bits as the run in one process.
#include "clusters/launched.hpp"

namespace ticopd {
namespace {

class SameRun : public Launched {};

TEST_F(SameRun, AnyNumberOfRanksGivesTheSameBytes) {
  const auto one = alone("one", {"--set", "iterations=2000"});
  for (const int ranks : {1, 2, 3, 4}) {
    const std::string out = "on" + std::to_string(ranks);
    const auto run = launched(ranks, out, {"--set", "iterations=2000"});
    EXPECT_EQ(run["digest"], one["digest"]) << ranks;
    EXPECT_EQ(run["ledger"], one["ledger"]) << ranks;
    EXPECT_EQ(run["transport"]["kind"], "mpi");
    EXPECT_EQ(metrics(out), metrics("one")) << ranks;
    EXPECT_EQ(read_text(folder_ / out / "final.npy"), read_text(folder_ / "one/final.npy"));
    EXPECT_EQ(ticopd({"audit", out}).code, 0);
  }
}

TEST_F(SameRun, RunJsonListsTrafficAndWaitingTimePerRank) {
  const auto run = launched(3, "out", {"--set", "iterations=1000"});
  ASSERT_EQ(run["transport"]["ranks"].size(), 3u);
  std::uint64_t sent = 0, received = 0;
  for (const auto& rank : run["transport"]["ranks"]) {
    sent += rank["sent"]["payload_bytes"].get<std::uint64_t>();
    received += rank["received"]["payload_bytes"].get<std::uint64_t>();
    EXPECT_EQ(rank["sent"]["framing_bytes"], 56 * rank["sent"]["frames"].get<std::uint64_t>());
    EXPECT_GT(rank["in_flight_s"].get<double>(), 0);
    EXPECT_GE(rank["waiting_s"].get<double>(), 0);
    EXPECT_GE(rank["hidden"].get<double>(), 0);
    EXPECT_LE(rank["hidden"].get<double>(), 1);
  }
  EXPECT_GT(sent, 0u);
  EXPECT_EQ(sent, received);
}

TEST_F(SameRun, OnlyRankZeroPrints) {
  const Outcome o = ticopd(launch(3, "out", {"--set", "iterations=100"}));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  const auto first = o.out.find("finished after");
  ASSERT_NE(first, std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("finished after", first + 1), std::string::npos) << o.out;
}

TEST_F(SameRun, ResumesOnAnotherNumberOfRanksAndWithoutMpi) {
  const Arguments length{"--set", "iterations=30000", "--set", "checkpoint.every=1000"};
  const auto whole = alone("whole", length);
  Arguments resume = length;
  resume.push_back("--resume");
  for (int attempt = 1;; ++attempt) {
    Program program(folder_, launch(3, "cut", length));
    ASSERT_TRUE(program.wait_for(folder_ / "cut/checkpoint.safetensors"));
    program.signal(SIGINT);
    const Outcome o = program.wait();
    if (o.code == 0 && attempt < 5) {  // the signal came after the end
      std::filesystem::remove_all(folder_ / "cut");
      continue;
    }
    ASSERT_EQ(o.code, 75) << o.err;
    EXPECT_NE(o.err.find("--resume"), std::string::npos) << o.err;
    break;
  }
  EXPECT_EQ(summary("cut")["status"], "interrupted");
  std::filesystem::copy(folder_ / "cut", folder_ / "cut2",
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(launched(2, "cut", resume)["digest"], whole["digest"]);
  EXPECT_EQ(summary("cut")["transport"]["parts"].size(), 2u);
  EXPECT_EQ(summary("cut")["ledger"], whole["ledger"]);
  EXPECT_EQ(metrics("cut"), metrics("whole"));
  EXPECT_EQ(ticopd({"audit", "cut"}).code, 0);
  EXPECT_EQ(alone("cut2", resume)["digest"], whole["digest"]);
  EXPECT_EQ(ticopd({"audit", "cut2"}).code, 0);
  EXPECT_EQ(launched(4, "cut", resume)["digest"], whole["digest"]);  // finished: unchanged
}

TEST_F(SameRun, AuditFindsASingleByteTooMany) {
  auto run = launched(2, "out", {"--set", "iterations=50"});
  ASSERT_EQ(ticopd({"audit", "out"}).code, 0);
  auto& bytes = run["transport"]["parts"][0]["sent"][0]["bytes"];
  bytes = bytes.get<std::uint64_t>() + 1;
  write("out/run.json", run.dump());
  const Outcome o = ticopd({"audit", "out"});
  EXPECT_EQ(o.code, 65);
  EXPECT_NE(o.err, "");
}

}  // namespace
}  // namespace ticopd
