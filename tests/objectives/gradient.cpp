// Every objective compared with central finite differences in double, and float with double.
#include <gtest/gtest.h>

#include <set>

#include "objectives/made_up.hpp"

namespace ticopd {
namespace {

using made_up::objective;
using made_up::Problem;

struct Case {
  std::string name;
  Problem problem;
};

Problem problem_of(const std::string& name, int classes, std::vector<int> hidden = {},
                   const std::string& activation = "sigmoid") {
  Problem problem;
  problem.options = made_up::options_of(name);
  problem.options.hidden = std::move(hidden);
  problem.options.activation = activation;
  problem.classes = classes;
  return problem;
}

std::vector<Case> cases() {
  std::vector<Case> all{
      {"mlp_sigmoid", problem_of("mlp", 3, {4})},
      {"mlp_tanh_deep", problem_of("mlp", 2, {5, 3, 4}, "tanh")},
      {"mlp_relu", problem_of("mlp", 4, {7, 2}, "relu")},
      {"mlp_without_hidden", problem_of("mlp", 3, {})},
      {"mlp_widening", problem_of("mlp", 2, {2, 9}, "tanh")},
      {"softmax", problem_of("softmax", 5)},
      {"logistic", problem_of("logistic", 2)},
      {"nonconvex_logistic", problem_of("nonconvex_logistic", 2)},
      {"least_squares", problem_of("least_squares", 0)},
  };
  const std::size_t plain = all.size();
  for (std::size_t i = 0; i < plain; ++i) {
    Case weighted = all[i];
    weighted.name += "_l2_by_sample";
    weighted.problem.options.l2 = 0.3;
    weighted.problem.options.weighting = "sample";
    all.push_back(weighted);
  }
  Case one_feature = all[5];
  one_feature.name = "softmax_one_feature_one_sample";
  one_feature.problem.features = 1;
  one_feature.problem.shards = {1, 1};
  all.push_back(one_feature);
  return all;
}

class Gradient : public testing::TestWithParam<Case> {};

double value_of(const Objective<double>& f, int agent, const Batch& batch,
                const std::vector<double>& x) {
  double value = 0.0;
  for (std::size_t b = 0; b < f.blocks(agent, batch); ++b)
    value += f.evaluate(agent, b, batch, x, {});
  return value;
}

void expect_slopes(const Objective<double>& f, int agent, const Batch& batch, std::vector<double> x,
                   const std::vector<double>& g) {
  constexpr double step = 1e-5;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double at = x[k];
    x[k] = at + step;
    const double above = value_of(f, agent, batch, x);
    x[k] = at - step;
    const double below = value_of(f, agent, batch, x);
    x[k] = at;
    EXPECT_NEAR(g[k], (above - below) / (2 * step), 2e-8) << "agent " << agent << ", x_" << k;
  }
}

TEST_P(Gradient, MatchesFiniteDifferences) {
  const auto f = objective<double>(GetParam().problem);
  const auto x = made_up::normals<double>(f->dimension(), 77, 0.7);
  std::vector<double> g(x.size());
  for (int agent = 0; agent < f->agents(); ++agent) {
    f->gradient(agent, x, g);
    expect_slopes(*f, agent, Batch{}, x, g);
    EXPECT_DOUBLE_EQ(f->value(agent, x), value_of(*f, agent, Batch{}, x));
  }
}

TEST_P(Gradient, MiniBatchMatchesFiniteDifferences) {
  const auto f = objective<double>(GetParam().problem);
  const auto x = made_up::normals<double>(f->dimension(), 78, 0.7);
  const Batch batch{false, {0, static_cast<std::uint32_t>(f->samples(0) - 1), 0}};
  std::vector<double> g(x.size(), 5.0);  // evaluate must overwrite old values
  const double value = f->evaluate(0, 0, batch, x, g);
  EXPECT_DOUBLE_EQ(value, value_of(*f, 0, batch, x));
  expect_slopes(*f, 0, batch, x, g);
}

TEST_P(Gradient, FloatAgreesWithDouble) {
  const auto f = objective<double>(GetParam().problem);
  const auto f_float = objective<float>(GetParam().problem);
  const auto x_float = made_up::normals<float>(f->dimension(), 79, 0.7);
  const std::vector<double> x(x_float.begin(), x_float.end());
  std::vector<double> g(x.size());
  std::vector<float> g_float(x.size());
  for (int agent = 0; agent < f->agents(); ++agent) {
    f->gradient(agent, x, g);
    f_float->gradient(agent, x_float, g_float);
    EXPECT_LT(made_up::relative_distance(g_float, g), 2e-6) << "agent " << agent;
    EXPECT_NEAR(f_float->value(agent, x_float), f->value(agent, x),
                2e-6 * (1 + std::fabs(f->value(agent, x))));
  }
}

INSTANTIATE_TEST_SUITE_P(Objectives, Gradient, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

TEST(GradientCases, CoverEveryObjective) {
  std::set<std::string> seen;
  for (const Case& one : cases()) seen.insert(one.problem.options.objective);
  for (const ObjectiveInfo& info : objective_table())
    EXPECT_TRUE(info.external || seen.contains(std::string(info.name)))
        << info.name << " has no case here: nothing compares its gradient with differences";
}

}  // namespace
}  // namespace ticopd
