// A rank whose solve() throws tells the others why, so they do not wait for the deadline.
#include <gtest/gtest.h>

#include "dense/problem.hpp"
#include "network/ranks.hpp"
#include "ticopd/ticopd.hpp"

namespace ticopd::dense {
namespace {

ticopd::Setup<double> setup() {
  return {.graph = ring(4),
          .objective = std::make_shared<LeastSquares<double>>(ProblemSize{4, 5, 6}),
          .iterations = 10};
}

// A single rank that records what it tells the others when it fails.
class Noting final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void abandon(int exit_code, const std::string& why) override {
    said.push_back(std::to_string(exit_code) + " " + why);
  }
  std::vector<std::string> said;

 protected:
  void do_send(int, std::uint32_t, Bytes) override {}
  Arrival do_receive(int, std::uint32_t, std::size_t) override { return {}; }
};

TEST(FailedRank, EndsTheOtherRanksAtOnce) {
  ThreadRanks all(2, 30);
  std::vector<std::exception_ptr> errors(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      ticopd::Setup<double> s = setup();
      s.execution.transport = &all.rank(r);
      s.watch.on_round = [](std::uint32_t round) {  // called on rank 0 only
        if (round == 3) throw DiskError("the disk is full");
      };
      try {
        solve(DGD{.eta = 0.01}, s);
      } catch (const std::exception&) {
        errors[static_cast<std::size_t>(r)] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(is<DiskError>(errors[0])) << message_of(errors[0]);
  EXPECT_EQ(message_of(errors[1]), "rank 0 is gone: the disk is full");
}

TEST(FailedRank, TellsTheOthersOnceWithItsExitCode) {
  Noting ranks;
  ticopd::Setup<double> s = setup();
  s.execution.transport = &ranks;
  EXPECT_THROW(solve(DGD{}, s), ConfigError);
  ASSERT_EQ(ranks.said.size(), 1u);
  EXPECT_TRUE(ranks.said[0].starts_with("78 algorithm.eta")) << ranks.said[0];
  s.watch.on_log = [](const Metrics&) { throw std::runtime_error("no room"); };
  EXPECT_THROW(solve(DGD{.eta = 0.01}, s), std::runtime_error);
  ASSERT_EQ(ranks.said.size(), 2u);
  EXPECT_EQ(ranks.said[1], "70 no room");
}

TEST(FailedRank, LeavesTheMessageToTheCallerOnRequest) {
  Noting ranks;
  ticopd::Setup<double> s = setup();
  s.execution.transport = &ranks;
  s.execution.abandons = false;
  EXPECT_THROW(solve(DGD{}, s), ConfigError);
  s.watch.on_log = [](const Metrics&) { throw std::runtime_error("no room"); };
  EXPECT_THROW(solve(DGD{.eta = 0.01}, s), std::runtime_error);
  EXPECT_TRUE(ranks.said.empty());
}

}  // namespace
}  // namespace ticopd::dense
