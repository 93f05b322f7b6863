#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ticopd/graph/graph.hpp"

namespace ticopd {

// A matrix with the sparsity of the graph, by which a mirror mixes. Symmetric, except for the two
// matrices of a server (to_centre, from_centre). Its entries also say who receives from whom.
struct Mixing {
  struct Entry {
    int agent;
    double weight;
  };
  std::vector<std::vector<Entry>> rows;  // ascending agent, diagonal included (even if zero)
};

enum class Weights { metropolis, lazy_metropolis };
constexpr std::array<std::string_view, 2> words_of(Weights) {
  return {"metropolis", "lazy_metropolis"};
}
Weights parse_weights(std::string_view name);  // ConfigError naming graph.weights

Mixing laplacian(const Graph& graph);                 // (L x)_i = sum_j (x_i - x_j)
Mixing mixing_matrix(const Graph& graph, Weights w);  // W: w_ij = 1 / (1 + max(deg_i, deg_j))
Mixing minus_identity(Mixing w);                      // W - I
Mixing without_diagonal(Mixing w);                    // the neighbours' part of W
std::vector<double> diagonal(const Mixing& m);

// A server, for graphs where agent 0 is everyone's neighbour (ConfigError otherwise). The server
// reads the mean of all rows, its own included; the others read the server's row.
Mixing to_centre(const Graph& graph);
Mixing from_centre(const Graph& graph);
void require_centre(const Graph& graph);

struct Spectrum {
  double laplacian_max;  // lambda_max(L), the M of the paper; 0 for one agent
  double laplacian_min;  // lambda_2(L), the smallest positive one; 0 for one agent
  double gap;            // 1 - max(|lambda_2(W)|, |lambda_n(W)|)
};
// Dense up to 256 agents, Lanczos and sparse Cholesky above (extremes.hpp): to 1e-10 or better.
Spectrum spectrum(const Graph& graph, Weights w);

}  // namespace ticopd
