// Exponentials and activations in float compared with double, at the ends of the range too.
#include "ticopd/kernels/activation.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// |got - want| in units of the last place of want rounded to float.
double ulps(float got, double want) {
  const float rounded = static_cast<float>(want);
  if (got == rounded) return 0.0;
  const float next = std::nextafter(std::fabs(rounded), infinity);
  return std::fabs(static_cast<double>(got) - want) /
         (static_cast<double>(next) - std::fabs(static_cast<double>(rounded)));
}

// Many floats of every magnitude and both signs, made by stepping through the bit patterns.
std::vector<float> floats_up_to(float bound) {
  std::vector<float> v;
  for (std::uint32_t bits = 0; bits < std::bit_cast<std::uint32_t>(bound); bits += 4999) {
    v.push_back(std::bit_cast<float>(bits));
    v.push_back(-v.back());
  }
  for (float x = -bound; x < bound; x += bound / 50000) v.push_back(x);
  return v;
}

template <class Reference>
void expect_within(const std::vector<float>& x, const std::vector<float>& got, double most,
                   Reference reference) {
  double worst = 0.0;
  float worst_at = 0.0f;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (const double e = ulps(got[k], reference(static_cast<double>(x[k]))); !(e <= worst)) {
      worst = e;
      worst_at = x[k];
    }
  EXPECT_LE(worst, most) << "at " << worst_at;
}

TEST(Activation, ExponentialsAreWithinTwoUlp) {
  std::vector<float> x = floats_up_to(104.0f);
  std::erase_if(x, [](float v) { return v > 88.7f; });
  std::vector<float> v = x;
  exponentials(v.data(), v.size());
  expect_within(x, v, 2.0, [](double a) { return std::exp(a); });
}

TEST(Activation, ExponentialsEndInZeroInfinityAndNan) {
  std::vector<float> v{-infinity, -1e30f, -104.0f, 0.0f, -0.0f, 88.8f, 1e30f, infinity, nan, -nan};
  exponentials(v.data(), v.size());
  EXPECT_EQ(v[0], 0.0f);
  EXPECT_EQ(v[1], 0.0f);
  EXPECT_EQ(v[2], 0.0f);
  EXPECT_EQ(v[3], 1.0f);
  EXPECT_EQ(v[4], 1.0f);
  EXPECT_EQ(v[5], infinity);
  EXPECT_EQ(v[6], infinity);
  EXPECT_EQ(v[7], infinity);
  EXPECT_TRUE(std::isnan(v[8]));
  EXPECT_TRUE(std::isnan(v[9]));
}

TEST(Activation, SigmoidAndTanhAreWithinFourUlp) {
  const std::vector<float> x = floats_up_to(85.0f);
  std::vector<float> v = x;
  activate(Activation::sigmoid, v.data(), v.size());
  expect_within(x, v, 4.0, [](double a) { return 1.0 / (1.0 + std::exp(-a)); });
  v = x;
  activate(Activation::tanh, v.data(), v.size());
  expect_within(x, v, 4.0, [](double a) { return std::tanh(a); });
}

TEST(Activation, InfinitiesGiveTheLimitsAndNanStaysNan) {
  for (const Activation phi : {Activation::sigmoid, Activation::tanh, Activation::relu}) {
    std::vector<float> v{-infinity, infinity, nan};
    activate(phi, v.data(), v.size());
    EXPECT_EQ(v[0], phi == Activation::tanh ? -1.0f : 0.0f);
    EXPECT_EQ(v[1], phi == Activation::relu ? infinity : 1.0f);
    EXPECT_TRUE(std::isnan(v[2]));
    std::vector<float> delta{1.0f};
    times_derivative(phi, &v[2], delta.data(), 1);
    EXPECT_TRUE(std::isnan(delta[0]));
  }
}

// Vector code of any width and the scalar code for the remainder must give the same bits. A single
// element takes the scalar path.
TEST(Activation, BitsDoNotDependOnThePositionInTheArray) {
  std::vector<float> x = floats_up_to(100.0f);
  x.resize(20011);
  for (const Activation phi : {Activation::sigmoid, Activation::tanh, Activation::relu}) {
    std::vector<float> together = x;
    activate(phi, together.data(), together.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      float alone = x[k];
      activate(phi, &alone, 1);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(alone), std::bit_cast<std::uint32_t>(together[k]))
          << "x = " << x[k];
    }
  }
  std::vector<float> together = x;
  exponentials(together.data(), together.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    float alone = x[k];
    exponentials(&alone, 1);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(alone), std::bit_cast<std::uint32_t>(together[k]));
  }
}

TEST(Activation, DerivativesAreTakenFromTheOutputs) {
  for (const Activation phi : {Activation::sigmoid, Activation::tanh, Activation::relu})
    for (const double z : {-2.0, -0.3, 0.4, 1.7}) {
      constexpr double step = 1e-6;
      std::vector<double> h{z, z - step, z + step};
      activate(phi, h.data(), h.size());
      double delta = 3.0;
      times_derivative(phi, h.data(), &delta, 1);
      EXPECT_NEAR(delta, 3.0 * (h[2] - h[1]) / (2 * step), 1e-8);
    }
}

TEST(Activation, UnknownNameIsRejectedWithTheKey) {
  EXPECT_EQ(activation_of("relu"), Activation::relu);
  try {
    activation_of("sigmod");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("problem.activation"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("did you mean \"sigmoid\""), std::string::npos);
  }
}

}  // namespace
}  // namespace ticopd
