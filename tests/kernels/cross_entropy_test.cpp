#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "objectives/made_up.hpp"
#include "ticopd/kernels/layers.hpp"

namespace ticopd {
namespace {

// The deltas and loss of one row in long double, computed without cancellation.
struct Exact {
  std::vector<long double> deltas;
  long double loss;
};

Exact exact(const std::vector<float>& z, std::size_t label) {
  Exact e{std::vector<long double>(z.size()), 0};
  long double others = 0;  // sum of exp(z_c - z_y), c != y
  for (std::size_t c = 0; c < z.size(); ++c)
    if (c != label) others += std::exp(static_cast<long double>(z[c]) - z[label]);
  for (std::size_t c = 0; c < z.size(); ++c)
    e.deltas[c] = std::exp(static_cast<long double>(z[c]) - z[label]) / (1 + others);
  e.deltas[label] = -others / (1 + others);
  e.loss = std::log1p(others);
  return e;
}

// A tile of logits: one row per class, samples side by side, padded as kernels pad it.
class Logits {
 public:
  Logits(std::size_t classes, std::size_t samples)
      : memory_(classes * lane_stride(samples)), zeros_(classes) {
    std::fill_n(memory_.data(), memory_.size(), 0.0f);
    lanes_ = {memory_.data(), lane_stride(samples), samples};
  }
  float& operator()(std::size_t c, std::size_t i) { return lanes_.row(c)[i]; }
  double loss(const Layers<float>& math, const std::vector<float>& labels, float scale) {
    return math.cross_entropy(zeros_.data(), zeros_.size(), labels.data(), scale, lanes_, {});
  }
  std::size_t correct(const std::vector<float>& labels) const {
    return count_correct<float>(zeros_.data(), zeros_.size(), labels.data(), lanes_);
  }

 private:
  Aligned<float> memory_;
  std::vector<float> zeros_;  // no bias
  Lanes<float> lanes_;
};

class CrossEntropy : public testing::TestWithParam<const Layers<float>* (*)()> {
 protected:
  const Layers<float>& math() const { return *GetParam()(); }
};
INSTANTIATE_TEST_SUITE_P(Layers, CrossEntropy,
                         testing::Values(
                             +[] { return &plain_layers<float>(); },
                             +[] { return &vector_layers(); }),
                         [](const auto& test) { return test.index == 0 ? "Plain" : "Vector"; });

TEST_P(CrossEntropy, DeltasAreAccurateIfTheLabelIsNearlyCertain) {
  const std::size_t classes = 10, samples = 21;
  for (const double lead : {0.0, 3.0, 12.0, 18.0, 30.0, 60.0}) {
    Logits z(classes, samples);
    std::vector<float> labels;
    std::vector<Exact> want;
    long double all = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      std::vector<float> row = made_up::normals<float>(classes, static_cast<std::uint32_t>(i));
      const std::size_t label = i % classes;
      row[label] += static_cast<float>(lead);
      labels.push_back(static_cast<float>(label));
      want.push_back(exact(row, label));
      all += want.back().loss;
      for (std::size_t c = 0; c < classes; ++c) z(c, i) = row[c];
    }
    EXPECT_NEAR(z.loss(math(), labels, 1.0f) / static_cast<double>(all), 1.0, 5e-6)
        << "lead " << lead;
    for (std::size_t i = 0; i < samples; ++i)
      for (std::size_t c = 0; c < classes; ++c)
        EXPECT_NEAR(static_cast<double>(z(c, i) / want[i].deltas[c]), 1.0, 5e-6)
            << "lead " << lead << ", class " << c << " of sample " << i;
  }
}

TEST_P(CrossEntropy, HugeLogitsNeitherOverflowNorVanish) {
  Logits z(3, 1);
  z(0, 0) = 1e30f, z(1, 0) = -1e30f, z(2, 0) = 0.0f;
  EXPECT_NEAR(z.loss(math(), {1}, 0.5f), 1e30, 1e24);  // half of the difference of 2e30
  EXPECT_FLOAT_EQ(z(0, 0), 0.5f);
  EXPECT_FLOAT_EQ(z(1, 0), -0.5f);
  EXPECT_FLOAT_EQ(z(2, 0), 0.0f);
}

TEST_P(CrossEntropy, NanReachesTheLossAndNeverCountsAsCorrect) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = 0; at < 3; ++at) {
    Logits z(3, 18);
    std::vector<float> labels(18, 2.0f);
    for (std::size_t i = 0; i < 18; ++i) z(1, i) = 1.0f, z(2, i) = 2.0f;
    z(at, 17) = nan;
    EXPECT_EQ(z.correct(labels), 17u) << "NaN at " << at;
    EXPECT_TRUE(std::isnan(z.loss(math(), labels, 1.0f))) << "NaN at " << at;
    EXPECT_TRUE(std::isnan(z(2, 17))) << "NaN at " << at;
    EXPECT_FALSE(std::isnan(z(2, 16))) << "NaN at " << at;
  }
}

TEST_P(CrossEntropy, EqualLargestLogitsShareTheProbability) {
  Logits z(3, 1);
  z(0, 0) = z(2, 0) = 7.0f;
  z(1, 0) = -200.0f;
  EXPECT_NEAR(z.loss(math(), {2}, 1.0f), std::log(2.0), 1e-6);
  EXPECT_FLOAT_EQ(z(0, 0), 0.5f);
  EXPECT_FLOAT_EQ(z(2, 0), -0.5f);
}

TEST(CountCorrect, TiesGoToTheLowerClass) {
  Logits z(3, 3);
  const float rows[3][3] = {{1, 1, 0}, {0, 2, 2}, {3, 1, 3}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t c = 0; c < 3; ++c) z(c, i) = rows[i][c];
  EXPECT_EQ(z.correct({0, 1, 0}), 3u);
  EXPECT_EQ(z.correct({1, 2, 2}), 0u);
}

// A perfectly fitted shard, as with data split by label. The float gradient must keep its relative
// accuracy although every p_y rounds to 1.
TEST(OverfitShard, GradientIsAccurate) {
  const std::size_t samples = 40, features = 4, classes = 3;
  const auto a = made_up::normals<float>(samples * features, 1);
  const std::vector<double> labels(samples, 1.0);
  const ObjectiveOptions softmax = made_up::options_of("softmax");
  const auto f = make_objective<double>(
      softmax, {{samples, features, std::vector<double>(a.begin(), a.end()), labels}}, {}, 3);
  const auto f_float = make_objective<float>(softmax, {{samples, features, a, labels}}, {}, 3);
  auto x_float = made_up::normals<float>(f->dimension(), 3, 0.1);
  x_float[classes * features + 1] += 25.0f;  // the bias of the label
  const std::vector<double> x(x_float.begin(), x_float.end());
  std::vector<double> g(x.size());
  std::vector<float> g_float(x.size());
  f->gradient(0, x, g);
  f_float->gradient(0, x_float, g_float);
  EXPECT_LT(std::fabs(g[classes * features + 1]), 1e-9);
  EXPECT_LT(made_up::relative_distance(g_float, g), 1e-5);
}

}  // namespace
}  // namespace ticopd
