// sign and identity.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "rows.hpp"

namespace ticopd::testing {
namespace {

template <class T>
class Sign : public ::testing::Test {};
template <class T>
class Identity : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Sign, Scalars);
TYPED_TEST_SUITE(Identity, Scalars);

TYPED_TEST(Sign, SendsTheMeanMagnitudeAndOneBitPerCoordinate) {
  using T = TypeParam;
  const auto codec = make_codec<T>(options("sign"));
  for (std::size_t d = 1; d <= 130; ++d) {
    const std::vector<T> v = random_row<T>(d);
    double sum = 0;
    for (const T x : v) sum += std::abs(static_cast<double>(x));
    const Bytes payload = encoded(*codec, v, MessageId{});
    const std::vector<T> q = decoded(*codec, payload, MessageId{}, d);
    for (std::size_t k = 0; k < d; ++k) {
      const std::byte signs = payload[4 + k / 8];
      ASSERT_EQ((signs >> (k % 8) & std::byte{1}) != std::byte{0}, std::signbit(v[k]));
      ASSERT_EQ(std::signbit(q[k]), std::signbit(v[k]));
      ASSERT_NEAR(std::abs(q[k]), sum / double(d), 1e-6 * sum / double(d));
    }
  }
}

TYPED_TEST(Sign, DecodesZeroAsPositive) {
  using T = TypeParam;
  const auto codec = make_codec<T>(options("sign"));
  EXPECT_EQ(decoded(*codec, encoded(*codec, {T{0}, T{-3}, T{0}}, MessageId{}), MessageId{}, 3),
            (std::vector<T>{1, -1, 1}));
}

TYPED_TEST(Sign, CountsItsBytesAndThePapersBits) {
  using T = TypeParam;
  const auto codec = make_codec<T>(options("sign"));
  EXPECT_EQ(codec->payload_bytes(0), 4u);
  EXPECT_EQ(codec->payload_bytes(8), 5u);
  EXPECT_EQ(codec->payload_bytes(9), 6u);
  EXPECT_DOUBLE_EQ(codec->paper_bits(1000), 1032);
  EXPECT_DOUBLE_EQ(*codec->contraction(4), 1 - std::sqrt(0.75));
}

TYPED_TEST(Sign, RejectsScalesAndPaddingThatNoEncoderWrites) {
  using T = TypeParam;
  const auto codec = make_codec<T>(options("sign"));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Bytes good = encoded(*codec, random_row<T>(10), MessageId{});
  std::vector<T> q(10);
  for (const float scale : {inf, nan, -1.0f, -0.0f}) {
    Bytes bad = good;
    std::memcpy(bad.data(), &scale, 4);
    EXPECT_FALSE(codec->decode(bad, MessageId{}, q)) << scale;
  }
  for (unsigned bit = 0; bit < 8; ++bit) {
    Bytes bad = good;
    bad[5] ^= static_cast<std::byte>(1u << bit);
    EXPECT_EQ(codec->decode(bad, MessageId{}, q), bit < 2) << "bit " << bit;
  }
}

TEST(Sign, RejectsAMeanOfDoublesBeyondFloat) {
  const auto codec = make_codec<double>(options("sign"));
  Bytes out;
  EXPECT_FALSE(codec->encode(std::vector<double>{1e39, 1e39}, MessageId{}, out));
  EXPECT_TRUE(codec->encode(std::vector<double>{1e38, 1e38}, MessageId{}, out));
}

TYPED_TEST(Identity, SendsTheBytesOfTheRow) {
  using T = TypeParam;
  const auto codec = make_codec<T>(options("identity"));
  std::vector<T> v = random_row<T>(40);
  v[3] = T{-0.0};
  v[4] = std::numeric_limits<T>::denorm_min();
  v[5] = std::numeric_limits<T>::max();
  const Bytes payload = encoded(*codec, v, MessageId{});
  EXPECT_EQ(hex(payload), hex(std::as_bytes(std::span(v))));
  const std::vector<T> q = decoded(*codec, payload, MessageId{}, 40);
  EXPECT_EQ(hex(std::as_bytes(std::span(q))), hex(payload));
  EXPECT_TRUE(codec->lossless());
  EXPECT_EQ(codec->payload_bytes(7), 7 * sizeof(T));
  EXPECT_DOUBLE_EQ(codec->paper_bits(7), 7 * 32) << "the papers count floats";
  EXPECT_DOUBLE_EQ(*codec->contraction(7), 1);
}

TYPED_TEST(Identity, RejectsPayloadsThatAreNotFinite) {
  using T = TypeParam;
  const auto codec = make_codec<T>(options("identity"));
  std::vector<T> q(2);
  for (const T bad : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
    const std::vector<T> row{T{1}, bad};
    EXPECT_FALSE(codec->decode(std::as_bytes(std::span(row)), MessageId{}, q));
  }
}

}  // namespace
}  // namespace ticopd::testing
