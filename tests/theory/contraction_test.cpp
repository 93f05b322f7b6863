// delta as the codec states it, with a gain, and as measured.
#include "ticopd/theory/contraction.hpp"

#include <gtest/gtest.h>

#include "dense/problem.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/run/solve.hpp"

namespace ticopd {
namespace {

using dense::LeastSquares;

CodecOptions qsgd(int bits, bool scaled) {
  CodecOptions o;
  o.kind = "qsgd";
  o.bits = bits;
  o.scaled = scaled;
  return o;
}
CodecOptions top_k(std::size_t k) {
  CodecOptions o;
  o.kind = "top_k";
  o.k = k;
  return o;
}

std::vector<double> normals(std::size_t d, std::uint32_t agent) {
  Generator draw(Noise{3, 0, agent, stream_synthetic});
  std::vector<double> v(d);
  for (double& e : v) e = draw.normal();
  return v;
}

TEST(Contraction, EqualsTheCodecsOwnWithoutAGain) {
  for (const CodecOptions& options : {CodecOptions{}, qsgd(4, true), top_k(30), qsgd(1, false)}) {
    const auto codec = make_codec<double>(options);
    EXPECT_EQ(contraction_of(codec->error_bound(500), 1), codec->contraction(500));
  }
}

// Scaled qsgd divides by tau, so it equals unscaled qsgd with gain 1 / tau.
TEST(Contraction, UnscaledQsgdWithGainOneOverTauEqualsScaledQsgd) {
  const std::size_t d = 500;
  const ErrorBound plain = make_codec<double>(qsgd(3, false))->error_bound(d);
  ASSERT_GT(plain.relative, 1);
  EXPECT_FALSE(contraction_of(plain, 1));
  const double tau = 1 + plain.relative;
  const auto scaled = make_codec<double>(qsgd(3, true))->contraction(d);
  ASSERT_TRUE(scaled && contraction_of(plain, 1 / tau));
  EXPECT_NEAR(*contraction_of(plain, 1 / tau), *scaled, 1e-12);
  EXPECT_DOUBLE_EQ(largest_gain(plain), 2 / tau);
  EXPECT_TRUE(contraction_of(plain, 1.99 / tau));
  EXPECT_FALSE(contraction_of(plain, 2.01 / tau));
}

TEST(Contraction, FallsWithTheGainForABiasedCodec) {
  const ErrorBound half{.relative = 0.25};
  EXPECT_DOUBLE_EQ(*contraction_of(half, 1), 0.5);
  EXPECT_DOUBLE_EQ(*contraction_of(half, 0.5), 0.25);
  EXPECT_EQ(largest_gain(half), 0);
  EXPECT_FALSE(contraction_of({.relative = 0.25, .absolute = 1e-9}, 1));
  EXPECT_DOUBLE_EQ(*contraction_of({.relative = 0.25, .rescale = 10}, 0.1), 0.5);
  EXPECT_FALSE(contraction_of({.relative = 0.25, .rescale = 10}, 1));
}

TEST(Contraction, MeasuredDeltaIsWithinTheBound) {
  const std::size_t d = 400;
  for (const CodecOptions& options : {qsgd(2, true), qsgd(4, true), qsgd(8, true), top_k(40)}) {
    const std::shared_ptr<const Codec<double>> codec = make_codec<double>(options);
    const MeasuringCodec<double> measuring(codec, 5, 1, 64);
    Bytes out;
    for (std::uint32_t agent = 0; agent < 5; ++agent) {
      const std::vector<double> v = normals(d, agent);
      ASSERT_TRUE(measuring.encode(v, MessageId{1, 1, agent, 0}, out));
    }
    const MeasuredContraction found = measuring.measured();
    EXPECT_EQ(found.messages, 5u);
    EXPECT_GE(found.delta(), *codec->contraction(d)) << options.kind << options.bits;
    EXPECT_LT(found.delta(), 1);
    EXPECT_GT(found.worst_error, found.mean_error);
    EXPECT_GT(found.mean_error, 0);
  }
}

// Equal entries are the worst case of top_k: it keeps exactly k / d of the squared norm.
TEST(Contraction, MeasuredDeltaEqualsTheBoundOfTopKOnAConstantVector) {
  const std::shared_ptr<const Codec<double>> codec = make_codec<double>(top_k(30));
  const MeasuringCodec<double> measuring(codec, 1, 1, 1);
  const std::vector<double> v(120, 2.5), zero(120, 0.0);
  Bytes out;
  ASSERT_TRUE(measuring.encode(v, MessageId{}, out));
  ASSERT_TRUE(measuring.encode(zero, MessageId{}, out));
  EXPECT_EQ(measuring.measured().messages, 1u) << "a zero says nothing";
  EXPECT_DOUBLE_EQ(measuring.measured().worst_error, 0.75);
  EXPECT_DOUBLE_EQ(measuring.measured().delta(), *codec->contraction(120));
}

TEST(Contraction, MeasuredDeltaIncludesTheGain) {
  const MeasuringCodec<double> measuring(make_codec<double>({}), 1, 0.25, 1);
  Bytes out;
  ASSERT_TRUE(measuring.encode(normals(50, 0), MessageId{}, out));
  EXPECT_NEAR(measuring.measured().delta(), 0.25, 1e-12);
}

TEST(Contraction, MeasuringDoesNotChangeARun) {
  const auto f =
      std::make_shared<LeastSquares<float>>(dense::ProblemSize{.agents = 5, .d = 40, .m = 10});
  for (const CodecOptions& options : {CodecOptions{}, qsgd(4, true), top_k(7)}) {
    ticopd::Setup<float> setup{.graph = ring(5), .objective = f};
    setup.codec = make_codec<float>(options);
    setup.iterations = 20;
    const TiCoPD algorithm{.alpha = 0.02, .theta = 1, .eta = 0.1};
    const std::string digest = solve(algorithm, setup).digest;
    const auto measuring = std::make_shared<MeasuringCodec<float>>(setup.codec, 5, 1, 3);
    setup.codec = measuring;
    EXPECT_EQ(solve(algorithm, setup).digest, digest) << options.kind;
    EXPECT_EQ(measuring->measured().messages, 100u) << options.kind;
    if (options.kind == "identity") {
      EXPECT_EQ(measuring->measured().delta(), 1);
    } else {
      EXPECT_LT(measuring->measured().delta(), 1);
    }
  }
}

}  // namespace
}  // namespace ticopd
