#pragma once

#include "dense/matrices.hpp"
#include "ticopd/numeric/permutation.hpp"

namespace ticopd::dense {

// Gradients over the samples that each agent draws in a round: `batch` samples, without
// replacement.
inline Matrix batch_gradients(const Problem& p, const Matrix& X, std::uint64_t seed, int round,
                              std::size_t batch) {
  if (batch == 0) return p.gradients(X);
  Matrix G = p.zero();
  for (int i = 0; i < p.agents(); ++i) {
    const Matrix& A = p.A[static_cast<std::size_t>(i)];
    const Vector& b = p.b[static_cast<std::size_t>(i)];
    const Permutation draw(
        static_cast<std::uint64_t>(A.rows()),
        {seed, static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(i), stream_batch});
    for (std::size_t s = 0; s < batch; ++s) {
      const auto row = static_cast<Eigen::Index>(draw(s));
      G.row(i) += (A.row(row).dot(X.row(i)) - b(row)) * A.row(row) / static_cast<double>(batch);
    }
  }
  return G;
}

}  // namespace ticopd::dense
