// The table of objectives: parameter layout, starting points and rejected options.
#include "ticopd/objectives/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "objectives/made_up.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

using made_up::objective;
using made_up::options_of;
using made_up::Problem;

TEST(ObjectiveRegistry, EveryEntryCanBeMadeWithSegmentsThatCoverItsParameters) {
  std::set<std::string_view> names;
  for (const ObjectiveInfo& info : objective_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " is there twice";
    EXPECT_FALSE(info.summary.empty());
    if (info.external) continue;  // is brought by a program: nothing to make
    Problem problem;
    problem.options = options_of(std::string(info.name));
    problem.classes = info.labels == Labels::targets ? 0 : 2;
    const auto f = objective<float>(problem);
    std::size_t covered = 0;
    for (const Segment& segment : f->segments()) {
      std::size_t size = 1;
      for (const std::size_t extent : segment.shape) size *= extent;
      covered += size;
    }
    EXPECT_EQ(covered, f->dimension()) << info.name;
    std::vector<float> x(f->dimension(), 3.0f);
    f->start(1, x);
    const bool zero = std::all_of(x.begin(), x.end(), [](float v) { return v == 0.0f; });
    EXPECT_EQ(zero, info.init == "zero") << info.name;
  }
}

TEST(ObjectiveRegistry, MlpParametersHaveTheOrderOfPyTorch) {
  Problem problem;
  problem.options.hidden = {4, 2};
  const auto segments = objective<float>(problem)->segments();
  ASSERT_EQ(segments.size(), 6u);
  EXPECT_EQ(segments[0].name, "W1");
  EXPECT_EQ(segments[0].shape, (std::vector<std::size_t>{4, 6}));
  EXPECT_EQ(segments[1].name, "b1");
  EXPECT_EQ(segments[2].shape, (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(segments[5].name, "b3");
  EXPECT_EQ(segments[5].shape, (std::vector<std::size_t>{3}));
}

TEST(ObjectiveRegistry, StartIsUniformByTheFanInOfEachLayerAndFollowsTheSeed) {
  Problem problem;
  problem.features = 400;
  problem.options.hidden = {50};
  const auto f = objective<double>(problem);
  std::vector<double> x(f->dimension()), again(f->dimension()), other(f->dimension());
  f->start(5, x);
  f->start(5, again);
  f->start(6, other);
  EXPECT_EQ(x, again);
  EXPECT_NE(x, other);
  const std::size_t first = 400 * 50 + 50;  // W1 and b1 have 400 inputs, W2 and b2 50
  const auto [low, high] = std::minmax_element(x.begin(), x.begin() + first);
  EXPECT_GE(*low, -1.0 / 20);
  EXPECT_LT(*low, -0.999 / 20);
  EXPECT_LE(*high, 1.0 / 20);
  EXPECT_GT(*high, 0.999 / 20);
  const auto [low2, high2] = std::minmax_element(x.begin() + first, x.end());
  EXPECT_GE(*low2, -1.0 / std::sqrt(50.0));
  EXPECT_LT(*low2, -0.9 / std::sqrt(50.0));
  EXPECT_GT(*high2, 0.9 / std::sqrt(50.0));
  EXPECT_EQ(x[6], (2.0 * Noise{5, 0, 0, stream_init}.uniform(6) - 1.0) / 20);

  problem.options.init = "zero";
  objective<double>(problem)->start(5, x);
  EXPECT_EQ(x, std::vector<double>(x.size()));
}

std::string message(const Problem& problem) {
  try {
    objective<float>(problem);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing was wrong";
}

void expect_message(const Problem& problem, std::initializer_list<std::string> words) {
  const std::string text = message(problem);
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << '"' << word << "\" is not in: " << text;
}

TEST(ObjectiveRegistry, WrongOptionsAreRejectedWithKeyAndAllowedValues) {
  Problem p;
  p.options.objective = "sofmax";
  expect_message(p, {"problem.objective", "sofmax", "did you mean \"softmax\""});
  p = {};
  p.options.weighting = "samples";
  expect_message(p, {"problem.weighting", "agent", "did you mean \"sample\""});
  p = {};
  p.options.init = "xavier";
  expect_message(p, {"problem.init", "xavier", "torch, zero"});
  p = {};
  p.options.hidden = {10, 0};
  expect_message(p, {"problem.hidden", "0"});
  p.options.hidden = {1 << 21};
  expect_message(p, {"problem.hidden", "2097152"});
  p.options.hidden = {1 << 20, 1 << 20};
  expect_message(p, {"problem.hidden", "parameters"});
  p = {};
  p.options.l2 = -1;
  expect_message(p, {"problem.l2", "-1"});
  p.options.l2 = NAN;
  expect_message(p, {"problem.l2", "nan"});
  p = {};
  p.options.activation = "gelu";
  expect_message(p, {"problem.activation", "gelu"});
}

TEST(ObjectiveRegistry, IncompatibleLabelsAreRejected) {
  Problem p;
  p.options = options_of("logistic");
  p.classes = 3;
  expect_message(p, {"logistic", "exactly 2", "3", "softmax"});
  p.options = options_of("mlp");
  p.classes = 0;
  expect_message(p, {"mlp", "at least 2", "targets"});
  const Dataset<float> bad(2, 1, std::vector<float>{1, 2}, {0, 3});
  EXPECT_THROW(make_objective<float>(options_of("softmax"), {bad}, {}, 3), ConfigError);
  EXPECT_NO_THROW(make_objective<float>(options_of("softmax"), {bad}, {}, 4));
  const Dataset<float> fraction(1, 1, std::vector<float>{1}, {0.5});
  EXPECT_THROW(make_objective<float>(options_of("softmax"), {fraction}, {}, 3), ConfigError);
  EXPECT_NO_THROW(make_objective<float>(options_of("least_squares"), {fraction}, {}, 0));
  const Dataset<float> wider(1, 2, std::vector<float>{1, 2}, {0});
  EXPECT_THROW(make_objective<float>(options_of("softmax"), {bad, wider}, {}, 4), ConfigError);
  EXPECT_THROW(make_objective<float>(options_of("softmax"), {}, {}, 4), ConfigError);
}

}  // namespace
}  // namespace ticopd
