// Heterogeneous least squares: some compressed and local methods reach the solution, others stall.
// TiCoPD is also run over time-varying links and noisy channels.
#include <fmt/format.h>

#include "algorithms/agreement.hpp"
#include "ticopd/algorithms/deepsqueeze.hpp"
#include "ticopd/algorithms/docom.hpp"
#include "ticopd/algorithms/local_sgd.hpp"
#include "ticopd/algorithms/magnusson.hpp"
#include "ticopd/algorithms/qdgd.hpp"
#include "ticopd/algorithms/qsparse_local_sgd.hpp"
#include "ticopd/algorithms/sparq_sgd.hpp"
#include "ticopd/algorithms/ticopd.hpp"

namespace ticopd::dense {
namespace {

class CompressedConvergence : public ::testing::Test {
 protected:
  static constexpr int n = 8;
  static constexpr std::size_t d = 20;
  std::shared_ptr<const LeastSquares<double>> f =
      std::make_shared<LeastSquares<double>>(ProblemSize{n, d, 30});
  Vector solution = Problem(*f, ring(n), 1).solution();

  ticopd::Setup<double> setup(const CodecOptions& options, std::uint32_t rounds) const {
    return {.graph = ring(n),
            .objective = f,
            .codec = make_codec<double>(options),
            .iterations = rounds,
            .watch = {.rounds = {.every = 1000000}}};
  }

