// Heterogeneous least squares on a ring of 8 with 4-bit messages: some methods reach the solution
// of the whole problem, others stall because the agents' own solutions differ.
#include <fmt/format.h>

#include "algorithms/agreement.hpp"
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/cp_sgd.hpp"
#include "ticopd/algorithms/def_atc.hpp"
#include "ticopd/algorithms/dgd.hpp"
#include "ticopd/algorithms/dgd_quantized.hpp"
#include "ticopd/algorithms/ticopd.hpp"

namespace ticopd::dense {
namespace {

// The same f_i through their normal equations: the gradient H_i x - r_i is fast enough for long
// runs.
class NormalEquations final : public Objective<double> {
 public:
  explicit NormalEquations(const LeastSquares<double>& f) {
    for (int i = 0; i < f.agents(); ++i) {
      const Matrix A = A_of(f, i);
      const Vector b = b_of(f, i);
      const auto m = static_cast<double>(A.rows());
      H_.push_back(A.transpose() * A / m);
      r_.push_back(A.transpose() * b / m);
      constant_.push_back(b.squaredNorm() / (2 * m));
    }
  }
  int agents() const override { return static_cast<int>(H_.size()); }
  std::size_t dimension() const override { return static_cast<std::size_t>(r_[0].size()); }
  double value(int agent, std::span<const double> x) const override {
    const auto i = static_cast<std::size_t>(agent);
    const Eigen::Map<const Vector> v(x.data(), r_[i].size());
    return v.dot(H_[i] * v) / 2 - r_[i].dot(v) + constant_[i];
  }
  void gradient(int agent, std::span<const double> x, std::span<double> g) const override {
    const auto i = static_cast<std::size_t>(agent);
    Eigen::Map<Vector>(g.data(), r_[i].size()).noalias() =
        H_[i] * Eigen::Map<const Vector>(x.data(), r_[i].size()) - r_[i];
  }

 private:
  std::vector<Matrix> H_;
  std::vector<Vector> r_;
  std::vector<double> constant_;
};

class Heterogeneous : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const LeastSquares<double> least_squares(ProblemSize{8, 100, 150});
    f = std::make_shared<NormalEquations>(least_squares);
    solution = Problem(least_squares, ring(8), 1).solution();
  }
  static void TearDownTestSuite() { f.reset(); }

  // max_i ||x_i - x*|| / ||x*||
  template <class Algorithm>
  static double error(const Algorithm& algorithm, const CodecOptions& options,
                      std::uint32_t rounds) {
    const ticopd::Setup<double> setup{.graph = ring(8),
                                      .objective = f,
                                      .codec = make_codec<double>(options),
                                      .iterations = rounds,
                                      .watch = {.rounds = {.every = 100000}}};
    const Matrix x = to_matrix(solve(algorithm, setup).x);
    const double e =
        (x.rowwise() - solution.transpose()).rowwise().norm().maxCoeff() / solution.norm();
    RecordProperty("error_after_" + std::to_string(rounds), fmt::format("{:.3g}", e));
    return e;
  }

  // The error stays above the bound and hardly falls in three times the rounds: a stall, not slow
  // convergence.
  template <class Algorithm>
  static void expect_stall(const Algorithm& algorithm, const CodecOptions& options,
                           std::uint32_t rounds) {
    EXPECT_GT(error(algorithm, options, 2000), 1e-3);
    const double early = error(algorithm, options, rounds),
                 late = error(algorithm, options, 3 * rounds);
    EXPECT_GT(late, 1e-3);
    EXPECT_GT(late, 0.5 * early) << "still on its way";
    EXPECT_LT(late, 1.5) << "it does not diverge either";
  }

  static inline std::shared_ptr<const Objective<double>> f;
  static inline Vector solution;
};

TEST_F(Heterogeneous, TiCoPDReachesTheSolution) {
  EXPECT_LT(error(TiCoPD{.alpha = 0.1, .theta = 2, .eta = 0.4}, qsgd(4), 2000), 1e-9);
}

TEST_F(Heterogeneous, CpSGDReachesTheSolution) {
  EXPECT_LT(error(CpSGD{.eta = 0.1, .gamma = 1.5, .omega = 1.5}, qsgd(4), 2000), 1e-9);
}

TEST_F(Heterogeneous, BEERReachesTheSolution) {
  EXPECT_LT(error(BEER{.eta = 0.05, .gamma = 0.3}, qsgd(4), 2000), 1e-9);
}

TEST_F(Heterogeneous, DGDStalls) {
  expect_stall(DGD{.eta = 0.001}, codec("identity"), 10000);
}

TEST_F(Heterogeneous, ChocoSGDStalls) {
  expect_stall(ChocoSGD{.eta = 0.001, .gamma = 0.4}, qsgd(4), 10000);
}

TEST_F(Heterogeneous, DefATCStalls) {
  expect_stall(DefATC{.mu = 0.001, .zeta = 1, .gamma = 0.4}, qsgd(4), 10000);
}

TEST_F(Heterogeneous, DirectQuantizationDoesNotConverge) {
  for (const bool scaled : {true, false})
    for (const std::uint32_t rounds : {2000u, 6000u})
      EXPECT_GT(error(DgdQuantized{.eta = 0.001}, qsgd(4, scaled), rounds), 1e-2)
          << "scaled " << scaled;
}

}  // namespace
}  // namespace ticopd::dense
