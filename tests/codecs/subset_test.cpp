// top_k and rand_k: the codecs that send some coordinates unchanged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "rows.hpp"
#include "ticopd/numeric/permutation.hpp"

namespace ticopd::testing {
namespace {

template <class T>
class TopK : public ::testing::Test {};
template <class T>
class RandK : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TopK, Scalars);
TYPED_TEST_SUITE(RandK, Scalars);

TYPED_TEST(TopK, KeepsOnlyTheLargestMagnitudes) {
  using T = TypeParam;
  for (std::size_t d = 0; d <= 130; ++d)
    for (const std::size_t k : {1, 2, 17, 130, 1000}) {
      const auto codec = make_codec<T>(keep("top_k", k));
      std::vector<T> v = random_row<T>(d);
      for (std::size_t i = 0; i + 5 < d; i += 5) v[i + 5] = -v[i];  // ties
      std::vector<std::size_t> order(d);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(v[a]) > std::abs(v[b]);
      });
      std::vector<T> expected(d, T{0});
      for (std::size_t i = 0; i < std::min(k, d); ++i) expected[order[i]] = v[order[i]];
      const Bytes payload = encoded(*codec, v, MessageId{});
      const std::vector<T> q = decoded(*codec, payload, MessageId{}, d);
      ASSERT_EQ(q, expected) << "d " << d << " k " << k;
      ASSERT_EQ(decoded(*codec, encoded(*codec, q, MessageId{}), MessageId{}, d), q)
          << "a second time";
    }
}

TYPED_TEST(TopK, GivesTiesToTheLowerIndex) {
  using T = TypeParam;
  const auto codec = make_codec<T>(keep("top_k", 3));
  const std::vector<T> v{1, -2, 2, -1, 1, -2, 0};
  EXPECT_EQ(decoded(*codec, encoded(*codec, v, MessageId{}), MessageId{}, 7),
            (std::vector<T>{0, -2, 2, 0, 0, -2, 0}));
  const std::vector<T> w{1, -1, 1, -1, 1};
  EXPECT_EQ(decoded(*codec, encoded(*codec, w, MessageId{}), MessageId{}, 5),
            (std::vector<T>{1, -1, 1, 0, 0}));
}

TYPED_TEST(TopK, CountsItsBytesAndThePapersBits) {
  using T = TypeParam;
  const auto ten = make_codec<T>(keep("top_k", 10));
  EXPECT_EQ(ten->payload_bytes(1000), 10 * sizeof(T) + 13);  // 10 indices of 10 bits
  EXPECT_DOUBLE_EQ(ten->paper_bits(1000), 10 * (32 + 10));
  EXPECT_EQ(ten->payload_bytes(1024), 10 * sizeof(T) + 13);
  EXPECT_EQ(ten->payload_bytes(1025), 10 * sizeof(T) + 14);
  EXPECT_EQ(ten->payload_bytes(1), sizeof(T)) << "the index of one coordinate needs no bits";
  EXPECT_EQ(ten->payload_bytes(4), 4 * sizeof(T) + 1) << "k is at most d";
  EXPECT_EQ(ten->payload_bytes(0), 0u);
  const auto tenth = make_codec<T>(keep_share("top_k", 0.1));
  EXPECT_DOUBLE_EQ(tenth->paper_bits(79510), 7951 * (32 + 17));
  EXPECT_DOUBLE_EQ(tenth->paper_bits(9), 1 * (32 + 4)) << "at least one";
  EXPECT_DOUBLE_EQ(*tenth->contraction(100), 1 - std::sqrt(0.9));
}

// d = 5: three values, then three indices of three bits.
template <class T>
Bytes top_3_of_5(std::vector<T> values, std::vector<unsigned> indices, unsigned padding = 0) {
  Bytes bytes(3 * sizeof(T) + 2);
  std::memcpy(bytes.data(), values.data(), 3 * sizeof(T));
  const unsigned plane = indices[0] | indices[1] << 3 | indices[2] << 6 | padding << 9;
  bytes[3 * sizeof(T)] = static_cast<std::byte>(plane);
  bytes[3 * sizeof(T) + 1] = static_cast<std::byte>(plane >> 8);
  return bytes;
}

