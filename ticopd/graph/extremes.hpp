#pragma once

#include "ticopd/graph/mixing.hpp"

namespace ticopd {

// The largest and the smallest positive eigenvalue of a (weighted) Laplacian of a connected graph
// on at least two agents: symmetric, rows sum to zero, so that 0 is a simple eigenvalue with the
// vector 1.
struct Extremes {
  double max;
  double min;
};

// All eigenvalues of the dense matrix; n^3.
Extremes extremes_dense(const Mixing& laplacian);

// Lanczos, which is quick for graphs that mix well. Long thin graphs (rings, paths, grids) have
// many eigenvalues close to both ends of the spectrum, and Lanczos would need as many steps as
// agents. Such graphs have sparse Cholesky factors, so those find the rest. Both reach 1e-11 of the
// largest eigenvalue.
Extremes extremes_sparse(const Mixing& laplacian);

}  // namespace ticopd
