#include "ticopd/objectives/cross_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "objectives/made_up.hpp"

namespace ticopd {
namespace {

// Deltas and loss of one row in long double, each entry without cancellation.
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

TEST(CrossEntropy, DeltasKeepTheirDigitsWhereTheLabelIsNearlyCertain) {
  const std::size_t classes = 10;
  for (const double lead : {0.0, 3.0, 12.0, 18.0, 30.0, 60.0}) {
    for (std::uint32_t stream = 0; stream < 20; ++stream) {
      std::vector<float> z = made_up::normals<float>(classes, stream);
      const std::size_t label = stream % classes;
      z[label] += static_cast<float>(lead);
      const Exact want = exact(z, label);
      const double y = static_cast<double>(label);
      const double loss = cross_entropy(z.data(), {&y, 1}, classes, 1.0f);
      for (std::size_t c = 0; c < classes; ++c)
        EXPECT_NEAR(static_cast<double>(z[c] / want.deltas[c]), 1.0, 5e-6)
            << "lead " << lead << ", class " << c << " of label " << label;
      EXPECT_NEAR(loss / static_cast<double>(want.loss), 1.0, 5e-6) << "lead " << lead;
    }
  }
}

TEST(CrossEntropy, HugeLogitsNeitherOverflowNorVanish) {
  std::vector<float> z{1e30f, -1e30f, 0.0f};
  const double labels[] = {1};
  const double loss = cross_entropy(z.data(), labels, 3, 0.5f);
  EXPECT_NEAR(loss, 1e30, 1e24);  // half of the distance of 2e30
  EXPECT_FLOAT_EQ(z[0], 0.5f);
  EXPECT_FLOAT_EQ(z[1], -0.5f);
  EXPECT_FLOAT_EQ(z[2], 0.0f);
}

TEST(CrossEntropy, NanIsCarriedThroughAndNeverCountsAsRight) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = 0; at < 3; ++at) {
    std::vector<float> z{0.0f, 1.0f, 2.0f};
    z[at] = nan;
    const double labels[] = {2};
    EXPECT_EQ(count_correct(z.data(), labels, 3), 0u) << "NaN at " << at;
    EXPECT_TRUE(std::isnan(cross_entropy(z.data(), labels, 3, 1.0f))) << "NaN at " << at;
    EXPECT_TRUE(std::isnan(z[2])) << "NaN at " << at;
  }
}

TEST(CrossEntropy, TiesGoToTheLowerClass) {
  const std::vector<double> z{1, 1, 0, /**/ 0, 2, 2, /**/ 3, 1, 3};
  const std::vector<double> lower{0, 1, 0}, upper{1, 2, 2};
  EXPECT_EQ(count_correct(z.data(), lower, 3), 3u);
  EXPECT_EQ(count_correct(z.data(), upper, 3), 0u);
}

// A shard that is fitted perfectly, as label-split agents fit theirs: the float gradient must keep
// its relative accuracy although every p_y rounds to 1.
TEST(CrossEntropy, GradientOfAnOverfitShardKeepsItsDigits) {
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
