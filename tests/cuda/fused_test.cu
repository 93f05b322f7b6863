// The fused gradient compared with double precision on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "cuda/device.hpp"
#include "cuda/fused_problem.hpp"
#include "ticopd/cuda/gradients/objective.hpp"

namespace ticopd::cuda {
namespace {

struct Shape {
  std::size_t features, hidden, classes;
  explicit Shape(const Problem& p)
      : features(p.widths[0]), hidden(p.widths[1]), classes(p.widths[2]) {}
  // The offsets of W1, b1, W2 and b2, and the end.
  std::vector<std::size_t> parts() const {
    const std::size_t b1 = hidden * features, w2 = b1 + hidden, b2 = w2 + classes * hidden;
    return {0, b1, w2, b2, b2 + classes};
  }
  std::size_t d() const { return parts().back(); }
};

// The gradient of f_i in double, with f_i as defined in problem.hpp.
std::vector<double> reference(const Problem& problem, std::size_t agent, const float* x) {
  const Shape shape(problem);
  const auto at = shape.parts();
  const std::size_t features = shape.features, hidden = shape.hidden, classes = shape.classes;
  const Dataset<float>& shard = problem.shards[agent];
  const auto& pixels = std::get<std::vector<std::uint8_t>>(shard.raw());
  std::vector<double> w(x, x + at[4]), g(at[4]), h(hidden), p(classes);
  for (std::size_t i = 0; i < shard.samples(); ++i) {
    const std::uint8_t* v = &pixels[i * features];
    for (std::size_t j = 0; j < hidden; ++j) {
      double z = w[at[1] + j];
      for (std::size_t k = 0; k < features; ++k)
        if (v[k] != 0) z += v[k] / 255.0 * w[j * features + k];
      h[j] = 1 / (1 + std::exp(-z));
    }
    double most = -INFINITY, sum = 0, others = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      p[c] = w[at[3] + c];
      for (std::size_t j = 0; j < hidden; ++j) p[c] += h[j] * w[at[2] + c * hidden + j];
      most = std::max(most, p[c]);
    }
    for (double& value : p) sum += value = std::exp(value - most);
    const auto y = static_cast<std::size_t>(shard.labels()[i]);
    for (std::size_t c = 0; c < classes; ++c) others += c == y ? 0 : p[c] / sum;
    for (std::size_t c = 0; c < classes; ++c) {
      const double delta = c == y ? -others : p[c] / sum;
      p[c] = delta;
      g[at[3] + c] += delta;
      for (std::size_t j = 0; j < hidden; ++j) g[at[2] + c * hidden + j] += delta * h[j];
    }
    for (std::size_t j = 0; j < hidden; ++j) {
      double dh = 0;
      for (std::size_t c = 0; c < classes; ++c) dh += p[c] * w[at[2] + c * hidden + j];
      dh *= h[j] * (1 - h[j]);
      g[at[1] + j] += dh;
      for (std::size_t k = 0; k < features; ++k)
        if (v[k] != 0) g[j * features + k] += v[k] / 255.0 * dh;
    }
  }
  const double scale = problem.weight(agent) / static_cast<double>(shard.samples());
  for (std::size_t k = 0; k < g.size(); ++k) g[k] = scale * g[k] + problem.l2 * w[k];
  return g;
}

double relative_error(const float* g, const std::vector<double>& truth, std::size_t begin,
                      std::size_t end) {
  double error = 0, norm = 0;
  for (std::size_t k = begin; k < end; ++k) {
    error += (g[k] - truth[k]) * (g[k] - truth[k]);
    norm += truth[k] * truth[k];
  }
  return std::isnan(error) ? INFINITY : std::sqrt(error / norm);
}

// The parameters of all agents, one row each, and their gradients.
class Setting {
 public:
  explicit Setting(Problem given)
      : problem(std::move(given)),
        shape(problem),
        stride((shape.d() + 127) / 128 * 128),
        x(problem.agents() * stride),
        gradient_(make_fused_gradient(problem)) {
    std::mt19937 random(5);
    const auto at = shape.parts();
    for (std::size_t i = 0; i < problem.agents(); ++i)
      for (std::size_t k = 0; k < at[4]; ++k) {
        const double fan_in = static_cast<double>(k < at[2] ? shape.features : shape.hidden);
        const auto bound = static_cast<float>(1 / std::sqrt(fan_in));
        x[i * stride + k] = std::uniform_real_distribution<float>(-bound, bound)(random);
      }
  }

  bool available() const { return gradient_ != nullptr; }

