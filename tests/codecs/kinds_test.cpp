// natural, norm_sign, infinity, random_gossip, adaptive, threshold, grid: each compared with its
// own formula.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "rows.hpp"
#include "ticopd/codecs/infinity.hpp"
#include "ticopd/codecs/levels.hpp"

namespace ticopd::testing {
namespace {

template <class T>
class Kinds : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Kinds, Scalars);

const MessageId message{1, 2, 3, 0};

template <class T>
std::vector<T> sent(const CodecOptions& o, const std::vector<T>& v, const MessageId& m = message) {
  const auto codec = make_codec<T>(o);
  return decoded(*codec, encoded(*codec, v, m), m, v.size());
}

TYPED_TEST(Kinds, NaturalRoundsToOneOfTheTwoNearestPowersOfTwo) {
  using T = TypeParam;
  const std::vector<T> v = random_row<T>(5000), q = sent(options("natural"), v);
  for (std::size_t k = 0; k < v.size(); ++k) {
    int e = 0;
    if (v[k] == 0) {
      ASSERT_EQ(q[k], 0);
      continue;
    }
    const T f = std::frexp(std::abs(v[k]), &e) * 2 - 1;  // |v| = 2^(e - 1) (1 + f)
    const bool up = Noise{message}.uniform(k) < f;
    ASSERT_EQ(q[k], std::copysign(std::ldexp(T{1}, e - 1 + up), v[k])) << v[k];
  }
}

TYPED_TEST(Kinds, NaturalKeepsPowersOfTwoInTheRangeOfFloat) {
  using T = TypeParam;
  std::vector<T> v;
  for (int e = -126; e <= 127; ++e) v.push_back(std::ldexp(e % 3 == 0 ? T{-1} : T{1}, e));
  EXPECT_EQ(sent(options("natural"), v), v);
  EXPECT_EQ(sent(coded(options("natural"), Coding::entropy), v), v);
  Bytes out;
  v = {T(0x1.000002p127)};
  EXPECT_FALSE(make_codec<T>(options("natural"))->encode(v, message, out));
  // A quarter of the smallest power of two is sent as that power once in four times, else as zero.
  int up = 0;
  for (std::uint32_t round = 0; round < 4000; ++round) {
    const T q = sent<T>(options("natural"), {T(0x1p-128)}, MessageId{8, round, 0, 0})[0];
    ASSERT_TRUE(q == 0 || q == T(0x1p-126));
    up += q != 0;
  }
  EXPECT_NEAR(up, 1000, 5 * std::sqrt(4000 * 0.25 * 0.75));
}

TYPED_TEST(Kinds, NaturalRejectsExponentsOutsideFloat) {
  using T = TypeParam;
  std::vector<T> q(3);
  for (const Coding coding : {Coding::fixed, Coding::elias}) {
    const auto codec = make_codec<T>(coded(options("natural"), coding));
    Bytes payload = encoded(*codec, std::vector<T>{T(0x1p127), 1, 1}, message);
    ASSERT_EQ(payload[0], std::byte{254});
    EXPECT_TRUE(codec->decode(payload, message, q));
    payload[0] = std::byte{255};
    EXPECT_FALSE(codec->decode(payload, message, q));
  }
}

TYPED_TEST(Kinds, NormSignSendsHalfTheLargestMagnitude) {
  using T = TypeParam;
  EXPECT_EQ(sent<T>(options("norm_sign"), {T{1}, T{-3}, T{0}}), (std::vector<T>{1.5, -1.5, 1.5}));
  EXPECT_EQ(sent<T>(bucketed("norm_sign", 2), {T{1}, T{-3}, T{-1}}),
            (std::vector<T>{1.5, -1.5, -0.5}));
  EXPECT_DOUBLE_EQ(make_codec<T>(options("norm_sign"))->paper_bits(100), 132);
}

TYPED_TEST(Kinds, SignSendsOneMeanPerBucket) {
  using T = TypeParam;
  EXPECT_EQ(sent<T>(bucketed("sign", 2), {T{1}, T{-3}, T{-5}}), (std::vector<T>{2, -2, -5}));
  EXPECT_EQ(make_codec<T>(bucketed("sign", 10))->payload_bytes(21), 12u + 3u);
  for (const std::size_t bucket : {1, 3, 8, 13}) {  // buckets begin inside bytes
    const std::vector<T> v = random_row<T>(100), q = sent(bucketed("sign", bucket), v);
    for (std::size_t k = 0; k < v.size(); ++k) {
      ASSERT_EQ(std::signbit(q[k]), std::signbit(v[k])) << bucket << " " << k;
      ASSERT_EQ(std::abs(q[k]), std::abs(q[k / bucket * bucket])) << bucket << " " << k;
    }
  }
}

TYPED_TEST(Kinds, InfinityRoundsToLevelsOfTheLargestMagnitude) {
  using T = TypeParam;
  for (const int bits : {1, 2, 8, 16}) {
    const std::vector<T> v = random_row<T>(300), q = sent(infinity(bits, 100), v);
    const double s = std::ldexp(1.0, bits - 1);
    for (std::size_t b = 0; b < 3; ++b) {
      double largest = 0;
      for (std::size_t k = 100 * b; k < 100 * (b + 1); ++k)
        largest = std::max(largest, std::abs(static_cast<double>(v[k])));
      for (std::size_t k = 100 * b; k < 100 * (b + 1); ++k) {
        const double at =
            std::abs(static_cast<double>(v[k])) / largest * s + Noise{message}.uniform(k);
        if (std::abs(at - std::round(at)) < 1e-4 * s) continue;  // too close: rounding decides
        ASSERT_NEAR(std::abs(q[k]), std::floor(at) * largest / s, 1e-6 * largest) << bits;
      }
    }
  }
  EXPECT_DOUBLE_EQ(make_codec<T>(infinity(4, 512))->paper_bits(1024), 1024 * 5 + 64);
}

TYPED_TEST(Kinds, InfinityRejectsLevelsAboveTheLargest) {
  using T = TypeParam;
  const auto codec = make_codec<T>(infinity(3));  // levels 0 ... 4 in fields of 3 bits
  const Bytes good = encoded(*codec, std::vector<T>{1, 1}, message);
  std::vector<T> q(2);
  ASSERT_EQ(good[4], std::byte{044});
  for (unsigned level = 0; level < 8; ++level) {
    Bytes other = good;
    other[4] = static_cast<std::byte>(4 + 8 * level);
    EXPECT_EQ(codec->decode(other, message, q), level <= 4) << level;
  }
}

TEST(Infinity, VectorLoopsMakeTheBytesOfScalarLoops) {
  const std::vector<float> v = random_row<float>(5003);
  for (const int bits : {1, 4, 8, 11, 16})
    for (const Coding coding : {Coding::fixed, Coding::entropy}) {
      const CodecOptions o = coded(infinity(bits, 512), coding);
      const ticopd::Infinity<float> ours(o);
      const ticopd::Infinity<float, ScalarLoops<float>> reference(o);
      EXPECT_EQ(encoded(ours, v, message), encoded(reference, v, message)) << bits;
    }
}

TYPED_TEST(Kinds, RandomGossipSendsTheWholeRowWithProbabilityP) {
  using T = TypeParam;
  const auto codec = make_codec<T>(gossip(0.3));
  const std::vector<T> v = random_row<T>(9);
  int sent = 0;
  for (std::uint32_t round = 0; round < 2000; ++round) {
    const MessageId m{5, round, 0, 0};
    const Bytes payload = encoded(*codec, v, m);
    sent += !payload.empty();
    ASSERT_EQ(decoded(*codec, payload, m, 9), payload.empty() ? std::vector<T>(9) : v);
    ASSERT_EQ(codec->paper_bits_of(payload, 9), payload.empty() ? 1 : 1 + 32 * 9);
    std::vector<T> q(9);
    const Bytes other(payload.empty() ? 9 * sizeof(T) : 0);  // the payload of the other outcome
    ASSERT_FALSE(codec->decode(other, m, q));
  }
  EXPECT_NEAR(sent, 600, 5 * std::sqrt(2000 * 0.3 * 0.7));
}

TYPED_TEST(Kinds, ThresholdKeepsLargeValuesAndNoZeros) {
  using T = TypeParam;
  const std::vector<T> v{T{-4}, T{1}, T{0}, T{2}, T(-1.9), T{-2}};
  EXPECT_EQ(sent(threshold(0.5), v), (std::vector<T>{-4, 0, 0, 2, 0, -2}));
  EXPECT_EQ(sent(threshold(1), v), (std::vector<T>{-4, 0, 0, 0, 0, 0}));
  EXPECT_EQ(sent(threshold(0), v), v);
  const auto codec = make_codec<T>(threshold(0.5));
  const Bytes payload = encoded(*codec, v, message);
  EXPECT_EQ(payload.size(), 1 + 3 * sizeof(T) + 2);  // a count, three values, three times 3 bits
  EXPECT_DOUBLE_EQ(codec->paper_bits_of(payload, 6), 3 * 35);
  EXPECT_EQ(encoded(*codec, std::vector<T>(300, T{0}), message).size(), 2u);
}

TYPED_TEST(Kinds, ThresholdRejectsValuesBelowItsThreshold) {
  using T = TypeParam;
  const auto codec = make_codec<T>(threshold(0.5));
  Bytes payload = encoded(*codec, std::vector<T>{1, 0.75, 0.1}, message);
  std::vector<T> q(3);
  for (const T value : {T(0.5), T{2}, T(0.49), T(2.1), T{0}}) {
    std::memcpy(payload.data() + 1 + sizeof(T), &value, sizeof(T));
    EXPECT_EQ(codec->decode(payload, message, q), value >= T(0.5) && value <= T{2}) << value;
  }
  payload[0] = std::byte{4};
  EXPECT_FALSE(codec->decode(payload, message, q)) << "more than there are";
}

TYPED_TEST(Kinds, GridRoundsToTheMiddleOfTheNearestCell) {
  using T = TypeParam;
  for (const Coding coding : {Coding::fixed, Coding::entropy, Coding::elias})
    for (const int bits : {1, 4, 16})
      for (const std::uint32_t round : {0u, 1u, 2u, 300u}) {
        const double r = 2 * std::pow(0.9, round < 2 ? 0 : round - 1.0);
        std::vector<T> v = random_row<T>(200);
        for (T& x : v) x = static_cast<T>(static_cast<double>(x) * r / 3);
        const MessageId m{1, round, 0, 0};
        const std::vector<T> q = sent(coded(grid(bits, 2, 0.9), coding), v, m);
        const double half = r / std::ldexp(1.0, bits);
        std::uint64_t outside = 0;
        for (std::size_t k = 0; k < v.size(); ++k) {
          const double x = static_cast<double>(v[k]), y = static_cast<double>(q[k]);
          outside += std::abs(x) > r;
          ASSERT_NEAR(y, std::clamp(x, -r, r), half * (1 + 1e-5) + 1e-6 * std::abs(x));
          const double cell = (y / half + 1) / 2;  // the middles are odd multiples of half a cell
          ASSERT_NEAR(cell, std::round(cell), 1e-2) << bits;
        }
        const auto codec = make_codec<T>(grid(bits, 2, 0.9));
        EXPECT_EQ(codec->saturated(Source<T>(v), m), outside) << round;
        EXPECT_GT(outside, 0u);
      }
  EXPECT_EQ(make_codec<T>(grid(5))->payload_bytes(79510), 49694u);
  EXPECT_DOUBLE_EQ(make_codec<T>(grid(5))->paper_bits(79510), 5 * 79510);
}

TYPED_TEST(Kinds, GridRejectsLevelZeroInVariableLengthCodings) {
  using T = TypeParam;
  const auto codec = make_codec<T>(coded(grid(3), Coding::elias));
  std::vector<T> q(2);
  for (const int level : {0, 1, 4}) {
    const std::vector<std::uint8_t> levels{2, static_cast<std::uint8_t>(level)};
    Bytes payload;
    append_levels<std::uint8_t>(Coding::elias, levels, Bytes(1), 4, payload);
    EXPECT_EQ(codec->decode(payload, message, q), level > 0);
  }
}

TYPED_TEST(Kinds, GridNeverShrinksToZero) {
  using T = TypeParam;
  const std::vector<T> q =
      sent<T>(grid(2, 1, 0.5), {T{1}, T{-1}}, MessageId{1, 4'000'000'000u, 0, 0});
  EXPECT_EQ(q, (std::vector<T>{T(0x1.8p-127), T(-0x1.8p-127)}));
}

}  // namespace
}  // namespace ticopd::testing
