// adaptive: points, probabilities and ternary digits, each recomputed from the paper's formulas.
#include <gtest/gtest.h>

#include <limits>

#include "rows.hpp"

namespace ticopd::testing {
namespace {

template <class T>
class Adaptive : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Adaptive, Scalars);

const MessageId message{1, 2, 3, 0};

double point(double omega, double step, double level) {
  if (omega == 0) return 2 * step * level;
  const double root = omega + std::sqrt(1 + omega * omega);
  return step / omega * (std::pow(root * root, level) - 1);
}

// The level of x by logarithms, as in the paper.
double level_below(double omega, double step, double x) {
  if (omega == 0) return std::floor(x / (2 * step));
  const double root = omega + std::sqrt(1 + omega * omega);
  return std::floor(std::log1p(omega * x / step) / (2 * std::log(root)));
}

TYPED_TEST(Adaptive, RoundsToOneOfTheTwoNearestPoints) {
  using T = TypeParam;
  for (const double omega : {0.0, 0.001, 0.25, 3.0})
    for (const double step : {1e-3, 0.5}) {
      std::vector<T> v = random_row<T>(2000);
      for (T& x : v) x = std::clamp(x, T{-100}, T{100});
      const auto codec = make_codec<T>(adaptive(omega, step));
      const std::vector<T> q = decoded(*codec, encoded(*codec, v, message), message, v.size());
      for (std::size_t k = 0; k < v.size(); ++k) {
        const double x = std::abs(static_cast<double>(v[k]));
        const double l = level_below(omega, step, x);
        const double low = point(omega, step, l), high = point(omega, step, l + 1);
        const double p = (x - low) / (high - low);
        if (p < 1e-6 || p > 1 - 1e-6) continue;  // too close: rounding decides
        const double expected = Noise{message}.uniform(k) < p ? high : low;
        ASSERT_NEAR(std::abs(q[k]), expected, 1e-5 * expected) << omega << " " << x;
        ASSERT_TRUE(q[k] == 0 || std::signbit(q[k]) == std::signbit(v[k]));
      }
    }
}

// With omega = 0 and step = 1 the points are two apart, so the level of x is x / 2.
TEST(Adaptive, WritesItsLevelsInTernaryDigits) {
  const auto codec = make_codec<double>(adaptive(0, 1));
  const auto digits = [&](const std::vector<double>& v) {
    const Bytes payload = encoded(*codec, v, message);
    std::string text;
    for (const std::byte b : payload)
      for (unsigned n = std::to_integer<unsigned>(b), i = 0; i < 5; ++i, n /= 3)
        text += "01s"[n % 3];
    return text;
  };
  EXPECT_EQ(digits({}), "");
  EXPECT_EQ(digits({0}), "s0000");
  EXPECT_EQ(digits({2, -2}), "0s1s0");          // levels 1 and -1: a sign digit and a stop digit
  EXPECT_EQ(digits({4, 6, -6}), "00s01s11s0");  // 2, 3: a sign, then the bits after the leading one
  EXPECT_EQ(digits({-20, 0, 0}), "1010sss000");  // 10 is 1010 in binary
  EXPECT_EQ(digits(std::vector<double>(6, 0.0)), "ssssss0000");
}

TYPED_TEST(Adaptive, CountsThePapersBitsDigitByDigit) {
  using T = TypeParam;
  for (const Coding coding : {Coding::fixed, Coding::entropy, Coding::elias}) {
    const auto codec = make_codec<T>(coded(adaptive(0.1, 0.01), coding));
    const std::vector<T> v = random_row<T>(500);
    const Bytes payload = encoded(*codec, v, message);
    const std::vector<T> q = decoded(*codec, payload, message, v.size());
    double digits = 0;
    for (const T x : q) {
      const double level = std::round(std::log1p(0.1 * std::abs(static_cast<double>(x)) / 0.01) /
                                      (2 * std::log(0.1 + std::sqrt(1.01))));
      digits += 1 + std::ceil(std::log2(level + 1));
    }
    EXPECT_NEAR(codec->paper_bits_of(payload, v.size()), std::log2(3.0) * digits, 1e-6);
    EXPECT_LE(codec->paper_bits_of(payload, v.size()), codec->paper_bits(v.size()));
    if (coding == Coding::fixed) {  // 8/5 bits per digit
      EXPECT_EQ(payload.size(), static_cast<std::size_t>(std::ceil(digits / 5)));
    }
  }
}

TYPED_TEST(Adaptive, RejectsRowsBeyondItsLastPoint) {
  using T = TypeParam;
  const auto uniform = make_codec<T>(adaptive(0, 0.5));  // 0, 1, ..., 65535
  Bytes out;
  EXPECT_TRUE(uniform->encode(std::vector<T>{65535, -65535}, message, out));
  EXPECT_EQ(decoded(*uniform, out, message, 2), (std::vector<T>{65535, -65535}));
  EXPECT_FALSE(uniform->encode(std::vector<T>{T(65535.5)}, message, out));
  EXPECT_FALSE(make_codec<T>(adaptive(0.3, 1))->encode(std::vector<T>{T(0x1.1p127)}, message, out));
}

TYPED_TEST(Adaptive, RejectsDigitsThatEncodeNoLevel) {
  using T = TypeParam;
  const auto codec = make_codec<T>(adaptive(4, 1e25));  // has only a few levels
  const auto takes = [&](std::initializer_list<unsigned> bytes, std::size_t d) {
    Bytes in;
    for (const unsigned b : bytes) in.push_back(static_cast<std::byte>(b));
    std::vector<T> q(d);
    return codec->decode(in, message, q);
  };
  EXPECT_TRUE(takes({2}, 1));                  // stop
  EXPECT_TRUE(takes({2 + 2 * 3 + 2 * 9}, 3));  // three stops
  EXPECT_FALSE(takes({2 + 2 * 3 + 2 * 9}, 2)) << "a stop too many";
  EXPECT_FALSE(takes({2 + 2 * 3}, 3)) << "one too few";
  EXPECT_FALSE(takes({2 + 9}, 1)) << "digits after the last stop";
  EXPECT_FALSE(takes({2, 0}, 1)) << "a byte after the last stop";
  EXPECT_FALSE(takes({243}, 1));
  EXPECT_FALSE(takes({1 + 3 + 9 + 27 + 81, 1 + 3 + 9 + 27 + 2 * 81}, 1)) << "a level too high";
}

// The bits 1, 32 zeros and 1 would wrap around to level 1 in 32 bits.
TYPED_TEST(Adaptive, RejectsALevelThatWouldWrapAround) {
  using T = TypeParam;
  const auto codec = make_codec<T>(adaptive(4, 1e25));
  for (const bool wraps : {false, true}) {
    std::string digits = wraps ? "0" + std::string(31, '0') + "12" : "02";
    digits += std::string(19, '2');
    digits.resize((digits.size() + 4) / 5 * 5, '0');
    Bytes in(digits.size() / 5);
    for (std::size_t i = digits.size(); i-- > 0;) {
      const unsigned byte = 3 * std::to_integer<unsigned>(in[i / 5]);
      in[i / 5] = static_cast<std::byte>(byte + static_cast<unsigned>(digits[i] - '0'));
    }
    std::vector<T> q(20);
    ASSERT_LE(in.size(), codec->payload_bytes(20));
    EXPECT_EQ(codec->decode(in, message, q), !wraps);
  }
}

}  // namespace
}  // namespace ticopd::testing
