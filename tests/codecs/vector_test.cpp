// The vector loops compared with the scalar ones, bit by bit, on every instruction set of this
// machine.
#include <limits>

#include "every_target.hpp"
#include "rows.hpp"
#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/codecs/sign.hpp"

namespace ticopd::testing {
namespace {

using Scalar = ScalarLoops<float>;
using Vector = VectorLoops;
using ScalarQsgd = Qsgd<float, Scalar>;
using ScalarSign = Sign<float, Scalar>;

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t d = 0; d <= 300; ++d) all.push_back(d);
  for (const std::size_t around : {384, 512, 1024, 2048, 4096, 6144})
    for (const int off : {-17, -1, 0, 1, 15, 64})
      all.push_back(around + static_cast<std::size_t>(off));
  return all;
}

// Magnitudes that reach every branch: tiny norms that are lifted, denormals, norms near the
// largest.
const std::vector<float> magnitudes{1.0f, 1e-45f, 1e-40f, 1e-38f, 3e-20f, 6e-20f, 1e18f, 0x1p118f};

std::vector<float> row(std::size_t d, std::uint32_t number, float magnitude) {
  static const std::vector<float> rows[2] = {random_row<float>(7000, 0),
                                             random_row<float>(7000, 1)};
  std::vector<float> v(rows[number].begin(), rows[number].begin() + static_cast<std::ptrdiff_t>(d));
  for (float& x : v) x *= magnitude;
  return v;
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(VectorLoops, DrawTheNoiseOfRandom123) {
  on_every_target([] {
    for (const MessageId message :
         {MessageId{1, 2, 3, 0}, MessageId{~0ull, ~0u, ~0u, ~0u},
          MessageId{0x299f31d0a4093822ull, 0x85a308d3, 0x13198a2e, 0x03707344}})
      for (const std::size_t first : {std::size_t{0}, std::size_t{2048}, std::size_t{4} << 29,
                                      (std::size_t{4} << 32) - 2048}) {
        std::vector<std::uint32_t> words(codec_stretch), expected(codec_stretch);
        Scalar::draw(message, first, codec_stretch, expected.data());
        ASSERT_EQ(expected[5], Noise{message}.block(static_cast<std::uint32_t>(first / 4) + 1)[1]);
        Vector::draw(message, first, codec_stretch, words.data());
        ASSERT_EQ(words, expected) << "from coordinate " << first;
      }
  });
}

TEST(VectorLoops, DrawAtLeastTheRequestedCountAndNothingBeyondAChunk) {
  on_every_target([] {
    const MessageId message{5, 6, 7, 8};
    std::vector<std::uint32_t> expected(codec_stretch);
    Scalar::draw(message, 4096, codec_stretch, expected.data());
    for (std::size_t count = 0; count <= codec_stretch; count += count < 300 ? 1 : 97) {
      std::vector<std::uint32_t> words(codec_stretch + 64, 0xdeadbeefu);
      Vector::draw(message, 4096, count, words.data());
      ASSERT_TRUE(std::equal(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count),
                             expected.begin()));
      for (std::size_t k = codec_stretch; k < words.size(); ++k) ASSERT_EQ(words[k], 0xdeadbeefu);
    }
  });
}

TEST(VectorLoops, SumToTheSameBits) {
  on_every_target([] {
    for (const std::size_t d : sizes())
      for (const float magnitude : magnitudes) {
        const std::vector<float> x = row(d, 0, magnitude), h = row(d, 1, magnitude);
        for (const Source<float> v : {Source<float>(x), Source<float>(x, h)}) {
          ASSERT_TRUE(same(Vector::sum_of_squares(v), Scalar::sum_of_squares(v))) << d;
          ASSERT_TRUE(same(Vector::sum_of_magnitudes(v), Scalar::sum_of_magnitudes(v))) << d;
        }
        if (d < 3) continue;
        std::vector<float> bad = x;
        bad[d / 2] = std::numeric_limits<float>::infinity();
        ASSERT_TRUE(std::isinf(Vector::sum_of_squares(Source<float>(bad))));
        bad[d - 1] = std::numeric_limits<float>::quiet_NaN();
        ASSERT_TRUE(std::isnan(Vector::sum_of_squares(Source<float>(bad))));
        ASSERT_TRUE(std::isnan(Vector::sum_of_magnitudes(Source<float>(bad))));
      }
  });
}

