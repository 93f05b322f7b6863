// qsgd compared with a second implementation, written from docs/wire_format.md.
#include "ticopd/codecs/qsgd.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "rows.hpp"

namespace ticopd::testing {
namespace {

template <class T>
class Qsgd : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Qsgd, Scalars);

// The sum tree written from the text of docs/wire_format.md, independently of the library's loops.
double reference_sum(const std::vector<double>& terms) {
  const auto fold = [](std::vector<double> lanes) {
    for (std::size_t half = 8; half >= 1; half /= 2)
      for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    return lanes[0];
  };
  std::vector<double> outer(16, 0.0);
  for (std::size_t b = 0; b * 128 < terms.size(); ++b) {
    std::vector<double> lanes(16, 0.0);
    for (std::size_t k = b * 128; k < std::min(terms.size(), (b + 1) * 128); ++k)
      lanes[k % 16] += terms[k];
    outer[b % 16] += fold(lanes);
  }
  return fold(outer);
}

struct Reference {
  Bytes payload;
  std::vector<double> q;  // the exact value of each coordinate of Q(v), in T
};

void set_bits(Bytes& bytes, std::size_t first_bit, unsigned value, unsigned bits) {
  for (unsigned i = 0; i < bits; ++i)
    if (value >> i & 1)
      bytes[(first_bit + i) / 8] |= static_cast<std::byte>(1u << (first_bit + i) % 8);
}

// A reference for ENC and DEC: one coordinate and one bit at a time.
template <class T>
Reference reference(const std::vector<T>& v, const MessageId& message, const CodecOptions& o) {
  const std::size_t d = v.size();
  const std::size_t length = o.bucket == 0 ? d : o.bucket;
  const std::size_t buckets = d == 0 ? 1 : (d + length - 1) / length;
  const auto bits = static_cast<unsigned>(o.bits);
  const unsigned s = (1u << bits) - 1;
  const std::size_t levels_at = 4 * buckets;
  const std::size_t signs_at = levels_at + (d * bits + 7) / 8;
  Reference r{Bytes(signs_at + (d + 7) / 8), std::vector<double>(d)};
  for (std::size_t b = 0; b < buckets && d > 0; ++b) {
    const std::size_t last = std::min(d, (b + 1) * length);
    std::vector<double> squares;
    for (std::size_t k = b * length; k < last; ++k)
      squares.push_back(static_cast<double>(v[k]) * static_cast<double>(v[k]));
    const float norm = static_cast<float>(std::sqrt(reference_sum(squares)));
    std::memcpy(r.payload.data() + 4 * b, &norm, 4);
    const T lift = norm < 0x1p-64f ? T{0x1p64} : T{1};
    const double n = static_cast<double>(squares.size());
    const double tau = o.scaled ? 1 + std::min(n / (double(s) * s), std::sqrt(n) / s) : 1;
    const T unit = static_cast<T>(norm) / (static_cast<T>(s) * static_cast<T>(tau));
    for (std::size_t k = b * length; k < last; ++k) {
      T level = 0;
      if (norm > 0) {
        const T scale = static_cast<T>(s) / (static_cast<T>(norm) * lift);
        level =
            std::floor((std::abs(v[k]) * lift) * scale + static_cast<T>(Noise{message}.uniform(k)));
        if (level > static_cast<T>(s)) level = static_cast<T>(s);
      }
      set_bits(r.payload, 8 * levels_at + k * bits, static_cast<unsigned>(level), bits);
      set_bits(r.payload, 8 * signs_at + k, std::signbit(v[k]) ? 1 : 0, 1);
      r.q[k] = std::signbit(v[k]) ? -(level * unit) : level * unit;
    }
  }
  return r;
}

TYPED_TEST(Qsgd, MakesTheBytesAndValuesOfTheDocumentedFormula) {
  using T = TypeParam;
  for (const int bits : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16})
    for (const std::size_t bucket : {0, 1, 3, 64, 100, 1000}) {
      const CodecOptions o = qsgd(bits, bits % 2 == 0, bucket);
      const auto codec = make_codec<T>(o);
      for (std::size_t d = 0; d <= 1100; d += d < 132 ? 1 : 313) {
        const std::vector<T> v = random_row<T>(d);
        const MessageId message{(7ull << 32) + 5, static_cast<std::uint32_t>(d), 2, 1};
        const Reference r = reference(v, message, o);
        const Bytes payload = encoded(*codec, v, message);
        ASSERT_EQ(hex(payload), hex(r.payload)) << name(o) << " d " << d;
        const std::vector<T> q = decoded(*codec, payload, message, d);
        for (std::size_t k = 0; k < d; ++k) ASSERT_EQ(q[k], static_cast<T>(r.q[k])) << name(o);
      }
    }
}

