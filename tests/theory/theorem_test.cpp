// The constants of Theorem 1 compared with numbers computed by hand.
#include "ticopd/theory/theorem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "ticopd/graph/mixing.hpp"

namespace ticopd {
namespace {

// Ring of 10, L = 1, a = 1, eta = delta = 1 / (2 tau) of qsgd with s levels on the paper's network.
Theorem reference(double s) {
  const double d = 79510, tau = 1 + std::min(d / (s * s), std::sqrt(d) / s), delta = 1 / (2 * tau);
  const Spectrum graph = spectrum(ring(10), {});
  return Theorem({10, graph.laplacian_max, graph.laplacian_min, delta, 1, delta, 1});
}

TEST(Theorem, HasTheReferenceValuesOfThePapersExperiment) {
  const Theorem eight = reference(255), four = reference(15);
  EXPECT_NEAR(eight.theta_lb(), 3.2e4, 0.05e4);
  EXPECT_NEAR(eight.alpha_ub(eight.theta_lb()), 7e-13, 0.5e-13);
  EXPECT_NEAR(four.theta_lb(), 4.7e5, 0.05e5);
  EXPECT_NEAR(four.alpha_ub(four.theta_lb()), 3.5e-16, 0.05e-16);
}

// delta = 1/2: (1-delta)^2 = 1/4, (1-delta/2)^2 = 9/16, so delta~ = max(9/64 / (5/16), 1) = 1;
// eta = 1/2: delta_2 = 16, delta_1 = 12 max(2, 2, 16) = 192;
// theta_lb = 2/2 (1 + 2 + 8 1/2 16/2 + 192 (3/2 + 3 + 2 + 8)) = 35 + 2784 = 2819;
// alpha_ub = 8 / (320 theta^2) / 16.
TEST(Theorem, MatchesValuesComputedByHandForARingOfFour) {
  const Theorem t({4, 4, 2, 0.5, 1, 0.5, 1});
  EXPECT_DOUBLE_EQ(t.delta_tilde(), 1);
  EXPECT_DOUBLE_EQ(t.delta_2(), 16);
  EXPECT_DOUBLE_EQ(t.delta_1(), 192);
  EXPECT_DOUBLE_EQ(t.theta_lb(), 2819);
  EXPECT_DOUBLE_EQ(t.alpha_ub(2819), 8.0 / (320.0 * 2819 * 2819 * 16));
  EXPECT_DOUBLE_EQ(t.alpha_ub(2 * 2819) * 4, t.alpha_ub(2819));
  EXPECT_DOUBLE_EQ(t.gradient_share(0.16), 0.01);
  EXPECT_DOUBLE_EQ(t.consensus_share(0.1, 20), 0.1 * 20 * 2 / 4);
  EXPECT_DOUBLE_EQ(Theorem::rounds(2, 0.16, 0.1), 2000);
}

// delta = 1/4: 9/16 * 49/64 / (49/64 - 9/16) = (441/1024) / (13/64) = 441/208.
TEST(Theorem, DeltaTildeMatchesAValueComputedByHandForAWeakCodec) {
  EXPECT_DOUBLE_EQ(Theorem({4, 4, 2, 0.25, 1, 0.5, 1}).delta_tilde(), 441.0 / 208);
  EXPECT_DOUBLE_EQ(Theorem({4, 4, 2, 1, 1, 0.5, 1}).delta_tilde(), 1) << "no compression";
}

TEST(Theorem, FreeConstantMattersOnlyIfItIsSmall) {
  const Theorem one({4, 4, 2, 0.5, 1, 0.5, 1}), tenth({4, 4, 2, 0.5, 1, 0.5, 0.1}),
      tiny({4, 4, 2, 0.5, 1, 0.5, 1e-4});
  EXPECT_DOUBLE_EQ(tenth.theta_lb(), one.theta_lb());
  EXPECT_DOUBLE_EQ(tiny.theta_lb(), 4 / (4 * 2 * 1e-4));
  EXPECT_DOUBLE_EQ(tenth.alpha_ub(1), 0.4 * one.alpha_ub(1)) << "n a = 0.4 < 1";
}

TEST(Theorem, RejectsInputsOutsideItsAssumptions) {
  const TheoremInput good{4, 4, 2, 0.5, 1, 0.5, 1};
  const auto with = [&](auto member, auto value) {
    TheoremInput in = good;
    in.*member = value;
    return in;
  };
  EXPECT_NO_THROW(Theorem{good});
  EXPECT_THROW(Theorem{with(&TheoremInput::agents, 1)}, std::invalid_argument);
  EXPECT_THROW(Theorem{with(&TheoremInput::rho_2, 0.0)}, std::invalid_argument);
  EXPECT_THROW(Theorem{with(&TheoremInput::delta, 0.0)}, std::invalid_argument);
  EXPECT_THROW(Theorem{with(&TheoremInput::delta, 1.1)}, std::invalid_argument);
  EXPECT_THROW(Theorem{with(&TheoremInput::eta, 0.0)}, std::invalid_argument);
  EXPECT_THROW(Theorem{with(&TheoremInput::a, 0.0)}, std::invalid_argument);
  EXPECT_THROW(Theorem{with(&TheoremInput::smoothness, std::nan(""))}, std::invalid_argument);
}

}  // namespace
}  // namespace ticopd
