// top_k, rand_k and threshold followed by another codec; indices encoded as gaps; every coding
// compared with `fixed`.
#include <gtest/gtest.h>

#include "rows.hpp"
#include "ticopd/codecs/indices.hpp"
#include "ticopd/numeric/permutation.hpp"

namespace ticopd::testing {
namespace {

template <class T>
class Composition : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Composition, Scalars);

const MessageId message{9, 3, 4, 1};

template <class T>
std::vector<T> sent(const CodecOptions& o, const std::vector<T>& v) {
  const auto codec = make_codec<T>(o);
  return decoded(*codec, encoded(*codec, v, message), message, v.size());
}

CodecOptions inner_of(CodecOptions o) {
  o.kind = std::exchange(o.then, "");
  return o;
}

TYPED_TEST(Composition, EncodesTheKeptValuesAsAShorterRow) {
  using T = TypeParam;
  const std::vector<T> v = random_row<T>(300);
  for (const CodecOptions& first : {keep("top_k", 40), threshold(0.05)})
    for (const char* then : {"qsgd", "sign", "natural", "infinity", "norm_sign"}) {
      const CodecOptions o = followed(first, then, 4, true, 16);
      std::vector<T> kept, expected = sent(first, v);
      for (const T x : expected)
        if (x != 0) kept.push_back(x);
      const std::vector<T> values = sent(inner_of(o), kept);
      for (std::size_t k = 0, at = 0; k < v.size(); ++k)
        if (expected[k] != 0) expected[k] = values[at++];
      EXPECT_EQ(sent(o, v), expected) << name(o);
    }
}

TYPED_TEST(Composition, RandKFollowsThePermutationAndScales) {
  using T = TypeParam;
  const std::vector<T> v = random_row<T>(60);
  Noise subset{message};
  subset.channel |= stream_subset;
  const Permutation p(60, subset);
  for (const bool unbiased : {false, true}) {
    const CodecOptions o = followed(keep("rand_k", 20, unbiased), "qsgd", 6, false);
    std::vector<T> kept(20), expected(60, T{0});
    for (std::size_t i = 0; i < 20; ++i) kept[i] = v[p(i)];
    const std::vector<T> values = sent(inner_of(o), kept);
    for (std::size_t i = 0; i < 20; ++i) expected[p(i)] = values[i] * (unbiased ? T{3} : T{1});
    EXPECT_EQ(sent(o, v), expected);
    EXPECT_EQ(make_codec<T>(o)->payload_bytes(60), make_codec<T>(inner_of(o))->payload_bytes(20));
  }
}

TYPED_TEST(Composition, CountsTheBitsOfBothParts) {
  using T = TypeParam;
  const auto codec = make_codec<T>(followed(keep("top_k", 100), "qsgd", 4));
  EXPECT_EQ(codec->payload_bytes(1000), 125u + 4 + 50 + 13);  // indices; norm, levels, signs
  EXPECT_TRUE(codec->fixed_length());
  EXPECT_DOUBLE_EQ(codec->paper_bits(1000), 100 * 10 + 100 * std::log2(15.0) + 100 + 32);
  EXPECT_FALSE(make_codec<T>(followed(threshold(0.1), "sign"))->fixed_length());
}

TEST(IndexGaps, RoundTripEverySubset) {
  const IndexCode code(Coding::entropy);
  Generator random(Noise{2, 0, 0, stream_synthetic});
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t d = random.below(trial % 10 == 0 ? 100000 : 200);
    const double density = std::exp(-8 * random.uniform());
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < d; ++i)
      if (random.uniform() < density) indices.push_back(i);
    Bytes out{std::byte{1}};
    code.append(indices, d, out);
    ASSERT_LE(out.size(), 1 + code.most_bytes(indices.size(), d));
    out.push_back(std::byte{7});
    std::span<const std::byte> in = std::span<const std::byte>(out).subspan(1);
    std::vector<std::size_t> back(indices.size());
    ASSERT_TRUE(code.take(in, d, back)) << d;
    ASSERT_EQ(back, indices);
    ASSERT_EQ(in.size(), 1u) << "the rest is left";
    std::span<const std::byte> less = std::span<const std::byte>(out).subspan(1, out.size() - 3);
    ASSERT_FALSE(out.size() > 3 && code.take(less, d, back)) << "cut";
  }
}