TYPED_TEST(Qsgd, QuantisesTinyNormsToTheSameAccuracy) {
  using T = TypeParam;
  for (const double size : {1e-40, 1e-37, 1e-30, 5.421010862427522e-20 /* 2^-64 */, 1e-19}) {
    const CodecOptions o = qsgd(8, false);
    const auto codec = make_codec<T>(o);
    std::vector<T> v = random_row<T>(90);
    for (T& x : v) x *= static_cast<T>(size);
    const MessageId message{1, 1, 1, 0};
    const Bytes payload = encoded(*codec, v, message);
    ASSERT_EQ(hex(payload), hex(reference(v, message, o).payload)) << size;
    const auto q = decoded(*codec, payload, message, v.size());
    // A level is norm / 255. If that is a denormal float, only its own rounding error is left.
    const double norm = std::sqrt(norm2<T>(v));
    const double step = norm / 255 + (sizeof(T) == 4 ? 255 * 0x1p-149 : 0.0) + 1e-6 * norm;
    for (std::size_t k = 0; k < v.size(); ++k) ASSERT_NEAR(q[k], v[k], step) << size;
  }
}

TYPED_TEST(Qsgd, ClampsALevelThatRoundsPastTheLargest) {
  using T = TypeParam;
  const auto codec = make_codec<T>(qsgd(16, false));
  const std::vector<T> v{T{1}};
  bool clamped = false;
  for (std::uint32_t round = 0; round < 4000; ++round) {
    const MessageId message{2, round, 0, 0};
    clamped = clamped || 65535.0f + Noise{message}.uniform(0) >= 65536.0f;
    ASSERT_EQ(hex(encoded(*codec, v, message)), "0000803fffff00");
  }
  EXPECT_TRUE(clamped) << "no draw came near enough to 1: the test shows nothing";
}

TYPED_TEST(Qsgd, IsUnbiasedWhenUnscaled) {
  using T = TypeParam;
  const std::size_t d = 20;
  const std::uint32_t rounds = 4000;
  for (const int bits : {1, 2, 4}) {
    const auto codec = make_codec<T>(qsgd(bits, false));
    const std::vector<T> v = random_row<T>(d);
    std::vector<double> mean(d);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const MessageId message{13, round, 0, 0};
      const auto q = decoded(*codec, encoded(*codec, v, message), message, d);
      for (std::size_t k = 0; k < d; ++k) mean[k] += static_cast<double>(q[k]) / rounds;
    }
    const double level = std::sqrt(norm2<T>(v)) / ((1 << bits) - 1);
    const double deviation = level / 2 / std::sqrt(rounds);  // at most
    for (std::size_t k = 0; k < d; ++k) ASSERT_NEAR(mean[k], v[k], 4.5 * deviation);
  }
}

TYPED_TEST(Qsgd, ScaledIsUnscaledDividedByTau) {
  using T = TypeParam;
  const std::size_t d = 100;
  const std::vector<T> v = random_row<T>(d);
  const MessageId message{1, 5, 0, 0};
  const auto scaled = make_codec<T>(qsgd(3));
  const auto unscaled = make_codec<T>(qsgd(3, false));
  const Bytes payload = encoded(*scaled, v, message);
  ASSERT_EQ(payload, encoded(*unscaled, v, message)) << "tau belongs to DEC";
  const auto small = decoded(*scaled, payload, message, d);
  const auto large = decoded(*unscaled, payload, message, d);
  const double tau = 1 + 10.0 / 7;  // sqrt(d) / s, which is below d / s^2
  for (std::size_t k = 0; k < d; ++k)
    EXPECT_NEAR(small[k] * tau, large[k], 1e-6 * std::abs(large[k]));
}

