#include "ticopd/graph/extremes.hpp"

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include "ticopd/numeric/noise.hpp"

namespace ticopd {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Cholesky = Eigen::SimplicialLLT<Matrix, Eigen::Lower, Eigen::AMDOrdering<int>>;
using Eigen::VectorXd;

constexpr double tolerance = 1e-12;

Matrix sparse(const Mixing& m, int first) {  // without the agents below `first`
  std::vector<Eigen::Triplet<double>> entries;
  const int n = static_cast<int>(m.rows.size());
  for (int i = first; i < n; ++i)
    for (const auto& [j, weight] : m.rows[static_cast<std::size_t>(i)])
      if (j >= first) entries.emplace_back(i - first, j - first, weight);
  Matrix a(n - first, n - first);
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

// The symmetric tridiagonal matrix that Lanczos builds.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;

  // Eigenvalues below x, by the signs of the pivots of T - x I (Sylvester).
  std::size_t below(double x) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      const double b = k > 0 ? beside[k - 1] : 0.0;
      pivot = diagonal[k] - x - b * b / pivot;
      if (pivot == 0) pivot = -1e-300;
      if (pivot < 0) ++count;
    }
    return count;
  }

  // Eigenvalue `index` in ascending order, by bisection of Gershgorin's interval.
  double eigenvalue(std::size_t index) const {
    double low = 0;
    double high = 0;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      const double r = (k > 0 ? std::abs(beside[k - 1]) : 0.0) +
                       (k + 1 < diagonal.size() ? std::abs(beside[k]) : 0.0);
      low = std::min(low, diagonal[k] - r);
      high = std::max(high, diagonal[k] + r);
    }
    for (int halving = 0; halving < 100; ++halving) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      (below(middle) > index ? high : low) = middle;
    }
    return 0.5 * (low + high);
  }
};

struct Ritz {
  Extremes value;
  bool max_settled;
  bool min_settled;
};

// Lanczos on the vectors that sum to zero. Without reorthogonalization: lost orthogonality repeats
// extreme eigenvalues but does not move them. Ritz values are read when the step count doubles; an
// extreme eigenvalue has converged when two doublings did not change it.
template <class Apply>
Ritz lanczos(Eigen::Index n, int most_steps, bool only_max, Apply apply) {
  Generator random(Noise{1, 0, 0, stream_graph});
  VectorXd v = VectorXd::NullaryExpr(n, [&random](Eigen::Index) { return random.normal(); });
  const auto centre = [](VectorXd& u) { u.array() -= u.mean(); };
  centre(v);
  v.normalize();
  VectorXd last = VectorXd::Zero(n);
  Tridiagonal t;
  double b = 0;
  Ritz now{{0, 0}, false, false};
  int max_quiet = 0;
  int min_quiet = 0;
  for (int step = 1, look = 16; step <= most_steps; ++step) {
    VectorXd w = apply(v) - b * last;
    const double a = v.dot(w);
    w -= a * v;
    centre(w);
    t.diagonal.push_back(a);
    b = w.norm();
    // An invariant subspace: with a random start it has every eigenvalue.
    const bool whole = b <= 1e-13 * std::max(now.value.max, std::abs(a));
    if (step == look || whole) {
      look *= 2;
      const Extremes next{t.eigenvalue(t.diagonal.size() - 1), only_max ? 0 : t.eigenvalue(0)};
      const double small = tolerance * next.max;
      max_quiet = std::abs(next.max - now.value.max) <= small ? max_quiet + 1 : 0;
      min_quiet = std::abs(next.min - now.value.min) <= small ? min_quiet + 1 : 0;
      now = {next, whole || max_quiet >= 2, whole || min_quiet >= 2};
      if (now.max_settled && now.min_settled) break;
    }
    t.beside.push_back(b);
    last = v;
    v = w / b;
  }
  return now;
}

bool positive_definite(const Matrix& a, double sigma, Cholesky& factor) {  // sigma I - A
  Matrix shifted = -a;
  for (Eigen::Index i = 0; i < a.rows(); ++i) shifted.coeffRef(i, i) += sigma;
  factor.factorize(shifted);
  return factor.info() == Eigen::Success;
}

// Bisection from a lower bound: sigma I - A has a Cholesky factor exactly above the spectrum.
double finish_max(const Matrix& a, double low) {
  Cholesky factor;
  factor.analyzePattern(a);
  const double small = 4 * tolerance * low;
  double width = 1e-6 * low;
  while (!positive_definite(a, low + width, factor)) {
    low += width;
    width *= 8;
  }
  double high = low + width;
  while (high - low > small) {
    const double middle = 0.5 * (low + high);
    (positive_definite(a, middle, factor) ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

// Lanczos on the inverse, whose largest eigenvalues are well separated. On vectors that sum to
// zero, L x = b is solved with x_0 = 0, which leaves a positive definite matrix; Lanczos then
// subtracts the mean of the solution.
double finish_min(const Mixing& laplacian) {
  const Matrix grounded = sparse(laplacian, 1);
  const Cholesky factor(grounded);
  const auto n = grounded.rows() + 1;
  const Ritz inverse = lanczos(n, 1024, true, [&](const VectorXd& b) {
    VectorXd x = VectorXd::Zero(n);
    x.tail(n - 1) = factor.solve(b.tail(n - 1));
    return x;
  });
  return 1 / inverse.value.max;
}

}  // namespace

Extremes extremes_dense(const Mixing& laplacian) {
  const Eigen::MatrixXd a(sparse(laplacian, 0));
  const VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
  return {values(values.size() - 1), values(1)};
}

Extremes extremes_sparse(const Mixing& laplacian) {
  const Matrix a = sparse(laplacian, 0);
  const Ritz ritz =
      lanczos(a.rows(), 1024, false, [&a](const VectorXd& v) -> VectorXd { return a * v; });
  return {ritz.max_settled ? ritz.value.max : finish_max(a, ritz.value.max),
          ritz.min_settled ? ritz.value.min : finish_min(laplacian)};
}

}  // namespace ticopd
