// Every codec on the device: the messages and surrogates must be those of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/exchanges.hpp"

namespace ticopd::cuda {
namespace {

using ticopd::testing::adaptive;
using ticopd::testing::bucketed;
using ticopd::testing::coded;
using ticopd::testing::followed;
using ticopd::testing::gossip;
using ticopd::testing::grid;
using ticopd::testing::infinity;
using ticopd::testing::keep;
using ticopd::testing::keep_share;
using ticopd::testing::options;
using ticopd::testing::qsgd;
using ticopd::testing::threshold;

TEST(DeviceCodecs, UncompressedRowsMakeTheBytesOfTheHost) {
  TICOPD_NEEDS_DEVICE();
  compare_all({options("identity"), gossip(0.5)});
}

TEST(DeviceCodecs, QsgdMakesTheBytesOfTheHost) {
  TICOPD_NEEDS_DEVICE();
  for (const int bits : {1, 2, 3, 4, 6, 8, 9, 16})
    compare_all({qsgd(bits), qsgd(bits, false, 100), infinity(bits), infinity(bits, 100)});
  compare_all({qsgd(8, true, 3000), qsgd(5, true, 2048), infinity(7, 3000), qsgd(11, true, 1)});
  compare(qsgd(8), 79510, {});
}

TEST(DeviceCodecs, QsgdReusesPrecomputedSquares) {
  TICOPD_NEEDS_DEVICE();
  for (const std::size_t d : dimensions)
    for (const CodecOptions& how :
         {qsgd(8), qsgd(3), coded(qsgd(8), Coding::entropy), qsgd(8, true, 100)}) {
      compare(how, d, {.squares = true});
      compare(how, d, {.gain = 0.3f, .skipped = {0, 1, 0, 0, 1, 1, 0}, .squares = true});
    }
}

TEST(DeviceCodecs, EntropyCodedMessagesHaveTheLengthOfTheHosts) {
  TICOPD_NEEDS_DEVICE();
  std::vector<CodecOptions> codecs;
  for (const int bits : {1, 2, 4, 8, 9, 16}) {
    codecs.push_back(coded(qsgd(bits), Coding::entropy));
    codecs.push_back(coded(infinity(bits, 100), Coding::entropy));
  }
  codecs.push_back(coded(options("natural"), Coding::entropy));
  codecs.push_back(coded(grid(6), Coding::entropy));
  codecs.push_back(coded(adaptive(0.25, 1e-3), Coding::entropy));
  compare_all(codecs);
  compare(coded(qsgd(8), Coding::entropy), 79510, {});
}

TEST(DeviceCodecs, TopKKeepsTheCoordinatesOfTheHost) {
  TICOPD_NEEDS_DEVICE();
  compare_all(
      {keep("top_k", 1), keep("top_k", 70), keep_share("top_k", 0.1), keep_share("top_k", 1)});
  for (const char* then : {"qsgd", "infinity", "sign", "norm_sign", "natural"})
    for (const Coding coding : {Coding::fixed, Coding::entropy})
      compare_all({coded(followed(keep_share("top_k", 0.1), then, 5), coding),
                   coded(followed(keep("top_k", 300), then, 8, true, 100), coding)});
  compare_all({coded(keep_share("top_k", 0.1), Coding::entropy)});
  compare(keep_share("top_k", 0.02), 79510, {});
}

TEST(DeviceCodecs, SignAndNaturalMakeTheBytesOfTheHost) {
  TICOPD_NEEDS_DEVICE();
  compare_all({options("sign"), bucketed("sign", 100), bucketed("sign", 3000), options("norm_sign"),
               bucketed("norm_sign", 100), options("natural")});
}

TEST(DeviceCodecs, RandKDrawsTheSubsetOfTheHost) {
  TICOPD_NEEDS_DEVICE();
  compare_all({keep("rand_k", 1), keep("rand_k", 70), keep("rand_k", 70, true),
               followed(keep("rand_k", 300, true), "qsgd", 4), followed(keep("rand_k", 90), "sign"),
               coded(followed(keep("rand_k", 300), "natural"), Coding::entropy)});
}

TEST(DeviceCodecs, ThresholdKeepsTheCoordinatesOfTheHost) {
  TICOPD_NEEDS_DEVICE();
  compare_all({threshold(0.1), threshold(0), threshold(1), coded(threshold(0.1), Coding::entropy)});
  for (const char* then : {"qsgd", "infinity", "sign", "norm_sign", "natural"})
    for (const Coding coding : {Coding::fixed, Coding::entropy})
      compare_all({coded(followed(threshold(0.05), then, 6), coding),
                   coded(followed(threshold(0.01), then, 6, true, 100), coding)});
}

TEST(DeviceCodecs, GridAndAdaptiveMakeTheBytesOfTheHost) {
  TICOPD_NEEDS_DEVICE();
  compare_all({grid(1), grid(3, 2, 0.5), grid(8), grid(16, 0.01, 0.9), adaptive(0.25, 1e-3),
               adaptive(1, 1)});
}

TEST(DeviceCodecs, GaussianChannelNoiseEqualsTheHostsUpToRounding) {
  TICOPD_NEEDS_DEVICE();
  const Setting s{.noise = {ChannelNoise::Kind::gaussian, 0.5}};
  const std::vector<Row> rows(1, random_row<float>(1000));
  MirrorState host = start_of(rows);
  OnDevice device(rows, host, s);
  Queue queue;
  const auto codec = make_device_codec(qsgd(8), 1000, 1);
  queue.begin_round(5);
  codec->exchange(queue, device.e);
  queue.finish();
  Bytes payload;
  apply_on_host(qsgd(8), s, 5, rows[0], OnDevice::agent_of(0), false, 1, host, payload);
  EXPECT_EQ(codec->payload(0), payload);
  const Row h = device.h.download(2, 1000)[1];
  for (std::size_t k = 0; k < h.size(); ++k) {
    const float far = 1e-6f * (1 + std::abs(host.h[1][k]) + std::abs(host.sent[1][k]));
    EXPECT_NEAR(h[k], host.h[1][k], far);
  }
}

// A row whose norm lies as close as possible to the middle between two floats. The last bits of its
// sum of squares decide which float it becomes, so the result depends on the order of additions.
Row undecided_row(std::size_t d, std::uint32_t number) {
  Generator random(Noise{5, number, 0, stream_synthetic});
  Row row(d);
  for (std::size_t k = 0; k + 6 < d; ++k)  // many magnitudes, so that most additions round
    row[k] = static_cast<float>(std::exp(2.0 * random.normal()) * random.normal());
  const auto sum = [&] { return sum_of_squares<float>(row); };
  const auto below = static_cast<float>(std::sqrt(1.001 * sum()));
  const double above = std::nextafter(below, 2 * below);
  const double middle = (static_cast<double>(below) + above) / 2;
  for (std::size_t k = d - 6; k < d; ++k) {
    const double rest = middle * middle - sum();
    if (rest > 0) row[k] = std::nextafter(static_cast<float>(std::sqrt(rest)), 0.0f);
  }
  return row;
}

TEST(DeviceCodecs, NormsAreSummedInTheDocumentedOrder) {
  TICOPD_NEEDS_DEVICE();
  const std::size_t d = 5003;
  std::vector<Row> rows;
  std::size_t otherwise = 0;  // norms that differ in another order
  for (std::uint32_t i = 0; i < 40; ++i) {
    rows.push_back(undecided_row(d, i));
    double plain = 0;
    for (const float x : rows[i]) plain += static_cast<double>(x) * static_cast<double>(x);
    otherwise += static_cast<float>(std::sqrt(plain)) !=
                 static_cast<float>(std::sqrt(sum_of_squares<float>(rows[i])));
  }
  EXPECT_GT(otherwise, 5u);
  const MirrorState state = start_of(rows);
  OnDevice device(rows, state, {.raw = true});
  for (const std::size_t bucket : {0, 2500, 1300}) {
    Queue queue;
    const auto codec = make_device_codec(qsgd(8, true, bucket), d, rows.size());
    queue.begin_round(9);
    codec->exchange(queue, device.e);
    queue.finish();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Bytes payload;
      ASSERT_TRUE(make_codec<float>(qsgd(8, true, bucket))
                      ->encode(rows[i], {seed, 9, OnDevice::agent_of(i), channel}, payload));
      EXPECT_EQ(codec->payload(rows.size() - 1 - i), payload) << "row " << i;
    }
  }
}

// One of three rows is bad: it is reported and its surrogate stays unchanged; the others are sent.
void expect_refused(const CodecOptions& how, float bad) {
  SCOPED_TRACE(name_of(how, 1000, {}));
  std::vector<Row> rows(3, random_row<float>(1000));
  MirrorState host = start_of(rows);
  std::vector<Row> v = rows;
  v[1][777] = bad;
  OnDevice device(v, host, {});
  Queue queue;
  const auto codec = make_device_codec(how, 1000, 3);
  ASSERT_TRUE(codec);
  queue.begin_round(6);
  codec->exchange(queue, device.e);
  queue.finish();
  const Trouble trouble = device.trouble.download()[0];
  EXPECT_EQ(trouble.any, 1u);
  EXPECT_EQ(trouble.agent, OnDevice::agent_of(1));
  EXPECT_EQ(trouble.round, 6u);
  EXPECT_EQ(trouble.channel, channel);
  const auto h = device.h.download(4, 1000), sent = device.sent.download(4, 1000);
  EXPECT_TRUE(same_bits(h[2], host.h[2]));
  EXPECT_TRUE(same_bits(sent[2], host.sent[2]));
  for (const std::size_t other : {1u, 3u}) {
    Bytes payload;
    apply_on_host(how, {}, 6, v[other - 1], OnDevice::agent_of(other - 1), false, other, host,
                  payload);
    EXPECT_TRUE(same_bits(h[other], host.h[other]));
  }
}

TEST(DeviceCodecs, RowsThatAreNotFiniteAreReportedAndLeaveSurrogatesUnchanged) {
  TICOPD_NEEDS_DEVICE();
  const CodecOptions codecs[] = {options("identity"),
                                 qsgd(8),
                                 qsgd(8, true, 100),
                                 coded(qsgd(8), Coding::entropy),
                                 infinity(4),
                                 keep("top_k", 50),
                                 followed(keep("top_k", 50), "qsgd"),
                                 options("sign"),
                                 options("norm_sign"),
                                 keep("rand_k", 50),
                                 options("natural"),
                                 gossip(1),
                                 threshold(0.1),
                                 grid(8),
                                 adaptive(0.25, 1e-3)};
  for (const CodecOptions& how : codecs)
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
      expect_refused(how, bad);
  // Finite, but larger than a norm may be.
  for (const CodecOptions& how :
       {qsgd(8), options("natural"), infinity(8, 100), followed(keep("top_k", 50), "qsgd")})
    expect_refused(how, 3e38f);
}

TEST(DeviceCodecs, EliasCodingIsLeftToTheHost) {
  TICOPD_NEEDS_DEVICE();
  EXPECT_FALSE(make_device_codec(coded(qsgd(8), Coding::elias), 100, 2));
  EXPECT_FALSE(make_device_codec(coded(followed(keep("top_k", 5), "qsgd"), Coding::elias), 100, 2));
}

}  // namespace
}  // namespace ticopd::cuda
