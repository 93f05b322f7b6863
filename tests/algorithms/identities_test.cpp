// At the ends of their parameter ranges the papers' algorithms equal simpler ones.
#include "algorithms/agreement.hpp"
#include "dense/transcripts.hpp"
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/cp_sgd.hpp"
#include "ticopd/algorithms/def_atc.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd::dense {
namespace {

class Identity : public Twice {
 protected:
  const CodecOptions identical = codec("identity");

  // A network to step through by hand, for state that a solution does not show.
  struct Surrounded {
    Surrounded(const Graph& g, const LeastSquares<double>& objective, const CodecOptions& options)
        : coder(make_codec<double>(options)),
          pool(1),
          net({.graph = g,
               .objective = objective,
               .codec = *coder,
               .transport = alone,
               .pool = pool}) {}
    std::unique_ptr<Codec<double>> coder;
    Alone alone;
    Pool pool;
    CpuNetwork<double> net;
  };
};

TEST_F(Identity, TiCoPDWithBetaOneIsCpSGDWithAlphaXOne) {
  const double alpha = 0.05, theta = 1, eta = 0.1;
  for (const CodecOptions& options :
       {keep("top_k", k), keep("rand_k", 5), qsgd(4), codec("sign")}) {
    const Matrix x =
        library(TiCoPD{.alpha = alpha, .theta = theta, .eta = eta, .beta = 1}, options);
    const Matrix y =
        library(CpSGD{.eta = alpha, .gamma = theta, .omega = std::sqrt(eta / alpha)}, options);
    EXPECT_LT(difference(x, y), 1e-11) << options.kind;
  }
}

TEST_F(Identity, TiCoPDUncompressedIsThePrimalDualMethodOfYiForAnyBeta) {
  const double alpha = 0.05, theta = 1, eta = 0.1;
  const Matrix y = yi_primal_dual(problem, alpha, theta, std::sqrt(eta / alpha), rounds);
  for (const double beta : {1.0, 0.6, 0.0})
    EXPECT_LT(difference(library(TiCoPD{.alpha = alpha, .theta = theta, .eta = eta, .beta = beta},
                                 identical),
                         y),
              1e-12)
        << "beta " << beta;
}

TEST_F(Identity, TiCoPDUncompressedWithEtaHalfThetaIsEXTRA) {
  const double alpha = 0.05, theta = 1.5;
  const Matrix W = Matrix::Identity(n, n) - alpha * theta * problem.L;
  const Matrix x = library(TiCoPD{.alpha = alpha, .theta = theta, .eta = theta / 2}, identical);
  EXPECT_LT(difference(x, extra(problem, W, alpha, rounds)), 1e-12);
}

TEST_F(Identity, ChocoAndDefATCUncompressedAreAdaptThenCombine) {
  const Matrix y = adapt_then_combine(problem, 0.1, rounds);
  EXPECT_LT(difference(library(ChocoSGD{.eta = 0.1, .gamma = 1}, identical), y), 1e-12);
  EXPECT_LT(difference(library(DefATC{.mu = 0.1, .zeta = 1, .gamma = 1}, identical), y), 1e-12);
}

TEST_F(Identity, BEERUncompressedFromAWarmStartIsGradientTracking) {
  const Matrix y = diging(problem, 0.05, rounds);
  EXPECT_LT(difference(library(BEER{.eta = 0.05, .gamma = 1, .warm_start = true}, identical), y),
            1e-12);
}

TEST_F(Identity, ScaledQsgdIsUnscaledQsgdWithGammaOneOverTau) {
  const double s = 3;  // 2 bits: tau is far from 1
  const double tau = 1 + std::min(d / (s * s), std::sqrt(static_cast<double>(d)) / s);
  ASSERT_GT(tau, 2);
  TiCoPD algorithm{.alpha = 0.05, .theta = 1, .eta = 0.1, .beta = 0.8};
  const Matrix scaled = library(algorithm, qsgd(2, true), 60);
  algorithm.gamma = 1 / tau;
  EXPECT_LT(difference(library(algorithm, qsgd(2, false), 60), scaled), 1e-12);
  algorithm.gamma = 0.9 / tau;
  EXPECT_GT(difference(library(algorithm, qsgd(2, false), 60), scaled), 1e-3);
}

TEST_F(Identity, TheDualsOfTiCoPDAndCpSGDSumToZeroAndTheMixtureIsMTimesTheSurrogates) {
  Surrounded world(graph, *f, qsgd(4));
  TiCoPD params{.alpha = 0.05, .theta = 1, .eta = 0.1, .beta = 0.7};
  TiCoPD::Run<CpuNetwork<double>> run(params, world.net);
  for (std::uint32_t t = 1; t <= 50; ++t) {
    world.net.begin_round(t);
    run.step();
    const Matrix duals = to_matrix(run.lambda);
    ASSERT_LT(duals.colwise().sum().norm(), 1e-13 * (1 + duals.norm()) * t);
    auto mixed = world.net.field();
    world.net.map([](double& to, double from) { to = from; }, mixed, run.xhat.mixed());
    const Matrix own = to_matrix(run.xhat.own());
    ASSERT_LT((to_matrix(mixed) - problem.L * own).norm(), 1e-13 * (1 + own.norm()));
  }
  EXPECT_GT(to_matrix(run.lambda).norm(), 0.1);

  Surrounded second(graph, *f, qsgd(4));
  CpSGD::Run<CpuNetwork<double>> other(CpSGD{.eta = 0.05, .gamma = 1, .omega = 1, .alpha_x = 0.5},
                                       second.net);
  for (std::uint32_t t = 1; t <= 50; ++t) {
    second.net.begin_round(t);
    other.step();
  }
  EXPECT_LT(to_matrix(other.v).colwise().sum().norm(), 1e-12);
  EXPECT_GT(to_matrix(other.v).norm(), 0.1);
}

TEST_F(Identity, TheTrackersOfBEERSumToTheGradients) {
  for (const bool warm_start : {false, true}) {
    Surrounded world(graph, *f, qsgd(4));
    BEER::Run<CpuNetwork<double>> run(BEER{.eta = 0.02, .gamma = 0.2, .warm_start = warm_start},
                                      world.net);
    for (std::uint32_t t = 1; t <= 50; ++t) {
      world.net.begin_round(t);
      run.step();
      const Eigen::RowVectorXd gradients = problem.gradients(to_matrix(run.x)).colwise().sum();
      ASSERT_LT((to_matrix(run.v).colwise().sum() - gradients).norm(), 1e-11) << "round " << t;
    }
  }
}

// With beta = 1 the average moves by the gradients alone. With any other beta the codec's error
// enters the average.
TEST_F(Identity, TheAverageOfTiCoPDFollowsItsFormula) {
  for (const double beta : {1.0, 0.6}) {
    Surrounded world(graph, *f, keep("top_k", k));
    TiCoPD::Run<CpuNetwork<double>> run(TiCoPD{.alpha = 0.05, .theta = 1, .eta = 0.1, .beta = beta},
                                        world.net);
    for (std::uint32_t t = 1; t <= 30; ++t) {
      const Matrix before = to_matrix(run.x);
      world.net.begin_round(t);
      run.step();
      const Matrix xhat = to_matrix(run.xhat.own());
      const Eigen::RowVectorXd expected = beta * before.colwise().mean() +
                                          (1 - beta) * xhat.colwise().mean() -
                                          0.05 * problem.gradients(before).colwise().mean();
      ASSERT_LT((to_matrix(run.x).colwise().mean() - expected).norm(), 1e-12) << "round " << t;
    }
  }
}

}  // namespace
}  // namespace ticopd::dense
