// solve() inside a program: what somebody forgot is a ConfigError, and every exception of a
// callback reaches the caller.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "ticopd/ticopd.hpp"

namespace ticopd {
namespace {

constexpr int agents = 4;

// f_i(x) = ||x - i||^2 / 2
struct Distances final : Objective<double> {
  explicit Distances(int throws_at = -1) : throws_at(throws_at) {}
  int agents() const override { return ticopd::agents; }
  std::size_t dimension() const override { return 3; }
  double value(int i, std::span<const double> x) const override {
    double sum = 0;
    for (const double v : x) sum += (v - i) * (v - i) / 2;
    return sum;
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    if (i == throws_at) throw 42;  // NOLINT: anything may be thrown
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - i;
  }
  int throws_at;
};

// testing::Test has a Setup of its own.
using Given = ticopd::Setup<double>;

Given complete_setup() {
  Given s{.graph = ring(agents), .objective = std::make_shared<Distances>()};
  s.iterations = 20;
  return s;
}

void expect_config_error(const Given& s, const std::string& names) {
  const auto expect = [&](const auto& call) {
    try {
      call();
      ADD_FAILURE() << names << ": it ran";
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find(names), std::string::npos) << e.what();
    }
  };
  for (const int ranks : {1, 2}) {
    Given with_ranks = s;
    with_ranks.execution.ranks = ranks;
    expect([&] { solve(DGD{.eta = 0.1}, with_ranks); });
    expect([&] { solve(run_factory<double>(DGD{.eta = 0.1}), with_ranks); });
  }
  expect([&] { Run<double>(run_factory<double>(DGD{.eta = 0.1}), s); });
}

TEST(SolveRefuses, AMissingObjective) {
  Given s = complete_setup();
  s.objective = nullptr;
  expect_config_error(s, "objective");
}

TEST(SolveRefuses, ANullCodec) {
  Given s = complete_setup();
  s.codec = nullptr;
  expect_config_error(s, "codec");
}

TEST(SolveRefuses, AGraphOfOtherAgents) {
  Given s = complete_setup();
  s.graph = ring(agents + 1);
  expect_config_error(s, "graph");
}

TEST(SolveRefuses, NoRounds) {
  Given s = complete_setup();
  s.iterations = 0;
  expect_config_error(s, "iterations");
}

TEST(SolveRefuses, NoRanksAndNoThreads) {
  Given s = complete_setup();
  s.execution.threads = 0;
  expect_config_error(s, "threads");
  s = complete_setup();
  s.execution.ranks = -1;
  EXPECT_THROW(solve(DGD{.eta = 0.1}, s), ConfigError);
}

// Throws from every callback and from the objective, in one process and over ranks.
template <class Thrown>
void expect_to_reach_the_caller(const Thrown& thrown) {
  using Arm = std::function<void(Given&)>;
  const std::vector<std::pair<std::string, Arm>> callbacks{
      {"on_log", [&](Given& s) { s.watch.on_log = [&](const Metrics&) { throw thrown; }; }},
      {"on_round", [&](Given& s) { s.watch.on_round = [&](std::uint32_t) { throw thrown; }; }},
      {"late", [&](Given& s) {
         s.watch.on_round = [&](std::uint32_t round) {
           if (round == 7) throw thrown;
         };
       }}};
  for (const auto& [name, arm] : callbacks)
    for (const int ranks : {1, 2, 4}) {
      Given s = complete_setup();
      s.execution.ranks = ranks;
      arm(s);
      try {
        solve(DGD{.eta = 0.1}, s);
        ADD_FAILURE() << name << " on " << ranks << " ranks: nothing was thrown";
      } catch (const Thrown&) {
      } catch (const std::exception& e) {
        ADD_FAILURE() << name << " on " << ranks << " ranks: another exception: " << e.what();
      }
    }
}

TEST(ExceptionsOfACallback, ReachTheCallerIfTheyAreNumbers) {
  expect_to_reach_the_caller(42);
}

TEST(ExceptionsOfACallback, ReachTheCallerIfTheyAreText) {
  expect_to_reach_the_caller(std::string("stop"));
}

TEST(ExceptionsOfACallback, ReachTheCallerIfTheyAreStandard) {
  expect_to_reach_the_caller(std::out_of_range("mine"));
}

TEST(ExceptionsOfAnObjective, ReachTheCallerFromEveryRankAndThread) {
  for (const int ranks : {1, 2, 4})
    for (const int threads : {1, 3})
      for (const int where : {0, agents - 1}) {
        Given s = complete_setup();
        s.objective = std::make_shared<Distances>(where);
        s.execution.ranks = ranks;
        s.execution.threads = threads;
        EXPECT_THROW(solve(DGD{.eta = 0.1}, s), int)
            << ranks << " ranks, " << threads << " threads";
      }
}

TEST(ExceptionsOfACallback, LeaveTheProgramAbleToSolveAgain) {
  Given s = complete_setup();
  s.execution.ranks = 2;
  s.watch.on_round = [](std::uint32_t) { throw 42; };  // NOLINT
  EXPECT_THROW(solve(DGD{.eta = 0.1}, s), int);
  s.watch.on_round = {};
  const std::string over_ranks = solve(DGD{.eta = 0.1}, s).digest;
  EXPECT_EQ(over_ranks, solve(DGD{.eta = 0.1}, complete_setup()).digest);
}

}  // namespace
}  // namespace ticopd
