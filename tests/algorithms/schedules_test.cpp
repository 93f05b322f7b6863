// Step sizes that change, and lazy Metropolis weights. Both come from outside the method. Tests
// with constant steps and Metropolis weights would miss a wrong round or a lost factor of a half.
#include "algorithms/agreement.hpp"
#include "dense/compressed_transcripts.hpp"
#include "dense/exact_transcripts.hpp"
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/cp_sgd.hpp"
#include "ticopd/algorithms/def_atc.hpp"
#include "ticopd/algorithms/dgd.hpp"
#include "ticopd/algorithms/docom.hpp"
#include "ticopd/algorithms/local_sgd.hpp"
#include "ticopd/algorithms/nids.hpp"
#include "ticopd/algorithms/sparq_sgd.hpp"

namespace ticopd::dense {
namespace {

// One schedule in two forms: for the library and for the transcript.
struct Both {
  Schedule library;
  Step transcript;
};

// The first round is t = 1.
Both sinking(double c) {
  return {Schedule::inverse_sqrt(4 * c, 15), [c](int t) { return 4 * c / std::sqrt(t + 15.0); }};
}
Both vanishing(double c) {
  return {Schedule::inverse(50 * c, 49), [c](int t) { return 50 * c / (t + 49.0); }};
}
Both lowered(double c) {  // in rounds 1 ... 70, 71 ... 140, 141 ...
  return {Schedule::step(c, 0.8, 70), [c](int t) {
            return c * (t <= 70 ? 1 : t <= 140 ? 0.8 : 0.8 * 0.8);
          }};
}

class Schedules : public Twice {
 protected:
  const Compress Q = top_k(k);
  const CodecOptions top = keep("top_k", k);
  const CodecOptions identical = codec("identity");

  template <class Algorithm>
  void expect(const Algorithm& method, const CodecOptions& options, const Matrix& transcript) {
    EXPECT_LT(difference(library(method, options, rounds), transcript), tolerance)
        << Algorithm::name;
  }
};

TEST_F(Schedules, EveryMethodUsesTheStepSizesOfTheCurrentRound) {
  const auto [eta, step] = sinking(0.03);
  const auto [gamma, mix] = lowered(0.3);
  const auto [beta, weight] = vanishing(0.4);
  const auto [c, limit] = vanishing(600);
  const auto [theta, penalty] = lowered(1.2);

  expect(DGD{.eta = eta}, identical, dgd(problem, step, rounds));
  expect(LocalSGD{.eta = eta, .period = 3}, identical,
         local_sgd(problem, problem.W, step, 3, rounds));
  expect(ChocoSGD{.eta = eta, .gamma = gamma}, top,
         choco_sgd(problem, Q, step, mix, false, rounds));
  expect(CpSGD{.eta = eta, .gamma = theta, .omega = theta, .alpha_x = beta}, top,
         cp_sgd(problem, Q, {step, penalty, penalty, weight}, rounds));
  expect(DefATC{.mu = eta, .zeta = beta, .gamma = gamma}, top,
         def_atc(problem, Q, step, weight, mix, rounds));
  expect(BEER{.eta = eta, .gamma = gamma}, top, beer(problem, Q, step, mix, false, rounds));
  expect(DoCoM{.eta = eta, .gamma = gamma, .beta = beta}, top,
         docom(problem, Q, {step, mix, weight}, rounds));
  int told = 0;
  expect(SparqSGD{.eta = eta, .gamma = gamma, .threshold = c, .period = 3}, top,
         sparq_sgd(problem, Q, step, mix, limit, 3, rounds, told));
  EXPECT_GT(told, 0);
  EXPECT_LT(told, n * (rounds / 3)) << "the threshold decides something";
}

TEST_F(Schedules, LazyMetropolisWeightsAreHalfwayToTheIdentity) {
  problem.W = ((Matrix::Identity(n, n) + problem.W) / 2).eval();
  const auto expect_lazy = [&](const auto& method, const CodecOptions& options,
                               const Matrix& transcript) {
    ticopd::Setup<double> s = setup(options);
    s.weights = Weights::lazy_metropolis;
    EXPECT_LT(difference(to_matrix(solve(method, s).x), transcript), tolerance) << method.name;
  };
  expect_lazy(ChocoSGD{.eta = 0.05, .gamma = 0.2}, top,
              choco_sgd(problem, Q, 0.05, 0.2, false, rounds));
  expect_lazy(DGD{.eta = 0.1}, identical, dgd(problem, 0.1, rounds));
  expect_lazy(NIDS{.alpha = 0.2}, identical, nids(problem, 0.2, rounds));
}

}  // namespace
}  // namespace ticopd::dense
