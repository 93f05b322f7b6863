// Heterogeneous least squares on a ring of 8: the exact methods reach the solution of the whole
// problem, and the perturbed one stalls at a distance in proportion to its perturbation.
#include <fmt/format.h>

#include "algorithms/agreement.hpp"
#include "ticopd/algorithms/dgd.hpp"
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

constexpr double exact = 1e-10;

class Exact : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    solution = Problem(LeastSquares<double>(size), ring(8), 1).solution();
  }

  // max_i ||x_i - x*|| / ||x*||
  template <class T = double, class Algorithm>
  static double error(const Algorithm& algorithm, std::uint32_t rounds,
                      const CodecOptions& options = codec("identity")) {
    const ticopd::Setup<T> setup{.graph = ring(8),
                                 .objective = std::make_shared<LeastSquares<T>>(size),
                                 .codec = make_codec<T>(options),
                                 .iterations = rounds,
                                 .watch = {.rounds = {.every = 100000}}};
    const Field<T> x = solve(algorithm, setup).x;
    double most = 0;
    for (std::size_t i = 0; i < x.rows(); ++i) {
      const Eigen::Map<const Eigen::VectorX<T>> row(x.row(i).data(), solution.size());
      most = std::max(most, (row.template cast<double>() - solution).norm());
    }
    const double e = most / solution.norm();
    RecordProperty("error_after_" + std::to_string(rounds), fmt::format("{:.3g}", e));
    return e;
  }

  static constexpr ProblemSize size{8, 30, 60};
  static inline Vector solution;
};

TEST_F(Exact, DGDDoesNotReachTheSolution) {
  EXPECT_GT(error(DGD{.eta = 0.1}, 2000), 1e-2);
}

TEST_F(Exact, EXTRAReachesTheSolution) {
  EXPECT_LT(error(EXTRA{.alpha = 0.15}, 1000), exact);
}

TEST_F(Exact, GradientTrackingReachesTheSolutionInBothForms) {
  EXPECT_LT(error(GradientTracking{.eta = 0.08}, 1000), exact);
  EXPECT_LT(error(GradientTracking{.eta = 0.15, .form = "atc"}, 1000), exact);
}

TEST_F(Exact, ThePrimalDualMethodReachesTheSolution) {
  EXPECT_LT(error(PrimalDual{.eta = 0.15, .alpha = 1.5, .beta = 2}, 1000), exact);
}

TEST_F(Exact, ProxGPDAReachesTheSolution) {
  EXPECT_LT(error(ProxGPDA{.beta = 1.5}, 1000), exact);
}

TEST_F(Exact, NIDSReachesTheSolutionWithStepsTooLongForEXTRAOnThisGraph) {
  EXPECT_LT(error(NIDS{.alpha = 0.5}, 1000), exact);
  EXPECT_THROW(error(EXTRA{.alpha = 0.5}, 1000), Diverged);
}

TEST_F(Exact, LEADReachesTheSolutionWithTwoBits) {
  EXPECT_LT(error(LEAD{.eta = 0.15, .alpha = 0.3, .gamma = 0.3}, 2000, qsgd(2, false)), exact);
}

// The recursions in x alone, as the two papers write them; mixing by W - I, as the library does.
TEST_F(Exact, EXTRAAndNIDSStayAtTheSolutionInFloatAlthoughTheirRecursionsDrift) {
  using Rows = Eigen::MatrixXf;
  const Problem p(LeastSquares<double>(size), ring(8), 1);
  const Rows W_I = (p.W - Matrix::Identity(8, 8)).cast<float>();
  const auto gradients = [&](const Rows& x) -> Rows {
    return p.gradients(x.cast<double>()).cast<float>();
  };
  const auto drifted = [&](auto&& first, auto&& next) {
    const Rows x0 = p.X0.cast<float>();
    Rows last = x0, g_last = gradients(x0), x = first(x0, g_last);
    for (int k = 2; k <= 10000; ++k) {
      const Rows g = gradients(x);
      const Rows made = next(x, last, Rows(0.15f * (g - g_last)));
      last = x;
      g_last = g;
      x = made;
    }
    return (x.row(0).transpose().cast<double>() - solution).norm() / solution.norm();
  };
  const double extra =
      drifted([&](const Rows& x, const Rows& g) -> Rows { return x + W_I * x - 0.15f * g; },
              [&](const Rows& x, const Rows& last, const Rows& change) -> Rows {
                return 2 * x + W_I * x - last - W_I * last / 2 - change;
              });
  const double nids = drifted([&](const Rows& x, const Rows& g) -> Rows { return x - 0.15f * g; },
                              [&](const Rows& x, const Rows& last, const Rows& change) -> Rows {
                                const Rows z = 2 * x - last - change;
                                return z + W_I * z / 2;
                              });
  EXPECT_GT(extra, 1e-4);
  EXPECT_GT(nids, 1e-4);
  EXPECT_LT(error<float>(EXTRA{.alpha = 0.15}, 10000), 1e-5);
  EXPECT_LT(error<float>(NIDS{.alpha = 0.15}, 10000), 1e-5);
}

TEST_F(Exact, ProxPdaPerturbedStallsInProportionToItsPerturbation) {
  double last = 0;
  for (const double gamma : {0.04, 0.02, 0.01, 0.005}) {
    const ProxPdaPerturbed algorithm{.rho = 2, .gamma = gamma};
    const double early = error(algorithm, 2000), late = error(algorithm, 4000);
    EXPECT_NEAR(late, early, 1e-3 * early) << "it has arrived where it goes";
    EXPECT_GT(late, 1e-4);
    if (last > 0) {
      EXPECT_GT(late, 0.45 * last);
      EXPECT_LT(late, 0.6 * last);
    }
    last = late;
  }
}

}  // namespace
}  // namespace ticopd::dense