TYPED_TEST(Qsgd, RejectsANormThatDoesNotFitFloat) {
  using T = TypeParam;
  const auto codec = make_codec<T>(qsgd(8, false));
  Bytes out;
  const std::vector<T> largest{T{0x1p127}};
  ASSERT_TRUE(codec->encode(largest, MessageId{}, out));
  std::vector<T> q(1);
  ASSERT_TRUE(codec->decode(out, MessageId{}, q));
  EXPECT_NEAR(q[0] / T{0x1p127}, 1, 1.0 / 255);
  EXPECT_FALSE(codec->encode(std::vector<T>{T{0x1p127}, T{0x1p127}}, MessageId{}, out));
  EXPECT_FALSE(codec->encode(std::vector<T>{std::numeric_limits<T>::max()}, MessageId{}, out));
}

TYPED_TEST(Qsgd, RejectsNormsAndPaddingThatNoEncoderWrites) {
  using T = TypeParam;
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto codec = make_codec<T>(qsgd(3, true, 4));
  const std::size_t d = 9;  // 27 bits of levels, 9 of signs, three norms
  const Bytes good = encoded(*codec, random_row<T>(d), MessageId{});
  std::vector<T> q(d);
  for (const float norm : {inf, -inf, nan, -1.0f, -0.0f, 0x1.000002p127f})
    for (std::size_t b = 0; b < 3; ++b) {
      Bytes bad = good;
      std::memcpy(bad.data() + 4 * b, &norm, 4);
      EXPECT_FALSE(codec->decode(bad, MessageId{}, q)) << norm << " in bucket " << b;
    }
  for (unsigned bit = 0; bit < 8; ++bit)
    for (const std::size_t at : {12 + 3, 12 + 4 + 1}) {
      Bytes bad = good;
      bad[at] ^= static_cast<std::byte>(1u << bit);
      const bool padding = bit >= (at == 15 ? 3 : 1);
      EXPECT_EQ(codec->decode(bad, MessageId{}, q), !padding) << "byte " << at << " bit " << bit;
    }
}

TYPED_TEST(Qsgd, CountsItsBytesAndThePapersBits) {
  using T = TypeParam;
  const auto whole = make_codec<T>(qsgd(8));
  EXPECT_EQ(whole->payload_bytes(79510), 4u + 79510u + 9939u);
  EXPECT_DOUBLE_EQ(whole->paper_bits(79510), 79510 * std::log2(255.0) + 79510 + 32);
  EXPECT_EQ(make_codec<T>(qsgd(3))->payload_bytes(9), 4u + 4u + 2u);
  EXPECT_EQ(make_codec<T>(qsgd(4, true, 1000))->payload_bytes(2001), 12u + 1001u + 251u);
  EXPECT_DOUBLE_EQ(make_codec<T>(qsgd(4, true, 1000))->paper_bits(2001),
                   2001 * std::log2(15.0) + 2001 + 96);
  EXPECT_DOUBLE_EQ(make_codec<T>(qsgd(1))->paper_bits(10), 10 + 32);  // log2(1) = 0
  EXPECT_EQ(whole->payload_bytes(0), 4u) << "an empty row is one empty bucket";
  EXPECT_DOUBLE_EQ(whole->paper_bits(0), 32);
}

TYPED_TEST(Qsgd, StatesItsContraction) {
  using T = TypeParam;
  const double tau = 1 + std::min(100.0 / 49, 10.0 / 7);
  EXPECT_DOUBLE_EQ(*make_codec<T>(qsgd(3))->contraction(100), 1 - std::sqrt(1 - 1 / tau));
  EXPECT_FALSE(make_codec<T>(qsgd(3, false))->contraction(100)) << "10 / 7 is not below 1";
  EXPECT_DOUBLE_EQ(*make_codec<T>(qsgd(4, false))->contraction(100), 1 - std::sqrt(100.0 / 225));
  const double bucket_tau = 1 + 25.0 / 49;  // of the largest bucket, not of the last one
  EXPECT_DOUBLE_EQ(*make_codec<T>(qsgd(3, true, 25))->contraction(90),
                   1 - std::sqrt(1 - 1 / bucket_tau));
}

}  // namespace
}  // namespace ticopd::testing
