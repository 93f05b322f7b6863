#include "ticopd/algorithms/ticopd.hpp"

#include <cmath>
#include <cstdio>

#include "ticopd/error.hpp"

namespace ticopd {

void TiCoPD::resolve(const Spectrum& graph, Warnings& warnings) {
  const double lambda_max = graph.laplacian_max;
  const double product = alpha(1) * theta(1) * lambda_max;
  char figures[160];
  std::snprintf(figures, sizeof figures, "alpha theta lambda_max(L) = %g * %g * %g = %g", alpha(1),
                theta(1), lambda_max, product);
  if (!beta.is_set()) {
    if (product > 1 + 1e-12)  // the eigenvalue is rounded: a ring of 16 has 4 and a little
      throw ConfigError("algorithm.beta is derived as 1 - alpha theta lambda_max(L), which needs "
                        "alpha theta lambda_max(L) <= 1: here " + std::string(figures) +
                        "; lower algorithm.alpha or algorithm.theta, or give algorithm.beta");
    beta = Schedule::derived([alpha = alpha, theta = theta, lambda_max](std::uint32_t round) {
      const double beta = 1 - alpha(round) * theta(round) * lambda_max;
      return std::abs(beta) < 1e-12 ? 0 : beta;
    });
  } else if (product > 1) {
    warnings.push_back(std::string(figures) + " is above 1: the run may not be stable");
  }
}

}  // namespace ticopd
