#pragma once

#include "dense/transcripts.hpp"

namespace ticopd::dense {

// The uncompressed and exact methods written again, each as in its paper: as a recursion in x alone
// if the paper gives one, with a dual per edge if the paper has duals on edges.

inline Matrix extra(const Problem& p, const Step& alpha, int rounds) {
  const Matrix I = Matrix::Identity(p.W.rows(), p.W.cols());
  const Matrix W_tilde = (I + p.W) / 2;
  Matrix last = p.X0;
  Matrix x = p.W * last - alpha(1) * p.gradients(last);
  for (int k = 2; k <= rounds; ++k) {
    const Matrix next = (I + p.W) * x - W_tilde * last - alpha(k) * p.gradients(x) +
                        alpha(k - 1) * p.gradients(last);
    last = x;
    x = next;
  }
  return x;
}

// A model keeps the mini-batch that was drawn for it: g is evaluated once per model.
inline Matrix gradient_tracking(const Problem& p, const Step& eta, int rounds,
                                std::size_t batch = 0) {
  Matrix x = p.X0, g = batch_gradients(p, x, 1, 0, batch), y = g;
  for (int k = 1; k <= rounds; ++k) {
    const Matrix next = p.W * x - eta(k) * y;
    const Matrix g_next = batch_gradients(p, next, 1, k, batch);
    y = (p.W * y + g_next - g).eval();
    g = g_next;
    x = next;
  }
  return x;
}

inline Matrix gradient_tracking_atc(const Problem& p, const Step& eta, int rounds,
                                    std::size_t batch = 0) {
  Matrix x = p.X0, g = batch_gradients(p, x, 1, 0, batch), y = g;
  for (int k = 1; k <= rounds; ++k) {
    const Matrix next = p.W * (x - eta(k) * y);
    const Matrix g_next = batch_gradients(p, next, 1, k, batch);
    y = (p.W * (y + g_next - g)).eval();
    g = g_next;
    x = next;
  }
  return x;
}

inline Matrix primal_dual(const Problem& p, const Step& eta, const Step& alpha, const Step& beta,
                          int rounds) {
  Matrix x = p.X0, v = p.zero();
  for (int k = 1; k <= rounds; ++k) {
    const Matrix Lx = p.L * x;
    x = (x - eta(k) * (alpha(k) * Lx + beta(k) * v + p.gradients(x))).eval();
    v += eta(k) * beta(k) * Lx;
  }
  return x;
}

// One row per edge: +1 at one end, -1 at the other.
inline Matrix incidence(const Problem& p) {
  const auto n = p.Adj.rows();
  Matrix A = Matrix::Zero(static_cast<Eigen::Index>(p.Adj.sum() / 2 + 0.5), n);
  Eigen::Index edge = 0;
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = i + 1; j < n; ++j)
      if (p.Adj(i, j) != 0) {
        A(edge, i) = 1;
        A(edge, j) = -1;
        ++edge;
      }
  return A;
}

// x+ = argmin <g, z - x> + <mu, A z> + beta/2 |A z|^2 + beta/2 |z - x|^2_{B'B}, with B = |A|.
inline Matrix prox_gpda(const Problem& p, const Step& beta, int rounds) {
  const Matrix A = incidence(p), B = A.cwiseAbs();
  const Matrix AA = A.transpose() * A, BB = B.transpose() * B;
  const auto solver = Matrix(AA + BB).ldlt();
  Matrix x = p.X0, mu = Matrix::Zero(A.rows(), x.cols());
  for (int r = 1; r <= rounds; ++r) {
    x = solver.solve(BB * x - (p.gradients(x) + A.transpose() * mu) / beta(r)).eval();
    mu += beta(r) * (A * x);
  }
  return x;
}

// x+ = argmin <g + (1 - rho gamma) A'mu + rho A'A x, z> + rho ell / 2 |z - x|^2.
inline Matrix prox_pda_perturbed(const Problem& p, const Step& rho, const Step& gamma, int rounds) {
  const Matrix A = incidence(p);
  const Matrix AA = A.transpose() * A;
  const double ell = Eigen::SelfAdjointEigenSolver<Matrix>(AA).eigenvalues().maxCoeff();
  Matrix x = p.X0, mu = Matrix::Zero(A.rows(), x.cols());
  for (int r = 1; r <= rounds; ++r) {
    const double kept = 1 - rho(r) * gamma(r);
    const Matrix slope = p.gradients(x) + kept * (A.transpose() * mu) + rho(r) * (AA * x);
    x -= slope / (rho(r) * ell);
    mu = (kept * mu + rho(r) * (A * x)).eval();
  }
  return x;
}

inline Matrix nids(const Problem& p, const Step& alpha, int rounds) {
  const Matrix W_tilde = (Matrix::Identity(p.W.rows(), p.W.cols()) + p.W) / 2;
  Matrix last = p.X0;
  Matrix x = last - alpha(1) * p.gradients(last);
  for (int k = 2; k <= rounds; ++k) {
    const Matrix next =
        W_tilde * (2 * x - last - alpha(k) * p.gradients(x) + alpha(k - 1) * p.gradients(last));
    last = x;
    x = next;
  }
  return x;
}

// Starts from any rows with psi^0 = x^0, then repeats adapt, correct, combine.
inline Matrix exact_diffusion(const Problem& p, const Matrix& start, double mu, int rounds) {
  const Matrix A_bar = (Matrix::Identity(p.W.rows(), p.W.cols()) + p.W) / 2;
  Matrix x = start, psi = start;
  for (int i = 1; i <= rounds; ++i) {
    const Matrix adapted = x - mu * p.gradients(x);
    const Matrix corrected = adapted + x - psi;
    psi = adapted;
    x = A_bar * corrected;
  }
  return x;
}

struct LeadSteps {
  Step eta, alpha, gamma;
  bool warm_start = false;
};

// LEAD with the paper's own state: the mixed memory h_w = W h.
inline Matrix lead(const Problem& p, const Compress& Q, const LeadSteps& step, int rounds) {
  Matrix h = step.warm_start ? p.X0 : p.zero();
  Matrix h_w = p.W * h, d = p.zero();
  Matrix x = p.X0 - step.eta(1) * p.gradients(p.X0);
  for (int k = 2; k <= rounds; ++k) {
    const double eta = step.eta(k), alpha = step.alpha(k);
    const Matrix g = p.gradients(x);
    const Matrix q = Q(x - eta * g - eta * d - h);
    const Matrix y_hat = h + q, y_hat_w = h_w + p.W * q;
    h = (1 - alpha) * h + alpha * y_hat;
    h_w = (1 - alpha) * h_w + alpha * y_hat_w;
    d += step.gamma(k) / (2 * eta) * (y_hat - y_hat_w);
    x -= eta * g + eta * d;
  }
  return x;
}

}  // namespace ticopd::dense
