// Given ranges and default ones; the other grids are in tests/long.
#include "tune/grid.hpp"

namespace ticopd {
namespace {

TEST_F(Grid, TuneMatchesTheGridForChocoOnLogisticRegression) {
  expect_as_good_over_eta_and_gamma(logistic, "choco_sgd");
}

// tune searches all three step sizes in its default ranges, while the grid is given a good theta.
TEST_F(Grid, TuneMatchesTheGridForTicopdOnLeastSquares) {
  expect_as_good(least_squares, "ticopd\"\ntheta = 0.3\n", "", {"alpha", 1e-3, 10},
                 {"eta", 1e-3, 10}, 200);
}

}  // namespace
}  // namespace ticopd
