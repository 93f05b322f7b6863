#include "ticopd/algorithms/prox_pda_perturbed.hpp"

#include <cstdio>

#include "ticopd/error.hpp"

namespace ticopd {

void ProxPdaPerturbed::resolve(const Spectrum& graph, Warnings&) {
  if (!(graph.laplacian_max > 0))
    throw ConfigError("algorithm.name = \"prox_pda_perturbed\" has the step size 1 / (rho "
                      "lambda_max(L)), which needs neighbours: graph.agents is 1, allowed is at "
                      "least 2");
  ell = graph.laplacian_max;
  const double product = rho(1) * gamma(1);
  if (product < 1) return;
  char figures[96];
  std::snprintf(figures, sizeof figures, "%g * %g = %g", rho(1), gamma(1), product);
  throw ConfigError("algorithm.rho * algorithm.gamma = " + std::string(figures) +
                    ": allowed is below 1, for the dual is multiplied by 1 - rho gamma each round");
}

}  // namespace ticopd