// The fields lie between guard bytes, which no loop may touch.
template <class Field>
void packs_like_scalar(unsigned bits) {
  Generator random(Noise{3, bits, sizeof(Field), stream_synthetic});
  for (std::size_t count = 0; count <= 200; ++count) {
    std::vector<Field> fields(count);
    for (Field& f : fields) f = static_cast<Field>(random.bits() & ((1u << bits) - 1));
    const std::size_t bytes = plane_bytes(count, bits);
    Bytes plane(bytes + 8, std::byte{0xa5}), expected = plane;
    BitWriter writer(std::span<std::byte>(expected).first(bytes));
    for (const Field f : fields) writer.put(f, bits);
    writer.finish();
    Vector::pack(std::span<const Field>(fields), bits, plane.data());
    ASSERT_EQ(hex(plane), hex(expected)) << bits << " bits, " << count << " fields";
    Scalar::pack(std::span<const Field>(fields), bits, plane.data());
    ASSERT_EQ(hex(plane), hex(expected)) << bits << " bits, " << count << " fields";
    std::vector<Field> back(count + 8, Field{77});
    fields.resize(count + 8, Field{77});
    Vector::unpack(expected.data(), bits, std::span(back).first(count));
    ASSERT_EQ(back, fields) << bits << " bits, " << count << " fields";
  }
}

TEST(VectorLoops, PackFieldsOfEveryWidthAsABitWriterDoes) {
  on_every_target([] {
    for (unsigned bits = 1; bits <= 8; ++bits) packs_like_scalar<std::uint8_t>(bits);
    for (unsigned bits = 1; bits <= 16; ++bits) packs_like_scalar<std::uint16_t>(bits);
  });
}

// Compares both kinds of loops: ENC of a row and of a difference, DEC at once and in chunks.
template <class VectorCodec, class ScalarCodec>
void agree(const VectorCodec& vector, const ScalarCodec& scalar, const std::vector<float>& x,
           const std::vector<float>& h) {
  const MessageId message{9, static_cast<std::uint32_t>(x.size()), 4, 1};
  std::vector<float> difference(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) difference[k] = x[k] - h[k];
  for (const std::vector<float>& v : {x, difference}) {
    Bytes expected, bytes(3, std::byte{0xa5});
    const bool finite = scalar.encode(v, message, expected);
    ASSERT_EQ(vector.encode(v, message, bytes), finite);
    if (!finite) continue;
    ASSERT_EQ(bytes, expected);
    std::vector<float> q(v.size(), 7.0f), expected_q(v.size(), 8.0f);
    ASSERT_TRUE(scalar.decode(expected, message, expected_q));
    ASSERT_TRUE(vector.decode(expected, message, q));
    ASSERT_TRUE(same_bits(q, expected_q));
  }
}

TEST(VectorCodecs, VectorCodecsMakeTheBytesOfScalarCodecs) {
  on_every_target([] {
    for (int bits = 1; bits <= 16; ++bits)
      for (const std::size_t bucket : {0, 1, 7, 64, 1000})
        for (const bool scaled : {true, false}) {
          if (!scaled && bucket > 1) continue;
          const CodecOptions o = qsgd(bits, scaled, bucket);
          SCOPED_TRACE(name(o));
          const Qsgd<float> vector(o);
          const ScalarQsgd scalar(o);
          // Every size for the common options; for the others only sizes near the blocks of the
          // loops.
          const bool common = bucket == 0 && scaled && (bits == 8 || bits == 4);
          for (const std::size_t d : sizes()) {
            if (!common && d % 16 > 1) continue;
            ASSERT_NO_FATAL_FAILURE(agree(vector, scalar, row(d, 0, 1.0f), row(d, 1, 1.0f))) << d;
          }
        }
    const Sign<float> vector(options("sign"));
    const ScalarSign scalar(options("sign"));
    for (const std::size_t d : sizes())
      ASSERT_NO_FATAL_FAILURE(agree(vector, scalar, row(d, 0, 1.0f), row(d, 1, 1.0f))) << d;
  });
}

