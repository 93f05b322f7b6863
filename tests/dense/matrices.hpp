#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "dense/problem.hpp"
#include "ticopd/graph/graph.hpp"

namespace ticopd::dense {

using Matrix = Eigen::MatrixXd;  // one row per agent
using Vector = Eigen::VectorXd;

inline Matrix A_of(const LeastSquares<double>& f, int agent) {
  Matrix A(f.samples(agent), f.dimension());
  for (Eigen::Index s = 0; s < A.rows(); ++s)
    for (Eigen::Index k = 0; k < A.cols(); ++k)
      A(s, k) = f.row(agent, static_cast<std::size_t>(s))[k];
  return A;
}
inline Vector b_of(const LeastSquares<double>& f, int agent) {
  Vector b(f.samples(agent));
  for (Eigen::Index s = 0; s < b.size(); ++s) b(s) = f.target(agent, static_cast<std::size_t>(s));
  return b;
}

// Whole matrices, written from their definitions. They use only the graph's edges from the library.

inline Matrix laplacian(const Graph& graph) {
  Matrix L = Matrix::Zero(graph.agents(), graph.agents());
  for (int i = 0; i < graph.agents(); ++i)
    for (const int j : graph.neighbours(i)) {
      L(i, i) += 1;
      L(i, j) -= 1;
    }
  return L;
}

inline Matrix adjacency(const Graph& graph) {
  const Matrix L = dense::laplacian(graph);
  return Matrix(L.diagonal().asDiagonal()) - L;
}

inline Matrix metropolis(const Graph& graph) {
  Matrix W = Matrix::Zero(graph.agents(), graph.agents());
  for (int i = 0; i < graph.agents(); ++i) {
    for (const int j : graph.neighbours(i))
      W(i, j) = 1.0 / (1 + std::max(graph.degree(i), graph.degree(j)));
    W(i, i) = 1 - W.row(i).sum();
  }
  return W;
}

// A compressor acts on the rows of all agents at once.
using Compress = std::function<Matrix(const Matrix&)>;

inline Matrix identity(const Matrix& V) {
  return V;
}

// The k largest magnitudes of each row, ties to the lower index.
inline Compress top_k(int k) {
  return [k](const Matrix& V) {
    Matrix Q = Matrix::Zero(V.rows(), V.cols());
    for (int i = 0; i < V.rows(); ++i) {
      std::vector<int> order(static_cast<std::size_t>(V.cols()));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return std::abs(V(i, a)) > std::abs(V(i, b)); });
      for (int r = 0; r < k; ++r)
        Q(i, order[static_cast<std::size_t>(r)]) = V(i, order[static_cast<std::size_t>(r)]);
    }
    return Q;
  };
}

// A problem with its graph, as matrices.
struct Problem {
  Matrix L, Adj, W;
  std::vector<Matrix> A;
  std::vector<Vector> b;
  Matrix X0;

  Problem(const LeastSquares<double>& f, const Graph& graph, std::uint64_t seed)
      : L(dense::laplacian(graph)), Adj(adjacency(graph)), W(metropolis(graph)) {
    for (int i = 0; i < f.agents(); ++i) {
      A.push_back(A_of(f, i));
      b.push_back(b_of(f, i));
    }
    Vector x0(static_cast<Eigen::Index>(f.dimension()));
    f.start(seed, {x0.data(), f.dimension()});
    X0 = x0.transpose().replicate(f.agents(), 1);
  }

  int agents() const { return static_cast<int>(A.size()); }
  Matrix zero() const { return Matrix::Zero(X0.rows(), X0.cols()); }

  Matrix gradients(const Matrix& X) const {
    Matrix G(X.rows(), X.cols());
    for (int i = 0; i < agents(); ++i) {
      const auto& a = A[static_cast<std::size_t>(i)];
      const Vector residual = a * X.row(i).transpose() - b[static_cast<std::size_t>(i)];
      G.row(i) = (a.transpose() * residual).transpose() / static_cast<double>(a.rows());
    }
    return G;
  }

  // argmin of (1/n) sum_i f_i, by the normal equations.
  Vector solution() const {
    Matrix H = Matrix::Zero(X0.cols(), X0.cols());
    Vector r = Vector::Zero(X0.cols());
    for (std::size_t i = 0; i < A.size(); ++i) {
      H += A[i].transpose() * A[i] / static_cast<double>(A[i].rows());
      r += A[i].transpose() * b[i] / static_cast<double>(A[i].rows());
    }
    return H.ldlt().solve(r);
  }
};

}  // namespace ticopd::dense
