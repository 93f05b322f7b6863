// 10^5 rounds in float: a recomputed mixture stays at rounding level, an accumulated one drifts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/run/solve.hpp"

namespace ticopd {
namespace {

constexpr int n = 10;
constexpr std::size_t d = 50;
constexpr float alpha = 0.1f, theta = 1, eta = 0.3f, beta = 0.6f;  // 1 - alpha theta 4

// f_i(x) = sum_k a_ik (x_k - c_ik)^2 / 2
class Quadratics final : public Objective<float> {
 public:
  Quadratics() {
    for (std::uint32_t i = 0; i < n; ++i) {
      Generator random(Noise{4, 0, i, stream_synthetic});
      for (std::size_t k = 0; k < d; ++k) {
        a_.push_back(static_cast<float>(0.5 + random.uniform()));
        c_.push_back(static_cast<float>(random.normal()));
      }
    }
  }
  int agents() const override { return n; }
  std::size_t dimension() const override { return d; }
  double value(int agent, std::span<const float> x) const override {
    double sum = 0;
    for (std::size_t k = 0; k < d; ++k) {
      const double e = x[k] - c(agent, k);
      sum += a(agent, k) * e * e / 2;
    }
    return sum;
  }
  void gradient(int agent, std::span<const float> x, std::span<float> g) const override {
    for (std::size_t k = 0; k < d; ++k) g[k] = a(agent, k) * (x[k] - c(agent, k));
  }
  // max_i ||grad f(x_i)||^2, in double
  double gradient_norm2(const Field<float>& x) const {
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double norm2 = 0;
      for (std::size_t k = 0; k < d; ++k) {
        double g = 0;
        for (int j = 0; j < n; ++j)
          g += static_cast<double>(a(j, k)) * (static_cast<double>(x.row(i)[k]) - c(j, k)) / n;
        norm2 += g * g;
      }
      most = std::max(most, norm2);
    }
    return most;
  }

 private:
  float a(int agent, std::size_t k) const { return a_[static_cast<std::size_t>(agent) * d + k]; }
  float c(int agent, std::size_t k) const { return c_[static_cast<std::size_t>(agent) * d + k]; }
  std::vector<float> a_, c_;
};

CodecOptions qsgd(int bits) {
  CodecOptions o;
  o.kind = "qsgd";
  o.bits = bits;
  return o;
}

// The rounding level of this problem: coordinates and duals are of order 1, and sums run over 10
// agents.
constexpr double gradient_bound = 2e-11, dual_bound = 5e-5;

void expect_flat(int bits) {
  std::vector<Metrics> rows;
  const Setup<float> setup{
      .graph = ring(n),
      .objective = std::make_shared<Quadratics>(),
      .codec = make_codec<float>(qsgd(bits)),
      .iterations = 100000,
      .watch = {.rounds = {.every = 5000}, .on_log = [&](const Metrics& m) { rows.push_back(m); }}};
  solve(TiCoPD{.alpha = alpha, .theta = theta, .eta = eta}, setup);
  double early = 0, late = 0, duals = 0;  // the largest values of the two halves, and of all
  int looked = 0;
  for (const Metrics& m : rows) {
    if (m.iteration < 20000) continue;
    ++looked;
    EXPECT_LT(m.grad_norm2_max.value(), gradient_bound) << bits << " bits, round " << m.iteration;
    EXPECT_LT(*m.dual_sum, dual_bound) << bits << " bits, round " << m.iteration;
    double& stretch = m.iteration <= 60000 ? early : late;
    stretch = std::max(stretch, *m.grad_norm2_max);
    duals = std::max(duals, *m.dual_sum);
  }
  ::testing::Test::RecordProperty(
      "largest", fmt::format("{:.2g} then {:.2g}, dual_sum {:.2g}", early, late, duals));
  EXPECT_EQ(looked, 17);
  EXPECT_LT(late, 4 * early) << "it grows";
}

TEST(Drift, TheDualsAndTheGradientStayAtRoundingLevelWithEightBits) {
  expect_flat(8);
}
TEST(Drift, TheDualsAndTheGradientStayAtRoundingLevelWithFourBits) {
  expect_flat(4);
}

// The same rounds with the running sum s_i of the paper, in float. It exceeds the bounds above,
// which shows that they are tight enough to find drift.
TEST(Drift, AnAccumulatedMixtureWouldFailTheSameBounds) {
  const Quadratics f;
  const Graph graph = ring(n);
  const auto codec = make_codec<float>(qsgd(8));
  Field<float> x(n, d), xhat(n, d), s(n, d), lambda(n, d), q(n, d), g(n, d);
  Bytes bytes;
  std::vector<float> difference(d);
  for (std::uint32_t round = 1; round <= 100000; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      const MessageId message{1, round, static_cast<std::uint32_t>(i), 0};
      for (std::size_t k = 0; k < d; ++k) difference[k] = x.row(i)[k] - xhat.row(i)[k];
      ASSERT_TRUE(codec->encode(difference, message, bytes) &&
                  codec->decode(bytes, message, q.row(i)));
      f.gradient(static_cast<int>(i), x.row(i), g.row(i));
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < d; ++k) {
        xhat.row(i)[k] += q.row(i)[k];
        for (const int j : graph.neighbours(static_cast<int>(i)))
          s.row(i)[k] += q.row(static_cast<std::size_t>(j))[k];
        const float p = 2 * xhat.row(i)[k] - s.row(i)[k];
        float& v = x.row(i)[k];
        v = beta * v + (1 - beta) * xhat.row(i)[k] -
            alpha * (g.row(i)[k] + lambda.row(i)[k] + theta * p);
        lambda.row(i)[k] += eta * p;
      }
  }
  double sum2 = 0;
  for (std::size_t k = 0; k < d; ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(lambda.row(i)[k]);
    sum2 += sum * sum;
  }
  ::testing::Test::RecordProperty(
      "accumulated", fmt::format("{:.2g}, dual_sum {:.2g}", f.gradient_norm2(x), std::sqrt(sum2)));
  EXPECT_GT(std::sqrt(sum2), 10 * dual_bound);
  EXPECT_GT(f.gradient_norm2(x), 10 * gradient_bound);
}

}  // namespace
}  // namespace ticopd
