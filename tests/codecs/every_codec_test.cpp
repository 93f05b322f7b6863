// The properties that every kind of codec must have.
#include <gtest/gtest.h>

#include <limits>

#include "rows.hpp"

namespace ticopd::testing {
namespace {

template <class T>
class EveryCodec : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EveryCodec, Scalars);

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t d = 0; d <= 130; ++d) all.push_back(d);
  Generator random(Noise{5, 0, 0, stream_synthetic});
  for (int i = 0; i < 4; ++i) all.push_back(131 + random.below(3000));
  return all;
}

TYPED_TEST(EveryCodec, RoundTripsEverySize) {
  using T = TypeParam;
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (const std::size_t d : sizes()) {
      const MessageId message{9, static_cast<std::uint32_t>(d), 4, 1};
      const std::vector<T> v = random_row<T>(d);
      const Bytes payload = encoded(*codec, v, message);
      ASSERT_LE(payload.size(), codec->payload_bytes(d)) << name(o) << " d " << d;
      if (codec->fixed_length()) {
        ASSERT_EQ(payload.size(), codec->payload_bytes(d)) << name(o) << " d " << d;
        Bytes own(payload.size());
        ASSERT_TRUE(codec->encode_into(v, message, own)) << name(o) << " d " << d;
        ASSERT_EQ(own, payload) << name(o) << " d " << d;
      }
      const std::vector<T> q = decoded(*codec, payload, message, d);
      for (std::size_t k = 0; k < d; ++k) {
        ASSERT_TRUE(std::isfinite(q[k]));
        const bool same = std::signbit(q[k]) == std::signbit(v[k]);
        ASSERT_TRUE(same || q[k] == 0 || (v[k] == 0 && o.kind == "grid")) << name(o) << " d " << d;
      }
      ASSERT_EQ(encoded(*codec, v, message), payload) << "the same row and message, other bytes";
      ASSERT_TRUE(!codec->lossless() || q == v) << name(o);
    }
  }
}

TYPED_TEST(EveryCodec, DecodesAZeroRowToZeros) {
  using T = TypeParam;
  for (const CodecOptions& o : every_codec())
    for (const std::size_t d : {1, 2, 63, 64, 65, 129}) {
      if (o.kind == "grid") continue;  // zero lies on the edge between two cells of its grid
      const auto codec = make_codec<T>(o);
      const std::vector<T> zero(d, T{0});
      const Bytes payload = encoded(*codec, zero, MessageId{});
      ASSERT_EQ(decoded(*codec, payload, MessageId{}, d), zero) << name(o) << " d " << d;
    }
}

TYPED_TEST(EveryCodec, RejectsRowsThatAreNotFinite) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (const T bad : {inf, -inf, nan, -nan})
      for (const std::size_t at : {0, 17, 69}) {
        std::vector<T> v = random_row<T>(70);
        v[at] = bad;
        Bytes out;
        ASSERT_FALSE(codec->encode(v, MessageId{}, out)) << name(o) << " at " << at << ": " << bad;
        out.assign(codec->payload_bytes(70), std::byte{});
        ASSERT_FALSE(codec->encode_into(v, MessageId{}, out)) << name(o) << " at " << at;
      }
  }
}

TYPED_TEST(EveryCodec, KeepsDenormalsAndLargeNumbersFinite) {
  using T = TypeParam;
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (const double size : {1e-44, 1e-40, 1e-38, 5e-20, 1e-19, 1e19, 1e30, 3e36}) {
      std::vector<T> v = random_row<T>(131);
      double largest = 0;
      for (const T x : v) largest = std::max(largest, std::abs(static_cast<double>(x)));
      for (T& x : v) x = static_cast<T>(static_cast<double>(x) / largest * size);
      const MessageId message{3, 1, 0, 0};
      const auto q = decoded(*codec, encoded(*codec, v, message), message, v.size());
      // No coordinate grows beyond the norm (times d / k if rand_k is unbiased), except for the
      // smallest number that the codec can represent.
      double least = o.kind == "natural" || o.then == "natural" ? 30 * 0x1p-126 : 0;
      if (o.kind == "adaptive") least = 3 * o.step;
      if (o.kind == "grid") least = o.r0;
      for (const T x : q) ASSERT_LE(std::abs(static_cast<double>(x)), 60 * size + least) << name(o);
    }
  }
}

// A sender decodes its own payload, so a payload that it cannot decode would stop the run.
TYPED_TEST(EveryCodec, DecodesEveryPayloadItEncodesUpToTheLargestNumbers) {
  using T = TypeParam;
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (const T size : {T{0x1p120}, T{0x1p126}, T{0x1.8p126}, T{0x1p127}, T{0x1.fffffep127},
                         std::numeric_limits<T>::max() / 2, std::numeric_limits<T>::max()})
      for (const std::size_t d : {1, 2, 9, 70})
        for (std::uint32_t round = 0; round < 20; ++round) {
          const MessageId message{6, round, 0, 0};
          std::vector<T> v(d, size), q(d);
          if (d > 1) v[1] = -size / 2;
          Bytes out;
          if (!codec->encode(v, message, out)) continue;
          ASSERT_TRUE(codec->decode(out, message, q)) << name(o) << " d " << d << " " << size;
          for (const T x : q) ASSERT_TRUE(std::isfinite(x)) << name(o) << " d " << d << " " << size;
        }
  }
}

TYPED_TEST(EveryCodec, RejectsEveryOtherLength) {
  using T = TypeParam;
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (const std::size_t d : {0, 1, 5, 64, 67}) {
      const Bytes payload = encoded(*codec, random_row<T>(d), MessageId{});
      std::vector<T> q(d);
      for (std::size_t length = 0; length < payload.size(); ++length)
        ASSERT_FALSE(codec->decode(std::span(payload).first(length), MessageId{}, q)) << name(o);
      Bytes longer = payload;
      for (int extra = 0; extra < 9; ++extra) {
        longer.push_back(std::byte{0});
        ASSERT_FALSE(codec->decode(longer, MessageId{}, q)) << name(o);
      }
    }
  }
}

TYPED_TEST(EveryCodec, RejectsRandomBytesOrDecodesThemWithinBounds) {
  using T = TypeParam;
  Generator random(Noise{11, 0, 0, stream_synthetic});
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (int trial = 0; trial < 150; ++trial) {
      const std::size_t d = random.below(140);
      const bool right = trial % 3 != 0;
      const Bytes in = random_bytes(right ? codec->payload_bytes(d) : random.below(400), random);
      // Guards at both ends find a write outside the row, also without sanitizers.
      std::vector<T> row(d + 32, T{5});
      const std::span<T> q = std::span(row).subspan(16, d);
      if (codec->decode(in, MessageId{1, 2, 3, 0}, q)) {
        ASSERT_LE(in.size(), codec->payload_bytes(d));
        ASSERT_TRUE(in.size() == codec->payload_bytes(d) || !codec->fixed_length());
        for (const T x : q) ASSERT_TRUE(std::isfinite(x)) << name(o);
      }
      for (std::size_t i = 0; i < 16; ++i)
        ASSERT_TRUE(row[i] == T{5} && row[16 + d + i] == T{5}) << name(o);
    }
  }
}

}  // namespace
}  // namespace ticopd::testing
