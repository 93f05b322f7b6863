// Every algorithm compared with its transcript as dense matrices, in double, with a deterministic
// codec.
#include "algorithms/agreement.hpp"
#include "dense/transcripts.hpp"
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/cp_sgd.hpp"
#include "ticopd/algorithms/def_atc.hpp"
#include "ticopd/algorithms/dgd.hpp"
#include "ticopd/algorithms/dgd_quantized.hpp"
#include "ticopd/algorithms/ticopd.hpp"

namespace ticopd::dense {
namespace {

class Transcript : public Twice {
 protected:
  const Compress Q = top_k(k);
  const CodecOptions top = keep("top_k", k);
  double lambda_max() const {
    return Eigen::SelfAdjointEigenSolver<Matrix>(problem.L).eigenvalues().maxCoeff();
  }
};

TEST_F(Transcript, TestProblemIsHeterogeneousAndItsGraphIsNotRegular) {
  int least = n, most = 0;
  for (int i = 0; i < n; ++i) {
    least = std::min(least, graph.degree(i));
    most = std::max(most, graph.degree(i));
  }
  EXPECT_LT(least, most) << "on a regular graph W and L would hide each other's mistakes";
  const Matrix X = problem.solution().transpose().replicate(n, 1);
  EXPECT_GT(problem.gradients(X).rowwise().norm().minCoeff(), 0.1);
  EXPECT_LT(problem.gradients(X).colwise().sum().norm(), 1e-12);
}

TEST_F(Transcript, TiCoPDMatchesItsTranscriptWithTheDerivedBeta) {
  const double alpha = 0.05, theta = 1, eta = 0.1, beta = 1 - alpha * theta * lambda_max();
  ASSERT_GT(beta, 0);
  const Matrix x = library(TiCoPD{.alpha = alpha, .theta = theta, .eta = eta}, top);
  const Matrix y =
      ticopd(problem, Q, {always(alpha), always(theta), always(eta), always(beta)}, rounds);
  EXPECT_LT(difference(x, y), tolerance);
}

TEST_F(Transcript, TiCoPDMatchesItsTranscriptWithAGivenBetaAndGammaBelowOne) {
  const Matrix x =
      library(TiCoPD{.alpha = 0.05, .theta = 1, .eta = 0.1, .beta = 0.7, .gamma = 0.6}, top);
  const Matrix y =
      ticopd(problem, Q, {always(0.05), always(1), always(0.1), always(0.7), always(0.6)}, rounds);
  EXPECT_LT(difference(x, y), tolerance);
}

TEST_F(Transcript, TiCoPDMatchesItsTranscriptFromAWarmStart) {
  const Matrix x =
      library(TiCoPD{.alpha = 0.05, .theta = 1, .eta = 0.1, .beta = 0.8, .warm_start = true}, top);
  TiCoPDSteps steps{always(0.05), always(1), always(0.1), always(0.8)};
  const Matrix cold = ticopd(problem, Q, steps, rounds);
  steps.warm_start = true;
  EXPECT_LT(difference(x, ticopd(problem, Q, steps, rounds)), tolerance);
  EXPECT_GT(difference(x, cold), 1e-6) << "the flag does something";
}

// The first round is t = 1, and the derived beta follows the schedules of alpha and theta.
TEST_F(Transcript, TiCoPDMatchesItsTranscriptWithSchedules) {
  const Matrix x = library(TiCoPD{.alpha = Schedule::inverse_sqrt(0.2, 15),
                                  .theta = Schedule::inverse(40, 39),
                                  .eta = Schedule::step(0.1, 0.5, 50)},
                           top);
  const auto alpha = [](int t) { return 0.2 / std::sqrt(t + 15.0); };
  const auto theta = [](int t) { return 40.0 / (t + 39.0); };
  const auto eta = [](int t) {
    return t <= 50 ? 0.1 : t <= 100 ? 0.05 : t <= 150 ? 0.025 : 0.0125;
  };
  const double M = lambda_max();
  const auto beta = [&](int t) { return 1 - alpha(t) * theta(t) * M; };
  EXPECT_LT(difference(x, ticopd(problem, Q, {alpha, theta, eta, beta}, rounds)), tolerance);
}

TEST_F(Transcript, ChocoSGDMatchesItsTranscript) {
  EXPECT_LT(difference(library(ChocoSGD{.eta = 0.05, .gamma = 0.2}, top),
                       choco_sgd(problem, Q, 0.05, 0.2, false, rounds)),
            tolerance);
  EXPECT_LT(difference(library(ChocoSGD{.eta = 0.05, .gamma = 0.2, .warm_start = true}, top),
                       choco_sgd(problem, Q, 0.05, 0.2, true, rounds)),
            tolerance);
}

TEST_F(Transcript, CpSGDMatchesItsTranscriptWithAlphaXBelowOne) {
  const Matrix x = library(CpSGD{.eta = 0.05, .gamma = 1, .omega = 1.2, .alpha_x = 0.4}, top);
  EXPECT_LT(difference(x, cp_sgd(problem, Q, {0.05, 1, 1.2, 0.4}, rounds)), tolerance);
}

TEST_F(Transcript, CpSGDMatchesItsTranscriptFromAWarmStart) {
  CpSGD method{.eta = 0.05, .gamma = 1, .omega = 1.2, .alpha_x = 0.4, .warm_start = true};
  const Matrix x = library(method, top);
  EXPECT_LT(difference(x, cp_sgd(problem, Q, {0.05, 1, 1.2, 0.4, true}, rounds)), tolerance);
  EXPECT_GT(difference(x, cp_sgd(problem, Q, {0.05, 1, 1.2, 0.4}, rounds)), 1e-6);
}

TEST_F(Transcript, DefATCMatchesItsTranscriptWithDamping) {
  const Matrix x = library(DefATC{.mu = 0.02, .zeta = 0.5, .gamma = 0.3}, top);
  EXPECT_LT(difference(x, def_atc(problem, Q, 0.02, 0.5, 0.3, rounds)), tolerance);
}

TEST_F(Transcript, BEERMatchesItsTranscript) {
  EXPECT_LT(difference(library(BEER{.eta = 0.02, .gamma = 0.2}, top),
                       beer(problem, Q, 0.02, 0.2, false, rounds)),
            tolerance);
}

TEST_F(Transcript, BEERMatchesItsTranscriptFromAWarmStart) {
  const Matrix x = library(BEER{.eta = 0.02, .gamma = 0.2, .warm_start = true}, top);
  EXPECT_LT(difference(x, beer(problem, Q, 0.02, 0.2, true, rounds)), tolerance);
  EXPECT_GT(difference(x, beer(problem, Q, 0.02, 0.2, false, rounds)), 1e-6);
}

TEST_F(Transcript, BEERKeepsTheMiniBatchThatWasDrawnForAModel) {
  for (const bool warm_start : {false, true}) {
    ticopd::Setup<double> s = setup(top);
    s.batch = 4;
    const BEER method{.eta = 0.01, .gamma = 0.2, .warm_start = warm_start};
    const Matrix x = to_matrix(solve(method, s).x);
    EXPECT_LT(difference(x, beer(problem, Q, 0.01, 0.2, warm_start, rounds, 4)), tolerance);
    EXPECT_GT(difference(x, beer(problem, Q, 0.01, 0.2, warm_start, rounds)), 1e-6);
  }
}

TEST_F(Transcript, DGDMatchesItsTranscript) {
  EXPECT_LT(difference(library(DGD{.eta = 0.1}, codec("identity")), dgd(problem, 0.1, rounds)),
            tolerance);
}

TEST_F(Transcript, DgdQuantizedMatchesItsTranscriptForBothValuesOfQuantizeSelf) {
  for (const bool self : {false, true})
    EXPECT_LT(difference(library(DgdQuantized{.eta = 0.1, .quantize_self = self}, top),
                         dgd_quantized(problem, Q, 0.1, self, rounds)),
              tolerance)
        << "quantize_self " << self;
}

}  // namespace
}  // namespace ticopd::dense
