// With the right parameters the exact methods equal each other, and the compressed methods without
// compression equal them.
#include "algorithms/agreement.hpp"
#include "dense/exact_transcripts.hpp"
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/extra.hpp"
#include "ticopd/algorithms/gradient_tracking.hpp"
#include "ticopd/algorithms/lead.hpp"
#include "ticopd/algorithms/nids.hpp"
#include "ticopd/algorithms/primal_dual.hpp"
#include "ticopd/algorithms/prox_gpda.hpp"
#include "ticopd/algorithms/prox_pda_perturbed.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd::dense {
namespace {

class ExactIdentity : public Twice {
 protected:
  const CodecOptions identical = codec("identity");

  void on_ring() {
    graph = ring(n);
    problem = Problem(*f, graph, 1);
  }

  // Steps through a run by hand and calls `look` after every round.
  template <class Algorithm, class Look>
  void watch(Algorithm params, const CodecOptions& options, int count, const Look& look) const {
    Warnings warnings;
    if constexpr (requires { params.resolve(Spectrum{}, warnings); })
      params.resolve(spectrum(graph, Weights::metropolis), warnings);
    const auto coder = make_codec<double>(options);
    Alone alone;
    Pool pool(1);
    CpuNetwork<double> net(
        {.graph = graph, .objective = *f, .codec = *coder, .transport = alone, .pool = pool});
    typename Algorithm::template Run<CpuNetwork<double>> run(params, net);
    for (int t = 1; t <= count; ++t) {
      net.begin_round(static_cast<std::uint32_t>(t));
      run.step();
      look(run);
    }
  }
};

TEST_F(ExactIdentity, LEADWithoutCompressionIsNIDSForAnyAlpha) {
  const Matrix y = library(NIDS{.alpha = 0.2}, identical);
  for (const double gain : {1.0, 0.5, 0.1})
    for (const bool warm_start : {false, true})
      EXPECT_LT(
          difference(library(LEAD{.eta = 0.2, .alpha = gain, .warm_start = warm_start}, identical),
                     y),
          1e-12)
          << "alpha " << gain;
  EXPECT_GT(difference(library(LEAD{.eta = 0.2, .gamma = 0.9}, identical, 20),
                       library(NIDS{.alpha = 0.2}, identical, 20)),
            1e-3);
}

TEST_F(ExactIdentity, ExactDiffusionIsNIDSFromItsFirstIterateOn) {
  const double mu = 0.2;
  const Matrix first = problem.X0 - mu * problem.gradients(problem.X0);
  for (const int count : {1, 2, 3, 20, rounds})
    EXPECT_LT(difference(library(NIDS{.alpha = mu}, identical, static_cast<std::uint32_t>(count)),
                         exact_diffusion(problem, first, mu, count - 1)),
              1e-12)
        << "after round " << count;
  EXPECT_GT(difference(library(NIDS{.alpha = mu}, identical, 20),
                       exact_diffusion(problem, problem.X0, mu, 20)),
            1e-6);
}

TEST_F(ExactIdentity, TiCoPDWithoutCompressionIsThePrimalDualMethodForAnyBeta) {
  const double alpha = 0.05, theta = 1.5, eta = 0.2;
  const Matrix y =
      library(PrimalDual{.eta = alpha, .alpha = theta, .beta = std::sqrt(eta / alpha)}, identical);
  for (const double beta : {1.0, 0.6, 0.0}) {
    const TiCoPD algorithm{.alpha = alpha, .theta = theta, .eta = eta, .beta = beta};
    EXPECT_LT(difference(library(algorithm, identical), y), 1e-12) << "beta " << beta;
  }
}

// On the ring the Metropolis weights are W = I - L/3: alpha theta = 1/3.
TEST_F(ExactIdentity, TiCoPDWithoutCompressionAndWithEtaHalfThetaIsEXTRA) {
  on_ring();
  const double alpha = 0.1, theta = 1 / (3 * alpha);
  ASSERT_LT((Matrix::Identity(n, n) - alpha * theta * problem.L - problem.W).norm(), 1e-14);
  const Matrix x = library(EXTRA{.alpha = alpha}, identical);
  TiCoPD algorithm{.alpha = alpha, .theta = theta, .eta = theta / 2, .beta = 1};
  EXPECT_LT(difference(library(algorithm, identical), x), 1e-12);
  algorithm.eta = theta / 3;
  EXPECT_GT(
      difference(library(algorithm, identical, 20), library(EXTRA{.alpha = alpha}, identical, 20)),
      1e-3);
}

TEST_F(ExactIdentity, BEERWithoutCompressionFromAWarmStartIsGradientTracking) {
  const Matrix x = library(GradientTracking{.eta = 0.05}, identical);
  EXPECT_LT(difference(library(BEER{.eta = 0.05, .gamma = 1, .warm_start = true}, identical), x),
            1e-12);
  EXPECT_GT(difference(library(BEER{.eta = 0.05, .gamma = 1}, identical, 20),
                       library(GradientTracking{.eta = 0.05}, identical, 20)),
            1e-6);
}

// On a regular graph the metric A'A + B'B = 2D of the primal step is the scalar 2d, so 2 d beta
// stands for 1 / eta of the primal-dual method.
TEST_F(ExactIdentity, ProxGPDAOnARegularGraphIsAPrimalDualMethodWithTheNewModelInItsDual) {
  on_ring();
  const double beta = 2, degree = 2, eta = 1 / (2 * degree * beta);
  Matrix x = problem.X0, p = problem.zero();
  for (int t = 1; t <= rounds; ++t) {
    x -= eta * (problem.gradients(x) + p + beta * (problem.L * x));
    p += beta * (problem.L * x);  // the primal-dual method uses L x from before the step
  }
  EXPECT_LT(difference(library(ProxGPDA{.beta = beta}, identical), x), 1e-12);
}

TEST_F(ExactIdentity, ProximalMethodsWithoutPerturbationDifferOnlyInTheirStepSize) {
  on_ring();  // 2 d beta against rho lambda_max(L)
  const double lambda_max = spectrum(graph, Weights::metropolis).laplacian_max;
  const double rho = 2;
  Matrix x = problem.X0, p = problem.zero();
  for (int t = 1; t <= rounds; ++t) {
    x -= (problem.gradients(x) + p + rho * (problem.L * x)) / (rho * lambda_max);
    p += rho * (problem.L * x);
  }
  EXPECT_LT(difference(library(ProxPdaPerturbed{.rho = rho, .gamma = 1e-16}, identical), x), 1e-12);
}

TEST_F(ExactIdentity, DualsSumToZero) {
  const auto zero = [&](const auto& dual) {
    const Matrix rows = to_matrix(dual);
    ASSERT_LT(rows.colwise().sum().norm(), 1e-12 * (1 + rows.norm()));
  };
  watch(EXTRA{.alpha = 0.1}, identical, 100, [&](const auto& run) { zero(run.y); });
  watch(PrimalDual{.eta = 0.05, .alpha = 1.5, .beta = 2}, identical, 100,
        [&](const auto& run) { zero(run.v); });
  watch(ProxGPDA{.beta = 3}, identical, 100, [&](const auto& run) { zero(run.p); });
  watch(ProxPdaPerturbed{.rho = 2, .gamma = 0.05}, identical, 100,
        [&](const auto& run) { zero(run.p); });
  watch(NIDS{.alpha = 0.2}, identical, 100, [&](const auto& run) { zero(run.y); });
  watch(LEAD{.eta = 0.05, .gamma = 0.1}, keep("top_k", 8), 100,
        [&](const auto& run) { zero(run.d); });
}

// The tests of every algorithm run the default form only, so "atc" is checked here.
TEST_F(ExactIdentity, AdaptThenCombineHasTheSameBitsOnThreeRanks) {
  ticopd::Setup<double> one = setup(identical, 50), three = one;
  three.execution.ranks = 3;
  const GradientTracking atc{.eta = 0.05, .form = "atc"};
  EXPECT_EQ(solve(atc, one).digest, solve(atc, three).digest);
  EXPECT_NE(solve(GradientTracking{.eta = 0.05}, one).digest, solve(atc, one).digest);
}

TEST_F(ExactIdentity, TheTrackersSumToTheGradientsInBothForms) {
  for (const std::string_view form : {"diging", "atc"})
    watch(GradientTracking{.eta = 0.05, .form = form}, identical, 100, [&](const auto& run) {
      const Eigen::RowVectorXd sum = problem.gradients(to_matrix(run.x)).colwise().sum();
      ASSERT_LT((to_matrix(run.y).colwise().sum() - sum).norm(), 1e-11) << form;
    });
}

}  // namespace
}  // namespace ticopd::dense
