// Quantisers with entropy-coded and Elias-coded symbols: lengths, values and whole runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "rows.hpp"
#include "symbols.hpp"
#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/prepare.hpp"

namespace ticopd::testing {
namespace {

constexpr std::size_t paper_d = 79'510;
const MessageId message{8, 1, 2, 0};

std::vector<float> normal_row(std::size_t d, bool heavy_tail = false) {
  Generator random(Noise{12, 0, 0, stream_synthetic});
  std::vector<float> v(d);
  for (float& x : v) {
    const double size = heavy_tail ? std::exp(2.0 * random.normal()) : 1.0;
    x = static_cast<float>(size * random.normal());
  }
  return v;
}

// The entropy of the symbols that the fixed coding sends, in bytes.
double entropy_bytes(const std::vector<float>& v, int bits) {
  const Bytes planes = encoded(*make_codec<float>(qsgd(bits)), v, message);
  const std::size_t signs_at = 4 + plane_bytes(v.size(), static_cast<unsigned>(bits));
  std::vector<std::uint16_t> levels(v.size());
  unpack_fields<std::uint16_t>(std::span(planes).subspan(4, signs_at - 4),
                               static_cast<unsigned>(bits), levels);
  return symbol_entropy_bits<std::uint16_t>(levels, std::span(planes).subspan(signs_at)) / 8;
}

std::size_t bytes_of(const std::vector<float>& v, int bits, Coding coding) {
  return encoded(*make_codec<float>(coded(qsgd(bits), coding)), v, message).size();
}

TEST(EntropyCoding, StaysWithinFivePercentOfTheEntropy) {
  for (const bool heavy_tail : {false, true}) {
    const std::vector<float> v = normal_row(paper_d, heavy_tail);
    for (const int bits : {2, 4, 6, 8}) {
      const double entropy = entropy_bytes(v, bits);
      const double sent = static_cast<double>(bytes_of(v, bits, Coding::entropy));
      if (!heavy_tail) {
        EXPECT_LE(sent, 1.05 * entropy) << bits << " bits";
      }
      // Short messages pay for the norm, the mode, the table and the states.
      EXPECT_LE(sent, 1.002 * entropy + 45) << bits << " bits of " << heavy_tail;
      // With the norm no message can be below its entropy, except by the signs: they count as one
      // bit each, but need not be half and half.
      EXPECT_GE(sent, 0.999 * entropy) << bits;
    }
  }
}

TEST(EntropyCoding, IsShorterThanEliasWhichIsShorterThanPlanes) {
  const std::vector<float> v = normal_row(paper_d);
  for (const int bits : {2, 4, 6, 8}) {
    EXPECT_LT(bytes_of(v, bits, Coding::entropy), bytes_of(v, bits, Coding::elias)) << bits;
    EXPECT_LT(bytes_of(v, bits, Coding::elias), bytes_of(v, bits, Coding::fixed)) << bits;
  }
}

TEST(EntropyCoding, NeverCostsMoreThanOneByteAboveTheFixedCoding) {
  for (const int bits : {1, 2, 5, 8, 11, 16})
    for (std::size_t d = 0; d < 200; ++d) {
      const std::vector<float> v = random_row<float>(d);
      EXPECT_LE(bytes_of(v, bits, Coding::entropy), 1 + bytes_of(v, bits, Coding::fixed));
    }
}

TEST(EntropyCoding, SendsAZeroRowInAFewBytes) {
  const std::vector<float> zero(100'000, 0.0f);
  EXPECT_EQ(bytes_of(zero, 8, Coding::entropy), 6u);  // a norm and two bytes
  EXPECT_EQ(bytes_of(zero, 8, Coding::elias), 8u);    // a norm and one gap
}

TEST(EntropyCoding, LengthsVaryWithinTheStatedMaximum) {
  EXPECT_TRUE(make_codec<float>(qsgd(4))->fixed_length());
  for (const Coding coding : {Coding::entropy, Coding::elias}) {
    const auto codec = make_codec<float>(coded(qsgd(4), coding));
    EXPECT_FALSE(codec->fixed_length());
    const std::vector<float> equal(500, 1.0f), random = random_row<float>(500);
    EXPECT_LT(encoded(*codec, equal, message).size(), codec->payload_bytes(500));
    EXPECT_NE(encoded(*codec, equal, message).size(), encoded(*codec, random, message).size());
  }
}

// Compare with ==, for which -0.0 equals 0: fixed planes keep the signs of zeros, the other codings
// do not.
TEST(EntropyCoding, DecodesToTheNumbersOfTheFixedCoding) {
  for (const int bits : {1, 4, 8, 9, 16})
    for (const std::size_t bucket : {0, 7, 100})
      for (const bool scaled : {true, false})
        for (const std::size_t d : {1, 64, 2049, 5000}) {
          const CodecOptions o = qsgd(bits, scaled, bucket);
          const std::vector<float> v = random_row<float>(d);
          const auto fixed = make_codec<float>(o);
          const auto q = decoded(*fixed, encoded(*fixed, v, message), message, d);
          for (const Coding coding : {Coding::entropy, Coding::elias}) {
            const auto codec = make_codec<float>(coded(o, coding));
            const Bytes payload = encoded(*codec, v, message);
            EXPECT_EQ(decoded(*codec, payload, message, d), q) << name(o);
            const Qsgd<float, ScalarLoops<float>> scalar(coded(o, coding));
            EXPECT_EQ(encoded<float>(scalar, v, message), payload) << name(o);
          }
        }
}

TEST(EntropyCoding, IsRejectedForCodecsWithoutSymbols) {
  for (CodecOptions o : {options("identity"), keep("rand_k", 3), options("sign")}) {
    o.coding = Coding::entropy;
    try {
      make_codec<float>(o);
      FAIL() << o.kind;
    } catch (const ConfigError& e) {
      const std::string what = e.what();
      EXPECT_EQ(what.rfind("codec.coding: " + o.kind + " has no symbols to code", 0), 0u) << what;
      EXPECT_NE(what.find("qsgd"), std::string::npos) << what;
    }
  }
}

// The coding changes only the bytes sent, so the digest of a run stays the same.
TEST(EntropyCoding, DoesNotChangeTheDigestOfARun) {
  const auto solved = [](const std::string& coding) {
    const std::vector<std::string> set{"codec.coding=" + coding};
    const Config config = Config::parse(R"(
iterations = 30
[problem]
objective = "softmax"
data = "synthetic"
samples = 200
features = 40
classes = 5
[graph]
agents = 5
[codec]
kind = "qsgd"
bits = 6
[algorithm]
name = "ticopd"
alpha = 0.1
theta = 2
eta = 0.4
)",
                                        ".", set);
    const auto prepared = prepare<float>(config, {.threads = 1});
    return solve(prepared.algorithm, prepared.setup);
  };
  const auto fixed = solved("fixed");
  for (const std::string coding : {"entropy", "elias"}) {
    const auto coded_run = solved(coding);
    EXPECT_EQ(coded_run.digest, fixed.digest) << coding;
    EXPECT_LT(coded_run.last.bits_payload, fixed.last.bits_payload) << coding;
  }
}

}  // namespace
}  // namespace ticopd::testing
