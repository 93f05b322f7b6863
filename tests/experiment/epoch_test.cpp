// A later epoch of a network draws other messages, and its step sizes go on where the roster says.
#include "ticopd/experiment/epoch.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ticopd {
namespace {

Config config(const std::string& eta) {
  return Config::parse(R"(iterations = 8
[problem]
objective = "softmax"
data = "synthetic"
samples = 60
features = 4
classes = 3
partition = "iid"
[graph]
agents = 3
[codec]
kind = "qsgd"
[algorithm]
name = "choco_sgd"
gamma = 0.3
eta = )" + eta,
                       ".");
}

std::string digest(const std::string& eta, const EpochInfo& epoch) {
  const Config c = config(eta);
  Prepared<double> prepared = prepare<double>(c, {});
  begin_epoch(prepared, c, epoch);
  return solve(prepared.algorithm, prepared.setup).digest;
}

// Halved after every 100 rounds, and an epoch of 8 rounds: within one step of the schedule.
constexpr const char* halving = "{ schedule = \"step\", c = 0.4, factor = 0.5, every = 100 }";

TEST(Epoch, SchedulesBeginAnewUnlessTheRosterSaysMore) {
  EXPECT_EQ(digest(halving, {2, 0}), digest("0.4", {2, 0}));
  EXPECT_EQ(digest(halving, {2, 100}), digest("0.2", {2, 0}));
  EXPECT_EQ(digest(halving, {2, 250}), digest("0.1", {2, 0}));
  EXPECT_NE(digest(halving, {2, 250}), digest("0.4", {2, 0}));
}

// Rounds 97 to 104 of it: the fifth round is the first with the smaller step.
TEST(Epoch, AScheduleMayFallInTheMiddleOfAnEpoch) {
  const std::string sooner = "{ schedule = \"step\", c = 0.4, factor = 0.5, every = 4 }";
  EXPECT_EQ(digest(halving, {2, 96}), digest(sooner, {2, 0}));
  EXPECT_NE(digest(halving, {2, 95}), digest(sooner, {2, 0}));
}

TEST(Epoch, ConstantStepsAreNotChanged) {
  EXPECT_EQ(digest("0.4", {2, 5000}), digest("0.4", {2, 0}));
}

TEST(Epoch, DrawsOtherMessagesThanTheOneBefore) {
  const std::string eta = "0.4";
  EXPECT_NE(digest(eta, {1, 0}), digest(eta, {2, 0}));
  EXPECT_NE(digest(eta, {2, 0}), digest(eta, {3, 0}));
  EXPECT_EQ(digest(eta, {2, 0}), digest(eta, {2, 0}));
}

}  // namespace
}  // namespace ticopd