  // max_i ||x_i - x*|| / ||x*||; infinite if the run diverged.
  template <class Algorithm>
  double error(const Algorithm& algorithm, const ticopd::Setup<double>& s) const try {
    const Matrix x = to_matrix(solve(algorithm, s).x);
    const double e =
        (x.rowwise() - solution.transpose()).rowwise().norm().maxCoeff() / solution.norm();
    ::testing::Test::RecordProperty("error", fmt::format("{:.3g}", e));
    return e;
  } catch (const Diverged&) {
    return std::numeric_limits<double>::infinity();
  }
};

TEST_F(CompressedConvergence, DoCoMReachesTheSolution) {
  EXPECT_LT(error(DoCoM{.eta = 0.05, .gamma = 0.4, .beta = 0.5}, setup(qsgd(4), 4000)), 1e-10);
}

// A slow momentum (small beta) averages the noise of the mini-batches out. Plain tracking (beta =
// 1) stays nine times further from the solution.
TEST_F(CompressedConvergence, DoCoMsMomentumRemovesVariance) {
  auto s = setup(qsgd(6), 20000);
  s.batch = 3;
  const double plain = error(DoCoM{.eta = 0.05, .gamma = 0.4, .beta = 1}, s);
  const double momentum = error(DoCoM{.eta = 0.05, .gamma = 0.4, .beta = 0.001}, s);
  EXPECT_GT(plain, 0.1);
  EXPECT_LT(momentum, plain / 5);
}

TEST_F(CompressedConvergence, MagnussonReachesTheSolutionIfItsGridShrinksNoFasterThanItsError) {
  const auto with = [&](double kappa) {
    const Magnusson m{.eta = 0.1, .alpha = 2, .beta = 1.5, .r0 = 2, .kappa = kappa, .bits = 5};
    return error(m, setup(codec("identity"), 3000));
  };
  EXPECT_LT(with(0.99), 1e-10);
  EXPECT_GT(with(0.9), 1e-4) << "the box outran the model";
}

TEST_F(CompressedConvergence, MagnussonCountsTheCoordinatesOutsideItsBox) {
  const Magnusson good{.eta = 0.1, .alpha = 2, .beta = 1.5, .r0 = 2, .kappa = 0.99, .bits = 5};
  const Magnusson bad{.eta = 0.1, .alpha = 2, .beta = 1.5, .r0 = 2, .kappa = 0.9, .bits = 5};
  const auto saturated = [&](const Magnusson& m) {
    std::uint64_t sum = 0;
    for (const Ledger::Agent& a : solve(m, setup(codec("identity"), 500)).ledger)
      sum += a.saturated;
    return sum;
  };
  EXPECT_EQ(saturated(good), 0u);
  EXPECT_GT(saturated(bad), 1000u);
}

// These methods have the bias of DGD, since each agent pulls towards its own solution. The bias is
// proportional to the step size: a tenth of the step leaves about a tenth of the bias.
template <class Make>
void expect_bias_in_proportion(const CompressedConvergence&, Make error_of) {
  const double large = error_of(0.02), small = error_of(0.002);
  EXPECT_GT(large, 1e-3);
  EXPECT_GT(large / small, 5);
  EXPECT_LT(large / small, 20);
}

TEST_F(CompressedConvergence, SparqSGDStallsInProportionToItsStep) {
  expect_bias_in_proportion(*this, [&](double eta) {
    const auto rounds = static_cast<std::uint32_t>(60 / eta);
    return error(SparqSGD{.eta = eta, .gamma = 0.5, .threshold = 1, .period = 1},
                 setup(qsgd(6), rounds));
  });
}

TEST_F(CompressedConvergence, DeepSqueezeStallsInProportionToItsStep) {
  expect_bias_in_proportion(*this, [&](double eta) {
    return error(DeepSqueeze{.eta = eta, .gamma = 0.4},
                 setup(qsgd(8), static_cast<std::uint32_t>(60 / eta)));
  });
}

TEST_F(CompressedConvergence, LocalSGDIsExactWithAServerEveryRoundAndDriftsWithLongerPeriods) {
  auto s = setup(codec("identity"), 2000);
  s.graph = star(n);
  EXPECT_LT(error(LocalSGD{.eta = 0.1, .period = 1, .average = "star"}, s), 1e-10);
  const double two = error(LocalSGD{.eta = 0.1, .period = 2, .average = "star"}, s);
  const double ten = error(LocalSGD{.eta = 0.1, .period = 10, .average = "star"}, s);
  EXPECT_GT(two, 1e-3);
  EXPECT_GT(ten, 2 * two);
}

// Error feedback applies the dropped part of an update later, and an agent's own gradient is never
// zero. So the bias is proportional to the step size, even with a server and an exchange in every
// round, and it grows with the period.
TEST_F(CompressedConvergence, QsparseLocalSGDStallsInProportionToItsStep) {
  const auto with = [&](double eta, double period) {
    auto s = setup(keep("top_k", 4), static_cast<std::uint32_t>(120 / eta));
    s.graph = star(n);
    return error(QsparseLocalSGD{.eta = eta, .period = period}, s);
  };
  const double large = with(0.03, 1), small = with(0.003, 1);
  EXPECT_GT(large, 5e-3);
  EXPECT_GT(large / small, 5);
  EXPECT_LT(large / small, 20);
  EXPECT_GT(with(0.03, 8), 3 * large);
}

// QDGD's rule derives its steps from the number of rounds: longer runs end closer to the solution,
// slowly, as its theory says.
TEST_F(CompressedConvergence, QDGDWithItsStepRuleGetsCloserInLongerRuns) {
  const CodecOptions unbiased = qsgd(8, false);
  const double once = error(QDGD{.alpha = 0.3, .epsilon = 0.3}, setup(unbiased, 2000));
  const double rule = error(QDGD{}, setup(unbiased, 2000));
  const double longer = error(QDGD{}, setup(unbiased, 200000));
  EXPECT_LT(longer, rule);
  EXPECT_LT(longer, once / 2);
  EXPECT_GT(longer, 1e-4) << "it is no exact method at any one length";
}

TEST_F(CompressedConvergence, TiCoPDReachesTheSolutionOverTimeVaryingLinks) {
  const TiCoPD method{.alpha = 0.05, .theta = 1.5, .eta = 0.3, .beta = 1};
  for (const LinkSchedule links : {LinkSchedule{.drop = 0.2}, LinkSchedule{.drop = 0.7}}) {
    auto s = setup(qsgd(4), 12000);
    s.links = links;
    EXPECT_LT(error(method, s), 1e-10) << "drop " << links.drop;
  }
  auto s = setup(qsgd(6), 30000);
  s.graph = complete(n);
  s.links = {.one_edge = true};
  EXPECT_LT(error(method, s), 1e-10) << "one edge a round";
}

// Unscaled 1-bit qsgd does not contract: its error is up to sqrt(d) = 4.5 times the norm of its
// input. Without a gamma below one the surrogates diverge.
TEST_F(CompressedConvergence, TiCoPDNeedsGammaBelowOneIfTheCodecDoesNotContract) {
  for (const double drop : {0.0, 0.2}) {
    auto s = setup(qsgd(1, false), 20000);
    s.links = {.drop = drop};
    TiCoPD method{.alpha = 0.02, .theta = 1.5, .eta = 0.15, .beta = 1, .gamma = 0.2};
    EXPECT_LT(error(method, s), 1e-10) << "drop " << drop;
    method.gamma = 1;
    EXPECT_GT(error(method, s), 1) << "drop " << drop;
  }
}

// A falling gamma averages the noise out, and longer runs end closer to the solution. With a
// constant gamma the error stays at the level of the noise.
TEST_F(CompressedConvergence, TiCoPDAveragesChannelNoiseOutWithAFallingGamma) {
  for (const auto& [kind, drop] : {std::pair{ChannelNoise::Kind::uniform, 0.0},
                                   std::pair{ChannelNoise::Kind::gaussian, 0.2}}) {
    const auto with = [&](const Schedule& gamma, std::uint32_t rounds) {
      auto s = setup(qsgd(6), rounds);
      s.channel_noise = {kind, kind == ChannelNoise::Kind::uniform ? 0.1 : 0.06};
      s.links = {.drop = drop};
      return error(TiCoPD{.alpha = 0.02, .theta = 12, .eta = 0.01, .beta = 0.5, .gamma = gamma}, s);
    };
    const Schedule falling = Schedule::inverse_sqrt(1, 0);
    const double soon = with(1, 3000), late = with(1, 30000);
    EXPECT_GT(late, 0.03);
    EXPECT_GT(late, soon / 2) << "no nearer";
    const double falls = with(falling, 30000);
    EXPECT_LT(falls, late / 6);
    EXPECT_LT(falls, 0.75 * with(falling, 3000)) << "and on its way";
  }
}

}  // namespace
}  // namespace ticopd::dense