  std::vector<float> gradient() {
    Buffer<float> x_rows(x), g_rows(std::vector<float>(x.size(), NAN));
    Queue queue;
    queue.begin_round(1);
    gradient_->gradient(queue, {x_rows.data(), stride}, {g_rows.data(), stride});
    queue.finish();
    return g_rows.download();
  }

  void expect_right(const char* when) {
    const std::vector<float> g = gradient();
    const auto at = shape.parts();
    for (std::size_t i = 0; i < problem.agents(); ++i) {
      const std::vector<double> truth = reference(problem, i, &x[i * stride]);
      const float* row = &g[i * stride];
      EXPECT_LE(relative_error(row, truth, 0, at[4]), 1e-6) << when << ", agent " << i;
      for (std::size_t part = 0; part < 4; ++part)
        EXPECT_LE(relative_error(row, truth, at[part], at[part + 1]), 2e-6)
            << when << ", agent " << i << ", part " << part;
      EXPECT_TRUE(at[4] == stride || std::isnan(g[i * stride + at[4]])) << "beyond the row";
    }
  }

  Problem problem;
  Shape shape;
  std::size_t stride;
  std::vector<float> x;

 private:
  std::unique_ptr<FullGradient> gradient_;
};

#define TICOPD_NEEDS_FUSED(setting) \
  if (!setting.available()) GTEST_SKIP() << "the device is not of compute capability 9.0"

TEST(FusedGradient, IsAccurateOnDigitsAtTheStartAndLate) {
  TICOPD_NEEDS_DEVICE();
  Setting setting(digit_problem(400));
  TICOPD_NEEDS_FUSED(setting);
  setting.expect_right("at first");
  for (float& v : setting.x) v *= 5;
  setting.expect_right("late");
}

TEST(FusedGradient, IsAccurateOnAnOverfitShard) {
  TICOPD_NEEDS_DEVICE();
  Setting setting(digit_problem(400));
  TICOPD_NEEDS_FUSED(setting);
  const std::size_t b2 = setting.shape.parts()[3];
  for (std::size_t i = 0; i < 10; ++i) setting.x[i * setting.stride + b2 + i] += 7;
  setting.expect_right("overfit");
}

// Deltas are exponentially small here, as in the test of the general gradient. Larger logits make
// no sense: rounding a logit of 35 to fp32 gives an error of 2e-6, and exp keeps that error.
TEST(FusedGradient, IsAccurateOnAnOverfitShardWithLargeWeights) {
  TICOPD_NEEDS_DEVICE();
  Setting setting(digit_problem(400));
  TICOPD_NEEDS_FUSED(setting);
  for (float& v : setting.x) v *= 5;
  const std::size_t b2 = setting.shape.parts()[3];
  for (std::size_t i = 0; i < 10; ++i) setting.x[i * setting.stride + b2 + i] += 14;
  setting.expect_right("overfit, late");
}

TEST(FusedGradient, IsAccurateForShardsOfAnySize) {
  TICOPD_NEEDS_DEVICE();
  Setting setting(speckled_problem({784, 100, 10}, {1, 127, 300}));
  TICOPD_NEEDS_FUSED(setting);
  setting.expect_right("sizes 1, 127, 300");
}

TEST(FusedGradient, IsAccurateForOtherWidths) {
  TICOPD_NEEDS_DEVICE();
  const std::vector<std::size_t> shapes[] = {
      {200, 37, 7}, {1, 1, 2}, {895, 100, 9}, {63, 98, 3}, {130, 3, 8}};
  for (const auto& widths : shapes) {
    Setting setting(speckled_problem(widths, {90, 200}));
    TICOPD_NEEDS_FUSED(setting);
    setting.expect_right(std::to_string(widths[0]).c_str());
  }
}

TEST(FusedGradient, IsAccurateWithSampleWeightsAndRegularisation) {
  TICOPD_NEEDS_DEVICE();
  Problem problem = speckled_problem({200, 37, 7}, {20, 100, 300});
  problem.weight_by_sample = true;
  problem.l2 = 0.01;
  Setting setting(problem);
  TICOPD_NEEDS_FUSED(setting);
  setting.expect_right("weighted, l2");
}

TEST(FusedGradient, IsAccurateForManyAgents) {
  TICOPD_NEEDS_DEVICE();
  for (const std::size_t agents : {40, 300}) {  // fewer and more agents than multiprocessors
    Setting setting(speckled_problem({100, 20, 4}, std::vector<std::size_t>(agents, 50)));
    TICOPD_NEEDS_FUSED(setting);
    setting.expect_right("many agents");
  }
}

TEST(FusedGradient, EqualsTheRegulariserForPixelsThatAreNeverSet) {
  TICOPD_NEEDS_DEVICE();
  for (const double l2 : {0.0, 0.125}) {
    Problem problem = speckled_problem({200, 37, 7}, {50, 60});
    problem.l2 = l2;
    Setting setting(problem);
    TICOPD_NEEDS_FUSED(setting);
    const std::vector<float> g = setting.gradient();
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 37; ++j)
        for (std::size_t pixel = 3; pixel < 200; pixel += 11) {
          const std::size_t at = i * setting.stride + j * 200 + pixel;
          ASSERT_EQ(g[at], static_cast<float>(l2) * setting.x[at]);
        }
  }
}

