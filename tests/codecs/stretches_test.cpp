// Codecs that work chunk by chunk, in fewer sweeps over memory: they make the same bytes and
// numbers as ENC and DEC.
#include "every_target.hpp"
#include "rows.hpp"
#include "ticopd/codecs/qsgd.hpp"

namespace ticopd::testing {
namespace {

template <class T>
class Chunks : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Chunks, Scalars);

// Joins chunks into one row and checks that they come in order and without gaps.
template <class T>
struct Collected {
  void operator()(std::size_t first, std::span<const T> some) {
    EXPECT_EQ(first, q.size());
    q.insert(q.end(), some.begin(), some.end());
  }
  std::vector<T> q = {};
};

TYPED_TEST(Chunks, DecodingInChunksEqualsDecode) {
  using T = TypeParam;
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (const std::size_t d : {0, 1, 64, 2047, 2048, 2049, 4500}) {
      const MessageId message{9, 8, 7, 6};
      const Bytes payload = encoded(*codec, random_row<T>(d), message);
      Collected<T> collected;
      ASSERT_TRUE(codec->decode_in_chunks(payload, message, d, std::ref(collected))) << name(o);
      ASSERT_EQ(collected.q, decoded(*codec, payload, message, d)) << name(o) << " d " << d;
    }
  }
}

// Rows larger than the caches are prefetched, which must not change any byte.
TEST(Chunks, PrefetchingDoesNotChangeTheBytesOfALongRow) {
  const std::size_t d = (std::size_t{1} << 20) + 77;
  const MessageId message{9, 8, 7, 6};
  const std::vector<float> x = random_row<float>(d, 1), h = random_row<float>(d, 2);
  for (const int bits : {4, 8, 11}) {
    const CodecOptions options{.kind = "qsgd", .bits = bits};
    const Qsgd<float> codec(options);
    const Qsgd<float, ScalarLoops<float>> reference(options);
    Collected<float> ours, theirs;
    Bytes out, expected;
    ASSERT_TRUE(codec.encode_difference(x, h, message, out, std::ref(ours)));
    ASSERT_TRUE(reference.encode_difference(x, h, message, expected, std::ref(theirs)));
    EXPECT_TRUE(out == expected) << bits << " bits";
    EXPECT_TRUE(ours.q == theirs.q) << bits << " bits";
  }
}

// The callback may overwrite h, as a mirror does. This must not change the rest of the row.
TYPED_TEST(Chunks, EncodingADifferenceEqualsEncodingTheDifferenceRow) {
  using T = TypeParam;
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (const std::size_t d : {0, 1, 64, 2047, 2048, 2049, 4500}) {
      const MessageId message{9, 8, 7, 6};
      const std::vector<T> x = random_row<T>(d, 1);
      std::vector<T> h = random_row<T>(d, 2), v(d);
      for (std::size_t k = 0; k < d; ++k) v[k] = x[k] - h[k];
      const Bytes expected = encoded(*codec, v, message);
      Collected<T> collected;
      Bytes out(5, std::byte{0xa5});
      ASSERT_TRUE(codec->encode_difference(x, h, message, out,
                                           [&](std::size_t first, std::span<const T> q) {
                                             collected(first, q);
                                             for (std::size_t k = 0; k < q.size(); ++k)
                                               h[first + k] = T(1e9);
                                           }));
      ASSERT_EQ(out, expected) << name(o) << " d " << d;
      ASSERT_EQ(collected.q, decoded(*codec, expected, message, d)) << name(o) << " d " << d;
    }
  }
}

TYPED_TEST(Chunks, NoChunkOfARejectedRowIsUsed) {
  using T = TypeParam;
  const auto use = [](std::size_t, std::span<const T>) { FAIL() << "a refused row was used"; };
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    const std::size_t d = 5003;  // the last byte of a plane of signs has padding
    std::vector<T> x = random_row<T>(d, 1);
    const std::vector<T> h = random_row<T>(d, 2);
    Bytes payload = encoded(*codec, x, MessageId{});
    if (payload.empty()) continue;  // random_gossip may send an empty payload
    ASSERT_FALSE(
        codec->decode_in_chunks(std::span(payload).first(payload.size() - 1), MessageId{}, d, use));
    if ((o.kind == "qsgd" && codec->fixed_length()) || o.kind == "sign") {
      payload.back() |= std::byte{0x80};
      ASSERT_FALSE(codec->decode_in_chunks(payload, MessageId{}, d, use)) << name(o);
    }
    if (o.kind == "identity") continue;
    x[d - 1] = std::numeric_limits<T>::quiet_NaN();
    Bytes out;
    ASSERT_FALSE(codec->encode_difference(x, h, MessageId{}, out, use)) << name(o);
  }
}

// A user-defined codec implements only encode and decode.
struct Halves final : Codec<double> {
  bool encode(std::span<const double> v, const MessageId&, Bytes& out) const override {
    const auto bytes = std::as_bytes(v);
    out.assign(bytes.begin(), bytes.end());
    return true;
  }
  bool decode(std::span<const std::byte> in, const MessageId&, std::span<double> q) const override {
    if (in.size() != q.size_bytes()) return false;
    std::memcpy(q.data(), in.data(), in.size());
    for (double& x : q) x /= 2;
    return true;
  }
  std::size_t payload_bytes(std::size_t d) const override { return 8 * d; }
  double paper_bits(std::size_t d) const override { return 64.0 * static_cast<double>(d); }
  ErrorBound error_bound(std::size_t) const override { return {0.25}; }
};

TEST(Codec, UserDefinedCodecNeedsOnlyEncodeAndDecode) {
  const Halves codec;
  const std::vector<double> x{1, 2, 3}, h{0, 4, 1};
  Collected<double> collected;
  Bytes out;
  ASSERT_TRUE(codec.encode_difference(x, h, MessageId{}, out, std::ref(collected)));
  EXPECT_EQ(collected.q, (std::vector<double>{0.5, -1, 1}));
  EXPECT_EQ(out.size(), 24u);
  EXPECT_FALSE(
      codec.decode_in_chunks(std::span(out).first(23), MessageId{}, 3, std::ref(collected)));
}

}  // namespace
}  // namespace ticopd::testing
