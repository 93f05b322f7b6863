#pragma once

#include <map>

#include "dense/transcripts.hpp"

namespace ticopd::dense {

// The compressed, local and server methods written again as in their papers, over whole matrices
// (see transcripts.hpp).

struct DoCoMSteps {
  Step eta, gamma, beta;
  std::size_t batch = 0;
  bool warm_start = false;
};

inline Matrix docom(const Problem& p, const Compress& Q, const DoCoMSteps& step, int rounds) {
  Matrix x = p.X0, xhat = p.zero(), yhat = p.zero();
  Matrix v = p.gradients(x), y = v;
  if (step.warm_start) xhat = x, yhat = y;
  for (int t = 1; t <= rounds; ++t) {
    const double gamma = step.gamma(t);
    const auto g = [&](const Matrix& at) { return batch_gradients(p, at, 1, t, step.batch); };
    const Matrix half = x - step.eta(t) * y;
    xhat += Q(half - xhat);
    const Matrix next = half + gamma * (p.W * xhat - xhat);
    const Matrix v_next = g(next) + (1 - step.beta(t)) * (v - g(x));
    const Matrix y_half = y + v_next - v;
    yhat += Q(y_half - yhat);
    y = y_half + gamma * (p.W * yhat - yhat);
    v = v_next;
    x = next;
  }
  return x;
}

inline Matrix qdgd(const Problem& p, const Compress& Q, double alpha, double epsilon, int rounds) {
  Matrix x = p.X0;
  const Matrix self = p.W.diagonal().asDiagonal();
  const Matrix I = Matrix::Identity(p.W.rows(), p.W.cols());
  for (int t = 1; t <= rounds; ++t)
    x = (((1 - epsilon) * I + epsilon * self) * x + epsilon * (p.W - self) * Q(x) -
         alpha * epsilon * p.gradients(x))
            .eval();
  return x;
}

// `told` counts the messages that agents sent.
inline Matrix sparq_sgd(const Problem& p, const Compress& C, const Step& eta, const Step& gamma,
                        const Step& c, int period, int rounds, int& told) {
  Matrix x = p.X0, xhat = p.zero();
  told = 0;
  for (int t = 1; t <= rounds; ++t) {
    x -= eta(t) * p.gradients(x);
    if (t % period != 0) continue;
    const Matrix q = C(x - xhat);
    for (int i = 0; i < p.agents(); ++i)
      if ((x.row(i) - xhat.row(i)).squaredNorm() > c(t) * eta(t) * eta(t)) {
        xhat.row(i) += q.row(i);
        ++told;
      }
    x += gamma(t) * (p.W * xhat - xhat);
  }
  return x;
}

inline Matrix local_sgd(const Problem& p, const Matrix& average, const Step& eta, int period,
                        int rounds) {
  Matrix x = p.X0;
  for (int t = 1; t <= rounds; ++t) {
    x -= eta(t) * p.gradients(x);
    if (t % period == 0) x = (average * x).eval();
  }
  return x;
}

inline Matrix qsparse_local_sgd(const Problem& p, const Compress& C, double eta, int period,
                                int rounds) {
  Matrix x = p.X0, m = p.zero();
  Eigen::RowVectorXd theta = p.X0.row(0);
  for (int t = 1; t <= rounds; ++t) {
    x -= eta * p.gradients(x);
    if (t % period != 0) continue;
    const Matrix delta = m + theta.replicate(x.rows(), 1) - x;
    const Matrix c = C(delta);
    m = delta - c;
    theta -= c.colwise().mean();
    x = theta.replicate(x.rows(), 1);
  }
  return x;
}

inline Matrix choco_gossip(const Problem& p, const Compress& Q, double gamma, int rounds) {
  Matrix x = p.X0 - p.gradients(p.X0), xhat = p.zero();
  for (int t = 1; t <= rounds; ++t) {
    xhat += Q(x - xhat);
    x += gamma * (p.W * xhat - xhat);
  }
  return x;
}

inline Matrix deepsqueeze(const Problem& p, const Compress& C, double eta, double gamma,
                          int rounds) {
  Matrix x = p.X0, e = p.zero();
  for (int t = 1; t <= rounds; ++t) {
    const Matrix half = x - eta * p.gradients(x);
    const Matrix v = half + e;
    const Matrix c = C(v);
    e = v - c;
    x = half + gamma * (p.W * c - c);
  }
  return x;
}

// Rounds each number to the middle of its cell; [-r, r] has 2^bits cells.
inline Matrix on_grid(const Matrix& V, double r, int bits) {
  const double cells = std::pow(2.0, bits), width = 2 * r / cells;
  return V.unaryExpr([&](double v) {
    return -r + (std::clamp(std::floor((v + r) / width), 0.0, cells - 1) + 0.5) * width;
  });
}

// `outside` counts the coordinates that left their boxes.
inline Matrix magnusson(const Problem& p, double eta, double alpha, double beta, double r0,
                        double kappa, int bits, int rounds, std::uint64_t& outside) {
  Matrix x = p.X0, q = p.X0, v = p.zero();
  outside = 0;
  for (int t = 1; t <= rounds; ++t) {
    const double r = r0 * std::pow(kappa, t - 1);
    outside += static_cast<std::uint64_t>(((x - q).cwiseAbs().array() > r).count());
    q += on_grid(x - q, r, bits);
    const Matrix Lq = p.L * q;
    x -= eta * (alpha * Lq + beta * v + p.gradients(x));
    v += eta * beta * Lq;
  }
  return x;
}

// TiCoPD over time-varying links: each link has its own surrogate, as in the authors' code, and
// xhat_i is the mean over the links of i. `active(t)` lists the active pairs (i, j), i < j, of
// round t.
inline Matrix ticopd_over_links(
    const Problem& p, const Compress& Q, const TiCoPDSteps& step,
    const std::function<std::vector<std::pair<int, int>>(int t)>& active, int rounds) {
  Matrix x = p.X0, lambda = p.zero();
  std::map<std::pair<int, int>, Eigen::RowVectorXd> h;  // what j knows of i
  for (int i = 0; i < p.agents(); ++i)
    for (int j = 0; j < p.agents(); ++j)
      if (p.Adj(i, j) != 0) h[{i, j}] = Eigen::RowVectorXd::Zero(x.cols());
  for (int t = 1; t <= rounds; ++t) {
    Matrix pi = p.zero();
    for (const auto& [i, j] : active(t)) {
      for (const auto& [from, to] : {std::pair{i, j}, std::pair{j, i}})
        h[{from, to}] += step.gamma(t) * Q(x.row(from) - h[{from, to}]).row(0);
      pi.row(i) += h[{i, j}] - h[{j, i}];
      pi.row(j) += h[{j, i}] - h[{i, j}];
    }
    Matrix xhat = p.zero();
    for (const auto& [link, row] : h) xhat.row(link.first) += row / p.Adj.row(link.first).sum();
    const double beta = step.beta(t);
    const Matrix next = beta * x + (1 - beta) * xhat -
                        step.alpha(t) * (p.gradients(x) + lambda + step.theta(t) * pi);
    lambda += step.eta(t) * pi;
    x = next;
  }
  return x;
}

}  // namespace ticopd::dense
