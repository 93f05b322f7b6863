#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "dense/batches.hpp"

namespace ticopd::dense {

// Every algorithm written again as in its paper, over whole n x d matrices. Row i is agent i.
// The transcripts share no code with the library: if the two agree, both are the paper's algorithm.

// A step size as a function of the round t = 1, 2, ...; a number converts to a constant step.
class Step {
 public:
  Step(double c) : at_([c](int) { return c; }) {}
  template <std::invocable<int> At>
  Step(At at) : at_(std::move(at)) {}
  double operator()(int t) const { return at_(t); }

 private:
  std::function<double(int)> at_;
};
inline Step always(double c) {
  return c;
}

struct TiCoPDSteps {
  Step alpha, theta, eta, beta, gamma = always(1);
  bool warm_start = false;
};

// Algorithm 1 with its own state: the running sum s_i of the neighbours' surrogates.
inline Matrix ticopd(const Problem& p, const Compress& Q, const TiCoPDSteps& step, int rounds) {
  Matrix x = p.X0, xhat = p.zero(), lambda = p.zero();
  if (step.warm_start) xhat = x;
  Matrix s = p.Adj * xhat;
  const Vector degree = p.Adj.rowwise().sum();
  for (int t = 1; t <= rounds; ++t) {
    const double alpha = step.alpha(t), beta = step.beta(t);
    const Matrix m = Q(x - xhat);
    xhat += step.gamma(t) * m;
    s += step.gamma(t) * (p.Adj * m);
    const Matrix pi = degree.asDiagonal() * xhat - s;
    const Matrix next =
        beta * x + (1 - beta) * xhat - alpha * (p.gradients(x) + lambda + step.theta(t) * pi);
    lambda += step.eta(t) * pi;
    x = next;
  }
  return x;
}

inline Matrix choco_sgd(const Problem& p, const Compress& Q, const Step& eta, const Step& gamma,
                        bool warm_start, int rounds) {
  Matrix x = p.X0, xhat = warm_start ? p.X0 : p.zero();
  for (int t = 1; t <= rounds; ++t) {
    const Matrix half = x - eta(t) * p.gradients(x);
    xhat += Q(half - xhat);
    x = half + gamma(t) * (p.W * xhat - xhat);
  }
  return x;
}

struct CpSGDSteps {
  Step eta, gamma, omega, alpha_x;
  bool warm_start = false;
};

inline Matrix cp_sgd(const Problem& p, const Compress& C, const CpSGDSteps& step, int rounds) {
  Matrix x = p.X0, xc = step.warm_start ? p.X0 : p.zero(), v = p.zero();
  for (int t = 1; t <= rounds; ++t) {
    const double eta = step.eta(t), omega = step.omega(t);
    const Matrix q = C(x - xc);
    const Matrix pi = p.L * (xc + q);
    const Matrix next = x - eta * (step.gamma(t) * pi + omega * v + p.gradients(x));
    v += eta * omega * pi;
    xc += step.alpha_x(t) * q;
    x = next;
  }
  return x;
}

inline Matrix def_atc(const Problem& p, const Compress& C, const Step& mu, const Step& zeta,
                      const Step& gamma, int rounds) {
  Matrix w = p.X0, phi = p.zero(), z = p.zero();
  for (int k = 1; k <= rounds; ++k) {
    const Matrix psi = w - mu(k) / zeta(k) * p.gradients(w);
    const Matrix c = psi - phi + z;
    const Matrix delta = C(c);
    z = c - delta;
    phi += zeta(k) * delta;
    w = (1 - gamma(k)) * phi + gamma(k) * (p.W * phi);
  }
  return w;
}

// The old model keeps the mini-batch gradient that was drawn for it. So the mean of v stays the
// mean of the gradients drawn last.
inline Matrix beer(const Problem& p, const Compress& C, const Step& eta, const Step& gamma,
                   bool warm_start, int rounds, std::size_t batch = 0) {
  Matrix x = p.X0, h = p.zero(), u = p.zero();
  Matrix g = batch_gradients(p, x, 1, 0, batch), v = g;
  if (warm_start) h = x, u = v;
  for (int t = 1; t <= rounds; ++t) {
    x += gamma(t) * (p.W * h - h) - eta(t) * v;
    h += C(x - h);
    const Matrix next = batch_gradients(p, x, 1, t, batch);
    v += gamma(t) * (p.W * u - u) + next - g;
    u += C(v - u);
    g = next;
  }
  return x;
}

inline Matrix dgd(const Problem& p, const Step& eta, int rounds) {
  Matrix x = p.X0;
  for (int t = 1; t <= rounds; ++t) x = (p.W * x - eta(t) * p.gradients(x)).eval();
  return x;
}

inline Matrix dgd_quantized(const Problem& p, const Compress& Q, double eta, bool quantize_self,
                            int rounds) {
  Matrix x = p.X0;
  const Matrix self = p.W.diagonal().asDiagonal();
  const Matrix others = p.W - self;
  for (int t = 1; t <= rounds; ++t) {
    const Matrix q = Q(x);
    // x_i + sum_{j in N_i} w_ij (Q(x_j) - x_i): the weights of a row sum to one
    const Matrix mixed = quantize_self ? Matrix(p.W * q) : Matrix(self * x + others * q);
    x = mixed - eta * p.gradients(x);
  }
  return x;
}

// The uncompressed methods that other methods equal at the ends of their parameter ranges.

inline Matrix yi_primal_dual(const Problem& p, double eta, double alpha, double beta, int rounds) {
  Matrix x = p.X0, v = p.zero();
  for (int k = 1; k <= rounds; ++k) {
    const Matrix Lx = p.L * x;
    x = (x - eta * (alpha * Lx + beta * v + p.gradients(x))).eval();
    v += eta * beta * Lx;
  }
  return x;
}

inline Matrix extra(const Problem& p, const Matrix& W, double alpha, int rounds) {
  const Matrix I = Matrix::Identity(W.rows(), W.cols());
  const Matrix W_tilde = (I + W) / 2;
  Matrix last = p.X0;
  Matrix x = W * last - alpha * p.gradients(last);
  for (int k = 2; k <= rounds; ++k) {
    const Matrix next = (I + W) * x - W_tilde * last - alpha * (p.gradients(x) - p.gradients(last));
    last = x;
    x = next;
  }
  return x;
}

inline Matrix adapt_then_combine(const Problem& p, double eta, int rounds) {
  Matrix x = p.X0;
  for (int t = 1; t <= rounds; ++t) x = (p.W * (x - eta * p.gradients(x))).eval();
  return x;
}

inline Matrix diging(const Problem& p, double alpha, int rounds) {
  Matrix x = p.X0;
  Matrix g = p.gradients(x), y = g;
  for (int k = 1; k <= rounds; ++k) {
    x = (p.W * x - alpha * y).eval();
    const Matrix next = p.gradients(x);
    y = (p.W * y + next - g).eval();
    g = next;
  }
  return x;
}

}  // namespace ticopd::dense
