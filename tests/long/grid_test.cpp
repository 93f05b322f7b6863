// The grids that tests/tune leaves out: each is two searches and 144 runs.
#include "tune/grid.hpp"

namespace ticopd {
namespace {

TEST_F(Grid, TuneMatchesTheGridForChocoOnLeastSquares) {
  expect_as_good_over_eta_and_gamma(least_squares, "choco_sgd");
}

TEST_F(Grid, TuneMatchesTheGridForBeerOnLeastSquares) {
  expect_as_good_over_eta_and_gamma(least_squares, "beer");
}

TEST_F(Grid, TuneMatchesTheGridForBeerOnLogisticRegression) {
  expect_as_good_over_eta_and_gamma(logistic, "beer");
}

// Nothing is said of ranges, and all three step sizes are searched; the grid knows a good theta.
TEST_F(Grid, TuneMatchesTheGridForTicopdOnLogisticRegression) {
  expect_as_good(logistic, "ticopd\"\ntheta = 0.3\n", "", {"alpha", 1e-3, 10}, {"eta", 1e-3, 10},
                 200);
}

}  // namespace
}  // namespace ticopd
