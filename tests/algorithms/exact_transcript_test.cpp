// The uncompressed and exact methods compared with their transcripts as dense matrices, in double,
// on a regular and an irregular graph.
#include "algorithms/agreement.hpp"
#include "dense/exact_transcripts.hpp"
#include "ticopd/algorithms/extra.hpp"
#include "ticopd/algorithms/gradient_tracking.hpp"
#include "ticopd/algorithms/lead.hpp"
#include "ticopd/algorithms/nids.hpp"
#include "ticopd/algorithms/primal_dual.hpp"
#include "ticopd/algorithms/prox_gpda.hpp"
#include "ticopd/algorithms/prox_pda_perturbed.hpp"
#include "ticopd/error.hpp"

namespace ticopd::dense {
namespace {

class ExactTranscript : public Twice, public ::testing::WithParamInterface<const char*> {
 protected:
  ExactTranscript() {
    if (std::string(GetParam()) != "Ring") return;
    graph = ring(n);
    problem = Problem(*f, graph, 1);
  }
  const CodecOptions identical = codec("identity");

  // Each schedule in two forms: for the library and for the transcripts.
  const Schedule sinking = Schedule::inverse_sqrt(0.4, 20);
  const Step sinks = [](int t) { return 0.4 / std::sqrt(t + 20.0); };
  const Schedule halving = Schedule::step(1.5, 0.5, 60);
  const Step halves = [](int t) { return 1.5 * std::pow(0.5, (t - 1) / 60); };
};

TEST_P(ExactTranscript, EXTRAMatchesItsTranscript) {
  EXPECT_LT(
      difference(library(EXTRA{.alpha = 0.1}, identical), extra(problem, always(0.1), rounds)),
      tolerance);
  EXPECT_LT(difference(library(EXTRA{.alpha = sinking}, identical), extra(problem, sinks, rounds)),
            tolerance);
}

TEST_P(ExactTranscript, GradientTrackingMatchesItsTranscriptInBothForms) {
  const Matrix x = library(GradientTracking{.eta = 0.05}, identical);
  const Matrix z = library(GradientTracking{.eta = 0.05, .form = "atc"}, identical);
  EXPECT_LT(difference(x, gradient_tracking(problem, always(0.05), rounds)), tolerance);
  EXPECT_LT(difference(z, gradient_tracking_atc(problem, always(0.05), rounds)), tolerance);
  EXPECT_GT(difference(x, z), 1e-9) << "they are two methods";
}

TEST_P(ExactTranscript, GradientTrackingMatchesItsTranscriptWithASchedule) {
  EXPECT_LT(difference(library(GradientTracking{.eta = sinking}, identical),
                       gradient_tracking(problem, sinks, rounds)),
            tolerance);
  EXPECT_LT(difference(library(GradientTracking{.eta = sinking, .form = "atc"}, identical),
                       gradient_tracking_atc(problem, sinks, rounds)),
            tolerance);
}

TEST_P(ExactTranscript, GradientTrackingKeepsTheMiniBatchThatWasDrawnForAModel) {
  ticopd::Setup<double> s = setup(identical);
  s.batch = 4;
  const Matrix x = to_matrix(solve(GradientTracking{.eta = 0.02}, s).x);
  const Matrix z = to_matrix(solve(GradientTracking{.eta = 0.02, .form = "atc"}, s).x);
  EXPECT_LT(difference(x, gradient_tracking(problem, 0.02, rounds, 4)), tolerance);
  EXPECT_LT(difference(z, gradient_tracking_atc(problem, 0.02, rounds, 4)), tolerance);
  EXPECT_GT(difference(x, gradient_tracking(problem, 0.02, rounds)), 1e-6);
}

TEST_P(ExactTranscript, PrimalDualMatchesItsTranscript) {
  const Matrix x = library(PrimalDual{.eta = 0.05, .alpha = 1.5, .beta = 1.2}, identical);
  EXPECT_LT(difference(x, primal_dual(problem, always(0.05), always(1.5), always(1.2), rounds)),
            tolerance);
  const Matrix z = library(PrimalDual{.eta = sinking, .alpha = halving, .beta = 1.2}, identical);
  EXPECT_LT(difference(z, primal_dual(problem, sinks, halves, always(1.2), rounds)), tolerance);
}

TEST_P(ExactTranscript, ProxGPDAMatchesItsTranscript) {
  EXPECT_LT(
      difference(library(ProxGPDA{.beta = 3}, identical), prox_gpda(problem, always(3), rounds)),
      tolerance);
  EXPECT_LT(difference(library(ProxGPDA{.beta = Schedule::step(2, 1.5, 60)}, identical),
                       prox_gpda(
                           problem, [](int r) { return 2 * std::pow(1.5, (r - 1) / 60); }, rounds)),
            tolerance);
}

TEST_P(ExactTranscript, ProxPdaPerturbedMatchesItsTranscript) {
  EXPECT_LT(difference(library(ProxPdaPerturbed{.rho = 2, .gamma = 0.05}, identical),
                       prox_pda_perturbed(problem, always(2), always(0.05), rounds)),
            tolerance);
  const Matrix x =
      library(ProxPdaPerturbed{.rho = Schedule::step(2, 1.5, 60), .gamma = sinking}, identical);
  const Matrix y = prox_pda_perturbed(
      problem, [](int r) { return 2 * std::pow(1.5, (r - 1) / 60); }, sinks, rounds);
  EXPECT_LT(difference(x, y), tolerance);
}

TEST_P(ExactTranscript, NIDSMatchesItsTranscript) {
  EXPECT_LT(difference(library(NIDS{.alpha = 0.2}, identical), nids(problem, always(0.2), rounds)),
            tolerance);
  EXPECT_LT(difference(library(NIDS{.alpha = sinking}, identical), nids(problem, sinks, rounds)),
            tolerance);
}

// LEAD is designed for unbiased codecs. With top-k it needs steps that do not amplify rounding.
TEST_P(ExactTranscript, LEADMatchesItsTranscript) {
  const LEAD algorithm{.eta = 0.05, .alpha = 0.7, .gamma = 0.1};
  const Matrix x = library(algorithm, keep("top_k", 8));
  EXPECT_LT(
      difference(x, lead(problem, top_k(8), {always(0.05), always(0.7), always(0.1)}, rounds)),
      tolerance);
}

TEST_P(ExactTranscript, LEADMatchesItsTranscriptFromAWarmStart) {
  LEAD algorithm{.eta = 0.05, .gamma = 0.1};
  const Matrix cold = library(algorithm, keep("top_k", 8));
  algorithm.warm_start = true;
  const Matrix x = library(algorithm, keep("top_k", 8));
  const LeadSteps steps{always(0.05), always(0.5), always(0.1), true};
  EXPECT_LT(difference(x, lead(problem, top_k(8), steps, rounds)), tolerance);
  EXPECT_GT(difference(x, cold), 1e-6);
}

TEST_P(ExactTranscript, LEADMatchesItsTranscriptWithSchedules) {
  const Matrix x = library(LEAD{.eta = Schedule::inverse_sqrt(0.3, 20),
                                .alpha = Schedule::step(0.9, 0.8, 60),
                                .gamma = Schedule::inverse(20, 200)},
                           keep("top_k", 8));
  const LeadSteps steps{[](int t) { return 0.3 / std::sqrt(t + 20.0); },
                        [](int t) { return 0.9 * std::pow(0.8, (t - 1) / 60); },
                        [](int t) { return 20.0 / (t + 200.0); }};
  EXPECT_LT(difference(x, lead(problem, top_k(8), steps, rounds)), tolerance);
}

INSTANTIATE_TEST_SUITE_P(On, ExactTranscript, ::testing::Values("Ring", "ErdosRenyi"),
                         [](const auto& graph) { return std::string(graph.param); });

class ProxLimits : public Twice {};

TEST_F(ProxLimits, RhoTimesGammaOfOneIsRejectedWithBothKeys) {
  EXPECT_NO_THROW(library(ProxPdaPerturbed{.rho = 2, .gamma = 0.49}, codec("identity"), 2));
  try {
    library(ProxPdaPerturbed{.rho = 2, .gamma = 0.5}, codec("identity"), 2);
    FAIL() << "rho gamma = 1";
  } catch (const ConfigError& e) {
    const std::string why = e.what();
    EXPECT_NE(why.find("algorithm.rho * algorithm.gamma = 2 * 0.5 = 1"), std::string::npos) << why;
  }
}

TEST_F(ProxLimits, ASingleAgentIsRejected) {
  Warnings warnings;
  const Spectrum alone{.laplacian_max = 0, .laplacian_min = 0, .gap = 1};
  EXPECT_THROW(ProxGPDA{.beta = 1}.resolve(alone, warnings), ConfigError);
  EXPECT_THROW((ProxPdaPerturbed{.rho = 1, .gamma = 0.1}.resolve(alone, warnings)), ConfigError);
}

}  // namespace
}  // namespace ticopd::dense
