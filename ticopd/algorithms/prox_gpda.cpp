#include "ticopd/algorithms/prox_gpda.hpp"

#include "ticopd/error.hpp"

namespace ticopd {

void ProxGPDA::resolve(const Spectrum& graph, Warnings&) {
  if (graph.laplacian_max > 0) return;
  throw ConfigError("algorithm.name = \"prox_gpda\" has the step size 1 / (2 |N_i| beta), which "
                    "needs neighbours: graph.agents is 1, allowed is at least 2");
}

}  // namespace ticopd