// The kernel splits parameters into integer digits. A NaN or an infinity must still reach the
// result.
TEST(FusedGradient, IsNotFiniteIfAParameterIsNotFinite) {
  TICOPD_NEEDS_DEVICE();
  Setting setting(speckled_problem({200, 37, 7}, {50, 60}));
  TICOPD_NEEDS_FUSED(setting);
  const std::vector<float> start = setting.x;
  const auto at = setting.shape.parts();
  const std::size_t places[] = {0, 5 * 200 + 7, at[1] + 36, at[2] + 4, at[3] + 6};
  for (const std::size_t place : places)
    for (const float value : {NAN, -NAN, INFINITY, -INFINITY}) {
      if (place >= at[3] && value == -INFINITY) continue;  // probability 0, still finite
      setting.x = start;
      setting.x[setting.stride + place] = value;  // of the second agent
      const std::vector<float> g = setting.gradient();
      const auto all_finite = [&](std::size_t agent) {
        return std::all_of(&g[agent * setting.stride], &g[agent * setting.stride] + at[4],
                           [](float v) { return std::isfinite(v); });
      };
      EXPECT_TRUE(all_finite(0));
      EXPECT_FALSE(all_finite(1)) << value << " at " << place;
    }
}

TEST(FusedGradient, HasTheSameBitsEveryTime) {
  TICOPD_NEEDS_DEVICE();
  Setting setting(speckled_problem({784, 100, 10}, {700, 300, 50}));
  TICOPD_NEEDS_FUSED(setting);
  const std::vector<float> first = setting.gradient(), second = setting.gradient();
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(float)), 0);
}

// The blocks of a gradient wait for each other. If half the blocks of each of two gradients were on
// the device, both would wait forever.
TEST(FusedGradient, HasTheSameBitsInTwoThreadsAtOnce) {
  TICOPD_NEEDS_DEVICE();
  const Problem problem = speckled_problem({784, 100, 10}, std::vector<std::size_t>(10, 1700));
  Setting settings[2] = {Setting(problem), Setting(problem)};
  TICOPD_NEEDS_FUSED(settings[0]);
  const std::vector<float> alone = settings[0].gradient();
  bool same[2] = {true, true};
  in_two_threads([&](int t) {
    for (int i = 0; i < (briefly() ? 3 : 30); ++i) {
      const std::vector<float> g = settings[t].gradient();
      same[t] = same[t] && std::memcmp(alone.data(), g.data(), g.size() * sizeof(float)) == 0;
    }
  });
  EXPECT_TRUE(same[0] && same[1]);
}

TEST(FusedGradient, IsRecomputedWhenTheParametersChange) {
  TICOPD_NEEDS_DEVICE();
  Setting setting(speckled_problem({200, 37, 7}, {90, 200}));
  TICOPD_NEEDS_FUSED(setting);
  const std::vector<float> start = setting.x, first = setting.gradient();
  for (float& v : setting.x) v *= -3;
  setting.expect_right("after another gradient");
  setting.x = start;
  const std::vector<float> again = setting.gradient();
  EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)), 0);
}

TEST(FusedGradient, EstimateIsPositiveOnlyForSupportedProblems) {
  TICOPD_NEEDS_DEVICE();
  Problem problem = speckled_problem({784, 100, 10}, {700, 300, 50});
  if (make_fused_gradient(problem) == nullptr) GTEST_SKIP() << "another device";
  EXPECT_GT(fused_gradient_bytes(problem), std::size_t{1050} * 784 / 4);
  problem.phi = Activation::relu;
  EXPECT_EQ(make_fused_gradient(problem), nullptr);
  EXPECT_EQ(fused_gradient_bytes(problem), 0u);
}

}  // namespace
}  // namespace ticopd::cuda