// The layout, lowest bit first: the number b, then for each gap some ones, a zero and b bits.
TEST(IndexGaps, EachSubsetHasExactlyOneEncoding) {
  const auto takes = [](unsigned b, unsigned bits) {
    const Bytes bytes{static_cast<std::byte>(b), static_cast<std::byte>(bits)};
    std::span<const std::byte> in(bytes);
    std::vector<std::size_t> indices(2);
    return IndexCode(Coding::elias).take(in, 8, indices) && in.empty();
  };
  EXPECT_TRUE(takes(0, 0b010));        // 0, 2
  EXPECT_FALSE(takes(1, 0b1000));      // the same subset in a longer form
  EXPECT_FALSE(takes(0, 0b1010));      // bits after the last gap
  EXPECT_FALSE(takes(0, 0b111111));    // the unary part never ends
  EXPECT_TRUE(takes(1, 0b101001));     // 2, 6
  EXPECT_FALSE(takes(1, 0b111010));    // 2, then a unary part that never ends
  EXPECT_FALSE(takes(4, 0));           // more bits than an index has
  EXPECT_FALSE(takes(3, 0b11101110));  // 7, then 15, which is out of range
}

// A subset needs log2(d choose k) bits. Fixed fields would take 17 bits per index.
TEST(IndexGaps, SizeIsCloseToTheEntropyOfASubset) {
  const std::size_t d = 79510, k = 795;
  const Permutation p(d, Noise{message});
  std::vector<float> v(d, 0.0f);
  for (std::size_t i = 0; i < k; ++i) v[p(i)] = 1;
  const auto n = [](std::size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
  const double bits = (n(d) - n(k) - n(d - k)) / std::log(2.0);
  const CodecOptions o = coded(keep("top_k", k), Coding::entropy);
  const double used =
      8.0 * static_cast<double>(encoded(*make_codec<float>(o), v, message).size() - k * 4);
  EXPECT_GT(used, bits);
  EXPECT_LT(used, 1.04 * bits);
}

// Compare with ==, for which -0.0 equals 0: some fixed planes keep the sign of zero, the other
// codings do not.
TYPED_TEST(Composition, EveryCodingDecodesToTheNumbersOfTheFixedOne) {
  using T = TypeParam;
  for (const CodecOptions& o : later_codecs()) {
    if (o.coding == Coding::fixed) continue;
    for (const std::size_t d : {0, 1, 30, 2100}) {
      const std::vector<T> v = random_row<T>(d);
      EXPECT_EQ(sent(o, v), sent(coded(o, Coding::fixed), v)) << name(o) << " d " << d;
    }
  }
}

TEST(Composition, EntropyCodingIsShorterIfSymbolsRepeat) {
  const std::size_t d = 79510;
  Generator random(Noise{3, 0, 0, stream_synthetic});
  std::vector<float> v(d);
  for (float& x : v) x = static_cast<float>(0.01 * random.normal());
  for (const CodecOptions& o :
       {options("natural"), infinity(4), adaptive(0.25, 1e-3), grid(8),
        followed(keep_share("top_k", 0.01), "qsgd", 4), followed(threshold(0.5), "natural")}) {
    const auto fixed = make_codec<float>(o), entropy = make_codec<float>(coded(o, Coding::entropy));
    const double before = static_cast<double>(encoded(*fixed, v, message).size());
    const double after = static_cast<double>(encoded(*entropy, v, message).size());
    // The ternary digits of `adaptive` already have variable length.
    EXPECT_LT(after, (o.kind == "adaptive" ? 0.95 : 0.8) * before) << name(o);
  }
}

// A payload with one bit flipped must be rejected or decode to finite numbers.
TYPED_TEST(Composition, EveryKindRejectsBitFlipsOrDecodesThemToFiniteNumbers) {
  using T = TypeParam;
  for (const CodecOptions& o : later_codecs()) {
    const auto codec = make_codec<T>(o);
    const std::vector<T> v = random_row<T>(70);
    const Bytes good = encoded(*codec, v, message);
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      Bytes bad = good;
      bad[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      std::vector<T> row(70 + 32, T{5});
      const std::span<T> q = std::span(row).subspan(16, 70);
      if (codec->decode(bad, message, q)) {
        for (const T x : q) ASSERT_TRUE(std::isfinite(x)) << name(o);
      }
      for (std::size_t i = 0; i < 16; ++i)
        ASSERT_TRUE(row[i] == T{5} && row[16 + 70 + i] == T{5}) << name(o);
      codec->paper_bits_of(bad, 70);
    }
  }
}

}  // namespace
}  // namespace ticopd::testing
