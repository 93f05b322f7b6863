// Given ranges and default ones; the other grids are in tests/long.
#include "tune/grid.hpp"

namespace ticopd {
namespace {

TEST_F(Grid, OfChocoIsNoBetterOnLogisticRegression) {
  expect_as_good_over_eta_and_gamma(logistic, "choco_sgd");
}

// Nothing is said of ranges, and all three step sizes are searched; the grid knows a good theta.
TEST_F(Grid, OfTicopdIsNoBetterOnLeastSquares) {
  expect_as_good(least_squares, "ticopd\"\ntheta = 0.3\n", "", {"alpha", 1e-3, 10},
                 {"eta", 1e-3, 10}, 200);
}

}  // namespace
}  // namespace ticopd
