// The goal of a search, the rank of its trials, and the rule by which a run counts as growing.
#include "ticopd/tune/goal.hpp"

#include <cmath>

#include "ticopd/tune/beyond.hpp"
#include "tune/small_search.hpp"

namespace ticopd {
namespace {

Goal goal(const std::string& text) {
  return Goal::parse(text, MetricLevel::full);
}

std::string refusal(const std::string& text) {
  return message_of<ConfigError>([&] { goal(text); });
}

TEST(Goal, IsAMetricAtTheEndOrACostUntilATarget) {
  EXPECT_EQ(goal("").text, "loss_max");
  EXPECT_EQ(Goal::parse("", MetricLevel::local).text, "loss_local");
  EXPECT_FALSE(goal("accuracy_min").has_target());
  const Goal bits = goal("bits_to:accuracy_min=0.95");
  EXPECT_TRUE(bits.has_target());
  EXPECT_EQ(bits.metric, "accuracy_min");
  EXPECT_EQ(bits.target, 0.95);
  Metrics m;
  m.bits_payload = 4096;
  m.iteration = 7;
  m.accuracy_min = 0.94;
  EXPECT_FALSE(bits.reached(m));
  m.accuracy_min = 0.95;
  EXPECT_TRUE(bits.reached(m));
  EXPECT_EQ(bits.cost_of(m), 4096);
  EXPECT_EQ(goal("iterations_to:loss_max=0.1").cost_of(m), 7);
  EXPECT_FALSE(goal("bits_to:loss_max=0.1").reached(m)) << "it has no such metric";
}

TEST(Goal, RanksByCostAndThenByHowCloseItCame) {
  const Goal bits = goal("bits_to:accuracy_min=0.9");
  const std::vector<double> ranked{bits.score(1000, 0.95),     bits.score(1000, 0.91),
                                   bits.score(1001, 1),        bits.score(1e15, 0.9),
                                   bits.score(INFINITY, 0.89), bits.score(INFINITY, 0.2)};
  for (std::size_t i = 1; i < ranked.size(); ++i) EXPECT_LT(ranked[i - 1], ranked[i]) << i;
  EXPECT_TRUE(std::isfinite(ranked.back()));
  EXPECT_EQ(bits.score(NAN, 0.99), INFINITY);
  const Goal loss = goal("iterations_to:loss_max=0.1");
  EXPECT_LT(loss.score(INFINITY, 0.11), loss.score(INFINITY, 0.5));
  EXPECT_LT(goal("accuracy_min").score(0.9, 0.9), goal("accuracy_min").score(0.8, 0.8));
  EXPECT_LT(goal("loss_max").score(0.8, 0.8), goal("loss_max").score(0.9, 0.9));
}

TEST(Goal, RejectsWhatItCannotJudgeByAndNamesTheNearest) {
  expect_parts(refusal("loss_mxa"), {"tune.metric", "loss_mxa", "did you mean \"loss_max\"?"});
  expect_parts(refusal("bit_to:accuracy_min=0.9"), {"bit_to", "did you mean \"bits_to\"?"});
  expect_parts(refusal("bits_to:accuracy_mni=0.9"), {"did you mean \"accuracy_min\"?"});
  expect_parts(refusal("bits_to"), {"bits_to:METRIC=VALUE"});
  expect_parts(refusal("bits_to:accuracy_min"), {"bits_to:METRIC=VALUE"});
  expect_parts(refusal("seconds_to:accuracy_min=0.9"), {"repeated", "bits_to, iterations_to"});
  for (const std::string bad : {"nan", "inf", "", "many", "0.9x"})
    expect_parts(refusal("bits_to:loss_max=" + bad), {"loss_max = \"" + bad + "\"", "finite"});
  for (const std::string bad : {"95", "0", "-1", "nan"})
    expect_parts(refusal("bits_to:accuracy_min=" + bad), {"above 0, at most 1"});
  expect_parts(
      message_of<ConfigError>([] { Goal::parse("bits_to:accuracy_min=0.9", MetricLevel::local); }),
      {"log.level", "full"});
}

TEST(Median, IsTheMiddleValue) {
  EXPECT_EQ(median(std::vector{3.0}), 3);
  EXPECT_EQ(median(std::vector{9.0, 1.0, 2.0}), 2);
  EXPECT_EQ(median(std::vector{1.0, 2.0, 4.0, 100.0}), 3);
  EXPECT_EQ(median(std::vector<double>{1, INFINITY}), INFINITY);
  EXPECT_TRUE(std::isnan(median(std::vector<double>{1, NAN, 2})));
}

TEST(Grown, IsARunThatGetsWorseInLossGradientOrAccuracy) {
  const Figures start{.loss = 2, .grad_norm2 = 1, .accuracy = 0.1};
  const Figures then{.loss = 1, .grad_norm2 = 0.01, .accuracy = 0.9};
  const auto grown = [&](Figures now) { return !why_grown(start, then, now).empty(); };
  EXPECT_FALSE(grown(then));
  EXPECT_FALSE(grown({0.5, 0.001, 0.95}));
  EXPECT_FALSE(grown({1.049, 0.039, 0.881})) << "noise";
  EXPECT_TRUE(grown({1.051, 0.01, 0.9}));
  EXPECT_TRUE(grown({1, 0.041, 0.9}));
  EXPECT_TRUE(grown({1, 0.01, 0.879}));
  // At the floor of the arithmetic a gradient is noise, however much it changes.
  EXPECT_TRUE(why_grown(start, {1, 1e-30, 0.9}, {1, 1e-20, 0.9}).empty());
  // One that has hardly moved is measured by the loss at the start.
  EXPECT_TRUE(why_grown(start, {1.999, 1, 0.1}, {2.005, 1, 0.1}).empty());
  EXPECT_FALSE(why_grown(start, {1.999, 1, 0.1}, {2.02, 1, 0.1}).empty());
  // CP-SGD with the top 2 % on MNIST after 20, 30 and 40 Mbit: it has gained, and grows.
  EXPECT_TRUE(why_grown({2.3, 0.1, 0.1}, {0.627, 0.92, 0.745}, {0.581, 0.9, 0.76}).empty());
  EXPECT_FALSE(why_grown({2.3, 0.1, 0.1}, {0.466, 0.48, 0.82}, {0.581, 0.9, 0.76}).empty());
  // A figure that is not measured cannot grow.
  EXPECT_TRUE(why_grown({}, {}, {}).empty());
  EXPECT_FALSE(why_grown({2, NAN, NAN}, {1, NAN, NAN}, {3, NAN, NAN}).empty());
}

}  // namespace
}  // namespace ticopd
