// Every codec must keep the error bound that it states: E||Q(v) / r - v||^2 <= relative ||v||^2 +
// absolute, and E Q(v) = v if it claims to be unbiased. Means over draws stand for expectations.
// The rounds fix all draws, so a test that passes once always passes. With free draws each
// comparison would fail by chance less than once in a million (five standard errors).
#include <gtest/gtest.h>

#include "rows.hpp"

namespace ticopd::testing {
namespace {

constexpr std::size_t d = 48;
constexpr std::uint32_t draws = 400;

struct Row {
  std::string name;
  std::vector<double> v;
};

// A point of the adaptive grid, by the closed formula instead of the recurrence.
double point(double omega, double step, int level) {
  const double root = omega + std::sqrt(1 + omega * omega);
  return step / omega * (std::pow(root * root, level) - 1);
}

// Ordinary rows, then rows that are the worst case of some kind of codec.
std::vector<Row> rows(const CodecOptions& o) {
  std::vector<double> gaussian(d), sparse(d, 0.0), decaying(d), halves(d), thirds(d), cells(d);
  Generator random(Noise{4, 0, 0, stream_synthetic});
  for (double& x : gaussian) x = random.normal();
  sparse[3] = -1.7, sparse[40] = 0.2, sparse[41] = 1e-3;
  const double s = std::ldexp(1.0, o.bits - 1);
  const double a = (d - 1) / (s * s), worst = (std::sqrt(1 + a) - 1) / a;  // below half a level
  for (std::size_t k = 0; k < d; ++k) {
    const double sign = k % 3 == 0 ? -1 : 1;
    decaying[k] = sign * std::exp(-0.5 * static_cast<double>(k));
    thirds[k] = sign * std::ldexp(4.0 / 3, static_cast<int>(k % 7) - 5);
    halves[k] = k == 5 ? 1 : sign * worst / s;
    cells[k] = sign * std::ldexp(o.r0, -static_cast<int>(k % 4));  // edges of cells
  }
  std::vector<double> one(d, 0.0), small(d, 1e-3), above(d, 1.5), below(d), between(d);
  one[7] = -2;
  small[20] = 1;
  for (double& x : below) x = o.threshold * 0.9999;
  below[d - 1] = -1;
  for (std::size_t k = 0; k < d; ++k) {  // the harmonic mean of neighbours, from the pole
    const int level = static_cast<int>(k % 6);
    const double shift = o.step / o.omega, low = point(o.omega, o.step, level) + shift,
                 high = point(o.omega, o.step, level + 1) + shift;
    between[k] = 2 * low * high / (low + high) - shift;
  }
  return {{"gaussian", gaussian},
          {"sparse", sparse},
          {"constant", std::vector<double>(d, 0.3)},
          {"decaying", decaying},
          {"one nonzero", one},
          {"one large, the rest small", small},
          {"one large, the rest about half a level", halves},
          {"a third above powers of two", thirds},
          {"halfway between powers of two", above},
          {"just below the threshold", below},
          {"between two points", between},
          {"at the edges of cells", cells},
          {"zero", std::vector<double>(d, 0.0)}};
}

// Estimates of error and bias from many draws of Q(v).
struct Seen {
  double error = 0, error_margin = 0;    // E||Q / r - v||^2 and its five standard errors
  double shrink = 0, shrink_margin = 0;  // E<Q - v, v>, likewise
  double bias = 0;                       // ||E Q - v||^2
};

template <class T>
Seen see(const Codec<T>& codec, const std::vector<T>& v) {
  const double r = codec.error_bound(v.size()).rescale;
  std::vector<double> mean(v.size(), 0.0);
  double error = 0, error2 = 0, shrink = 0, shrink2 = 0;
  for (std::uint32_t round = 1; round <= draws; ++round) {
    const MessageId message{21, round, 2, 1};
    const std::vector<T> q = decoded(codec, encoded(codec, v, message), message, v.size());
    double e = 0, along = 0;
    for (std::size_t k = 0; k < v.size(); ++k) {
      const double x = static_cast<double>(v[k]), y = static_cast<double>(q[k]);
      e += (y / r - x) * (y / r - x);
      along += (y - x) * x;
      mean[k] += y / draws;
    }
    error += e / draws, error2 += e * e / draws;
    shrink += along / draws, shrink2 += along * along / draws;
  }
  const auto margin = [](double m, double m2) {
    return 5 * std::sqrt(std::max(0.0, m2 - m * m) / draws);
  };
  Seen seen{error, margin(error, error2), shrink, margin(shrink, shrink2), 0};
  for (std::size_t k = 0; k < v.size(); ++k) {
    const double off = mean[k] - static_cast<double>(v[k]);
    seen.bias += off * off;
  }
  return seen;
}

// Every codec, but `grid` with boxes that do not shrink: they must stay larger than the rows.
std::vector<CodecOptions> bounded_codecs() {
  std::vector<CodecOptions> all;
  for (const CodecOptions& o : every_codec()) {
    if (o.coding == Coding::elias) continue;  // equals `fixed`, by another test
    if (o.coding == Coding::entropy && o.kind != "natural") continue;
    all.push_back(o.kind == "grid" ? coded(grid(o.bits, 8, 1), o.coding) : o);
  }
  return all;
}

template <class T>
class Bounds : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Bounds, Scalars);

TYPED_TEST(Bounds, HoldOnEveryRow) {
  using T = TypeParam;
  for (const CodecOptions& o : bounded_codecs()) {
    const auto codec = make_codec<T>(o);
    const ErrorBound bound = codec->error_bound(d);
    if (const auto delta = codec->contraction(d)) {
      ASSERT_GT(*delta, 0) << name(o);
      ASSERT_LE(*delta, 1) << name(o);
    }
    for (const Row& row : rows(o)) {
      const std::vector<T> v(row.v.begin(), row.v.end());
      const double norm = norm2<T>(v);
      const Seen seen = see(*codec, v);
      const double rounding = 1e-5 * norm;  // fp32 norms
      EXPECT_LE(seen.error, bound.relative * norm + bound.absolute + seen.error_margin + rounding)
          << name(o) << ", " << row.name;
      if (!bound.unbiased) continue;
      ASSERT_EQ(bound.rescale, 1);
      // 25 would bound one coordinate. The mean over many coordinates stays near 1.
      EXPECT_LE(seen.bias, 25 * seen.error / draws + 1e-12 * norm) << name(o) << ", " << row.name;
      EXPECT_LE(std::abs(seen.shrink), seen.shrink_margin + 1e-6 * norm)
          << name(o) << ", " << row.name;
    }
  }
}

// A bound far above every row's error would hold for a broken codec too.
TEST(Bounds, WorstRowsReachTheBounds) {
  CodecOptions bits1 = grid(1, 8, 1);
  for (const auto& [o, share] : std::vector<std::pair<CodecOptions, double>>{
           {options("natural"), 0.95},
           {options("sign"), 0.999},
           {options("norm_sign"), 0.999},
           {bucketed("sign", 12), 0.999},
           {keep("top_k", 12), 0.999},
           {keep("rand_k", 12), 0.95},
           {keep("rand_k", 12, true), 0.9},
           {infinity(1), 0.9},
           {infinity(3), 0.9},
           {infinity(8), 0.9},
           {gossip(0.5), 0.9},
           {threshold(0.1), 0.99},
           {threshold(0.9), 0.99},
           {bits1, 0.999},
           {grid(4, 8, 1), 0.999},
           {adaptive(0.25, 0.05), 0.5},
           {followed(keep("top_k", 12), "natural"), 0.95},
           {followed(keep("top_k", 12), "sign"), 0.9},
           {followed(keep("rand_k", 12, true), "natural"), 0.9}}) {
    const auto codec = make_codec<double>(o);
    const ErrorBound bound = codec->error_bound(d);
    double worst = 0;
    for (const Row& row : rows(o)) {
      const Seen seen = see(*codec, row.v);
      const double allowed = bound.relative * norm2<double>(row.v) + bound.absolute;
      if (allowed > 0) worst = std::max(worst, seen.error / allowed);
    }
    EXPECT_GE(worst, share) << name(o);
  }
}

// The stated numbers themselves. A mean over rows could not tell two close bounds apart.
TEST(Bounds, EqualTheDocumentedNumbers) {
  const auto of = [](const CodecOptions& o, std::size_t n) {
    return make_codec<float>(o)->error_bound(n);
  };
  EXPECT_DOUBLE_EQ(of(options("natural"), 1000).relative, 1.0 / 8);
  EXPECT_TRUE(of(options("natural"), 1000).unbiased);
  EXPECT_DOUBLE_EQ(of(options("norm_sign"), 10).relative, 1 - 1.0 / 10);
  EXPECT_DOUBLE_EQ(of(options("norm_sign"), 10).rescale, 5);
  EXPECT_DOUBLE_EQ(of(bucketed("norm_sign", 4), 10).rescale, 2);
  EXPECT_DOUBLE_EQ(of(bucketed("sign", 4), 10).relative, 0.75);
  EXPECT_DOUBLE_EQ(of(infinity(1), 4).relative, 0.5);
  EXPECT_LT(of(infinity(4), 513).relative, 512 / 256.0);
  EXPECT_DOUBLE_EQ(of(infinity(4, 9), 513).relative, of(infinity(4), 9).relative);
  EXPECT_DOUBLE_EQ(of(gossip(0.3), 10).relative, 0.7);
  EXPECT_DOUBLE_EQ(of(adaptive(0.5, 0.1), 10).relative, 0.5);
  EXPECT_DOUBLE_EQ(of(adaptive(0.5, 0.1), 10).absolute, 0.2);
  EXPECT_DOUBLE_EQ(of(threshold(0.5), 5).relative, 0.5);
  EXPECT_DOUBLE_EQ(of(threshold(0), 5).relative, 0);
  EXPECT_DOUBLE_EQ(of(grid(3, 4), 10).absolute, 10 * 0.25);
  const double tau = 1 + std::min(10.0 / 9, std::sqrt(10.0) / 3);
  EXPECT_DOUBLE_EQ(of(followed(keep("top_k", 10), "qsgd", 2), 40).relative, 1 - 0.25 / tau);
  EXPECT_DOUBLE_EQ(of(followed(keep("rand_k", 10, true), "natural"), 40).relative, 4 * 1.125 - 1);
  EXPECT_TRUE(of(followed(keep("rand_k", 10, true), "natural"), 40).unbiased);
  EXPECT_FALSE(of(followed(keep("top_k", 10), "natural"), 40).unbiased);
}

}  // namespace
}  // namespace ticopd::testing
