// agents.csv: what it keeps of a run, and that a run goes on without it.
#include "ticopd/experiment/agent_history.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

namespace ticopd {
namespace {

namespace fs = std::filesystem;

class AgentHistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "ticopd_agents_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Metrics row(std::uint32_t iteration, std::vector<std::optional<double>> losses) {
    Metrics m;
    m.iteration = iteration;
    for (const auto& loss : losses) {
      AgentMetrics& a = m.agents.emplace_back();
      a.loss = loss;
      a.distance2 = 0.25;
    }
    return m;
  }
  std::string text() const {
    std::ifstream in(folder_ / "agents.csv");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

TEST_F(AgentHistoryTest, KeepsTheLossOfEveryAgentAtTheLoggedRounds) {
  AgentHistory history;
  history.add(row(0, {1.5, 2.25}));
  history.add(row(10, {1.0 / 3, std::nan("")}));
  history.write(folder_);
  EXPECT_EQ(text(), "iteration,loss_0,loss_1\n0,1.5,2.25\n10,0.33333,nan\n");
  const auto rows = AgentHistory::read(folder_);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->metric, "loss");
  EXPECT_EQ(rows->iterations, (std::vector<std::uint32_t>{0, 10}));
  EXPECT_EQ(rows->values[0], (std::vector<double>{1.5, 2.25}));
  EXPECT_TRUE(std::isnan(rows->values[1][1]));
}

TEST_F(AgentHistoryTest, KeepsDistancesWhereNotEveryLossIsMeasured) {
  AgentHistory history;
  history.add(row(0, {1.5, std::nullopt}));
  history.write(folder_);
  EXPECT_EQ(text(), "iteration,distance2_0,distance2_1\n0,0.25,0.25\n");
  EXPECT_EQ(AgentHistory::read(folder_)->metric, "distance2");
}

TEST_F(AgentHistoryTest, AResumedRunDropsTheRoundsAfterItsCheckpoint) {
  AgentHistory first;
  for (const std::uint32_t k : {0u, 5u, 9u}) first.add(row(k, {1.0 * k, 2.0 * k}));
  first.write(folder_);
  AgentHistory again;
  again.keep(folder_, 5);
  again.add(row(7, {7, 14}));
  again.write(folder_);
  EXPECT_EQ(text(), "iteration,loss_0,loss_1\n0,0,0\n5,5,10\n7,7,14\n");
}

TEST_F(AgentHistoryTest, ALargeRunKeepsNoFile) {
  const std::vector<std::optional<double>> many(AgentHistory::most_cells / 2, 1.0);
  AgentHistory history;
  for (const std::uint32_t k : {0u, 1u}) history.add(row(k, many));
  history.write(folder_);
  EXPECT_LT(fs::file_size(folder_ / "agents.csv"), 250'000u);
  history.add(row(2, many));
  history.write(folder_);
  EXPECT_FALSE(fs::exists(folder_ / "agents.csv"));
  history.add(row(3, {1, 2}));
  history.write(folder_);
  EXPECT_FALSE(fs::exists(folder_ / "agents.csv"));
}

TEST_F(AgentHistoryTest, AFileThatIsNoneOfOursIsLeftOut) {
  EXPECT_FALSE(AgentHistory::read(folder_));
  for (const char* other : {"", "name,age\n", "iteration,loss_0\n", "iteration,loss_0\n1\n",
                            "iteration,loss_0\n1,x\n", "iteration,loss_0\n5,1\n5,1\n",
                            "iteration,loss_0,loss_7\n1,2,3\n", "iteration,loss_0\n1,2,3\n"}) {
    std::ofstream(folder_ / "agents.csv") << other;
    EXPECT_FALSE(AgentHistory::read(folder_)) << other;
    AgentHistory history;
    history.keep(folder_, 100);
    history.add(row(200, {3}));
    history.write(folder_);
    EXPECT_EQ(text(), "iteration,loss_0\n200,3\n");
  }
}

}  // namespace
}  // namespace ticopd
