// The estimate of L compared with the eigenvalues of known Hessians.
#include "ticopd/theory/smoothness.hpp"

#include <gtest/gtest.h>

#include "dense/matrices.hpp"
#include "theory/nonconvex.hpp"

namespace ticopd::dense {
namespace {

double largest_eigenvalue(const Matrix& H) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(H).eigenvalues().cwiseAbs().maxCoeff();
}

TEST(Smoothness, EqualsTheLargestEigenvalueOfALeastSquaresHessian) {
  const LeastSquares<double> f({.agents = 3, .d = 12, .m = 20});
  Pool pool(2);
  Smoothness<double> L(f, pool, {.iterations = 3000, .tolerance = 1e-13, .on_agent = {}});
  std::vector<double> x(12, 0.7);
  const double found = L.at(std::span<const double>(x));
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    const Matrix A = A_of(f, i);
    const double expected = largest_eigenvalue(A.transpose() * A / 20.0);
    EXPECT_NEAR(L.of_agents()[static_cast<std::size_t>(i)], expected, 1e-6 * expected);
    most = std::max(most, expected);
  }
  Matrix gram = Matrix::Zero(12, 12);
  for (int i = 0; i < 3; ++i) gram += A_of(f, i).transpose() * A_of(f, i) / 60.0;
  EXPECT_NEAR(L.of_mean(x), largest_eigenvalue(gram), 1e-6 * most);
  EXPECT_NEAR(found, most, 1e-6 * most);
  EXPECT_EQ(L.largest(), found);
  EXPECT_EQ(L.samples_used(), 60u);
}

TEST(Smoothness, DefaultToleranceIsWithinAFewPercentInFloatToo) {
  const LeastSquares<float> f({.agents = 3, .d = 12, .m = 20});
  const LeastSquares<double> exact({.agents = 3, .d = 12, .m = 20});
  Pool pool(1);
  Smoothness<float> L(f, pool);
  std::vector<float> x(12, 0.7F);
  double most = 0;
  for (int i = 0; i < 3; ++i)
    most = std::max(most, largest_eigenvalue(A_of(exact, i).transpose() * A_of(exact, i) / 20.0));
  const double found = L.at(std::span<const float>(x));
  EXPECT_LT(found, 1.001 * most);
  EXPECT_GT(found, 0.95 * most);
}

// f_i(x) = s (x_0^2 / 2 - 2 x_1^2), s = 1 and -1/2: saddles.
class Saddles final : public Objective<double> {
 public:
  int agents() const override { return 2; }
  std::size_t dimension() const override { return 2; }
  double value(int, std::span<const double>) const override { return 0; }
  void gradient(int agent, std::span<const double> x, std::span<double> g) const override {
    const double s = agent == 0 ? 1 : -0.5;
    g[0] = s * x[0];
    g[1] = s * -4 * x[1];
  }
};

TEST(Smoothness, CountsNegativeCurvature) {
  const Saddles f;
  Pool pool(1);
  Smoothness<double> L(f, pool);
  std::vector<double> x(2, 0.7);
  EXPECT_NEAR(L.at(std::span<const double>(x)), 4, 0.01);
  EXPECT_NEAR(L.of_agents()[1], 2, 0.01);
  EXPECT_NEAR(L.of_mean(x), 1, 0.01) << "much of it cancels in the mean";
}

TEST(Smoothness, IsEvaluatedAtEachAgentsOwnPoint) {
  const Nonconvex f(3, 5, 15);
  const auto objective = f.objective();
  Pool pool(1);
  Smoothness<double> L(*objective, pool, {.iterations = 3000, .tolerance = 1e-13, .on_agent = {}});
  Field<double> x(3, 5);
  for (std::size_t i = 0; i < 3; ++i) x.row(i)[i] = 1.5 * static_cast<double>(i);
  L.at(x);
  for (int i = 0; i < 3; ++i) {
    const auto row = x.row(static_cast<std::size_t>(i));
    const Vector at = Eigen::Map<const Vector>(row.data(), 5);
    const double expected = largest_eigenvalue(f.hessian(i, at));
    EXPECT_NEAR(L.of_agents()[static_cast<std::size_t>(i)], expected, 1e-5 * expected) << i;
    EXPECT_LT(expected, f.smoothness());
  }
}

TEST(Smoothness, KeepsTheLargestOfSeveralPoints) {
  const Nonconvex f(3, 5, 15);
  const auto objective = f.objective();
  Pool pool(1);
  Smoothness<double> L(*objective, pool);
  std::vector<double> flat(5, 30.0), steep(5, 0.0);
  const double near = L.at(std::span<const double>(steep));
  const double far = L.at(std::span<const double>(flat));
  EXPECT_LT(far, near);
  EXPECT_EQ(L.largest(), near);
}

TEST(Smoothness, CountsTheSamplesItUsed) {
  const Nonconvex f(3, 5, 15);
  const auto objective = f.objective();
  Pool pool(1);
  const Smoothness<double> some(*objective, pool, {.samples = 4, .on_agent = {}});
  EXPECT_EQ(some.samples_used(), 12u);
  EXPECT_EQ(some.samples(), 45u);
  const Smoothness<double> all(*objective, pool, {.samples = 100, .on_agent = {}});
  EXPECT_EQ(all.samples_used(), 45u);
}

TEST(Smoothness, IsNanIfGradientsAreNan) {
  const Nonconvex f(3, 5, 15);
  const auto objective = f.objective();
  Pool pool(1);
  Smoothness<double> L(*objective, pool);
  std::vector<double> nowhere(5, std::nan(""));
  EXPECT_TRUE(std::isnan(L.at(std::span<const double>(nowhere))));
  EXPECT_EQ(L.largest(), 0);
}

}  // namespace
}  // namespace ticopd::dense