TYPED_TEST(TopK, RejectsIndicesValuesAndPaddingThatNoEncoderWrites) {
  using T = TypeParam;
  const auto codec = make_codec<T>(keep("top_k", 3));
  std::vector<T> q(5);
  const auto accepts = [&](const Bytes& in) { return codec->decode(in, MessageId{}, q); };
  const std::vector<T> values{1, 2, 3};
  EXPECT_TRUE(accepts(top_3_of_5(values, {0, 2, 4})));
  EXPECT_EQ(q, (std::vector<T>{1, 0, 2, 0, 3}));
  EXPECT_FALSE(accepts(top_3_of_5(values, {0, 2, 5}))) << "index d";
  EXPECT_FALSE(accepts(top_3_of_5(values, {0, 2, 7}))) << "index above d";
  EXPECT_FALSE(accepts(top_3_of_5(values, {0, 2, 2}))) << "twice";
  EXPECT_FALSE(accepts(top_3_of_5(values, {2, 0, 4}))) << "out of order";
  for (unsigned bit = 0; bit < 7; ++bit)
    EXPECT_FALSE(accepts(top_3_of_5(values, {0, 2, 4}, 1u << bit))) << "padding bit " << bit;
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const T bad : {inf, -inf, nan}) EXPECT_FALSE(accepts(top_3_of_5<T>({1, bad, 3}, {0, 2, 4})));
}

TYPED_TEST(RandK, KeepsTheFirstValuesOfItsPermutation) {
  using T = TypeParam;
  for (std::size_t d = 0; d <= 130; ++d)
    for (const bool unbiased : {false, true}) {
      const auto codec = make_codec<T>(keep("rand_k", 9, unbiased));
      const std::vector<T> v = random_row<T>(d);
      const MessageId message{4, static_cast<std::uint32_t>(d), 6, 2};
      const Permutation p(d, Noise{4, static_cast<std::uint32_t>(d), 6, 0x80000002u});
      const std::size_t k = std::min<std::size_t>(9, d);
      std::vector<T> sent, expected(d, T{0});
      for (std::size_t i = 0; i < k; ++i) {
        sent.push_back(v[p(i)]);
        expected[p(i)] = unbiased ? v[p(i)] * (static_cast<T>(d) / static_cast<T>(k)) : v[p(i)];
      }
      const Bytes payload = encoded(*codec, v, message);
      ASSERT_EQ(hex(payload), hex(std::as_bytes(std::span(sent)))) << "values only";
      ASSERT_EQ(decoded(*codec, payload, message, d), expected);
    }
}

TYPED_TEST(RandK, DrawsEveryCoordinateEquallyOften) {
  using T = TypeParam;
  const std::size_t d = 37, k = 5, rounds = 5000;
  const auto codec = make_codec<T>(keep("rand_k", k));
  const std::vector<T> ones(d, T{1});
  std::vector<double> times(d);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const MessageId message{8, round, 1, 0};
    const auto q = decoded(*codec, encoded(*codec, ones, message), message, d);
    ASSERT_EQ(std::count(q.begin(), q.end(), T{1}), static_cast<std::ptrdiff_t>(k));
    for (std::size_t i = 0; i < d; ++i) times[i] += static_cast<double>(q[i]);
  }
  const double share = double(k) / d;
  const double deviation = std::sqrt(rounds * share * (1 - share));
  for (const double t : times) EXPECT_NEAR(t, rounds * share, 4.5 * deviation);
}

TYPED_TEST(RandK, CountsItsBytesAndThePapersBits) {
  using T = TypeParam;
  const auto ten = make_codec<T>(keep("rand_k", 10));
  EXPECT_EQ(ten->payload_bytes(1000), 10 * sizeof(T));
  EXPECT_EQ(ten->payload_bytes(3), 3 * sizeof(T));
  EXPECT_EQ(ten->payload_bytes(0), 0u);
  EXPECT_DOUBLE_EQ(ten->paper_bits(1000), 32 * 10 + 64);
  EXPECT_DOUBLE_EQ(*ten->contraction(40), 1 - std::sqrt(0.75));
  EXPECT_FALSE(make_codec<T>(keep("rand_k", 10, true))->contraction(40));
}

TYPED_TEST(RandK, RejectsValuesThatAreOrBecomeInfinite) {
  using T = TypeParam;
  const auto codec = make_codec<T>(keep("rand_k", 1, true));
  std::vector<T> q(10);
  const auto accepts = [&](T value) {
    return codec->decode(std::as_bytes(std::span(&value, 1)), MessageId{}, q);
  };
  const T max = std::numeric_limits<T>::max();
  Bytes out;
  EXPECT_TRUE(codec->encode(std::vector<T>(10, max / 16), MessageId{}, out));
  EXPECT_FALSE(codec->encode(std::vector<T>(10, max / 2), MessageId{}, out))
      << "DEC would refuse it";
  EXPECT_TRUE(accepts(max / 16));
  EXPECT_FALSE(accepts(max / 2)) << "times d / k = 10";
  EXPECT_FALSE(accepts(std::numeric_limits<T>::infinity()));
  EXPECT_FALSE(accepts(std::numeric_limits<T>::quiet_NaN()));
}

}  // namespace
}  // namespace ticopd::testing