TEST(VectorCodecs, AgreeWithTheScalarOnesOnNumbersOfEverySize) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float max = std::numeric_limits<float>::max();
  const std::vector<float> ends{0.0f,      -0.0f, 1e-45f, -1e-45f, 0x1p-126f, 0x1.8p126f,
                                -0x1p127f, inf,   -inf,   nan,     max};
  on_every_target([&] {
    for (const int bits : {1, 4, 8, 13, 16})
      for (const std::size_t bucket : {0, 33}) {
        const CodecOptions o = qsgd(bits, true, bucket);
        const Qsgd<float> vector(o);
        const ScalarQsgd scalar(o);
        const Sign<float> vector_sign(o);
        const ScalarSign scalar_sign(o);
        for (const std::size_t d : {1, 16, 70, 257})
          for (const float magnitude : magnitudes)
            for (const float end : ends) {
              std::vector<float> x = row(d, 0, magnitude), h(d, magnitude);
              x[d / 2] = end;
              ASSERT_NO_FATAL_FAILURE(agree(vector, scalar, x, h)) << magnitude << " and " << end;
              ASSERT_NO_FATAL_FAILURE(agree(vector_sign, scalar_sign, x, h))
                  << magnitude << " and " << end;
            }
      }
  });
}

// With the largest noise on a coordinate as large as the norm, s + u rounds to s + 1.
template <class Level>
void clamps(unsigned bits) {
  const std::vector<std::uint32_t> noise(100, ~0u);
  for (const float size : {1.0f, 0x1p-100f, 0x1p70f}) {
    const std::vector<float> v(100, size);
    const Scale<float> by(size, (1u << bits) - 1);
    ASSERT_EQ(size * by.lift * by.scale + Noise::to_uniform(~0u), by.top + 1) << "else no test";
    std::vector<Level> levels(100);
    Vector::quantise(Source<float>(v), noise.data(), by, levels.data());
    ASSERT_EQ(levels, std::vector<Level>(100, static_cast<Level>((1u << bits) - 1)));
  }
}

TEST(VectorLoops, ClampLevelsThatRoundPastTheLargest) {
  on_every_target([] {
    for (const unsigned bits : {1, 4, 8}) ASSERT_NO_FATAL_FAILURE(clamps<std::uint8_t>(bits));
    for (const unsigned bits : {9, 16}) ASSERT_NO_FATAL_FAILURE(clamps<std::uint16_t>(bits));
  });
}

TEST(VectorCodecs, RejectTheSameRandomBytesAsTheScalarOnes) {
  on_every_target([] {
    Generator random(Noise{12, 0, 0, stream_synthetic});
    for (int trial = 0; trial < 600; ++trial) {
      const CodecOptions o = qsgd(1 + trial % 16, trial % 2 == 0, trial % 3 * 50u);
      const Qsgd<float> vector(o);
      const std::size_t d = random.below(300);
      Bytes in = random_bytes(vector.payload_bytes(d), random);
      if (in.size() > 3) in[3] &= std::byte{0x3f};  // makes most norms valid
      std::vector<float> q(d, 1.0f), expected(d, 1.0f);
      ASSERT_EQ(vector.decode(in, MessageId{}, q), ScalarQsgd(o).decode(in, MessageId{}, expected));
      ASSERT_TRUE(same_bits(q, expected)) << name(o) << " d " << d;
    }
  });
}

}  // namespace
}  // namespace ticopd::testing
