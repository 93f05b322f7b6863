#include "ticopd/theory/lyapunov.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

#include "ticopd/graph/mixing.hpp"
#include "ticopd/numeric/sum.hpp"

namespace ticopd {
namespace {

// L^+ = (L + 11'/n)^-1 - 11'/n, since the kernel of L is spanned by 1 on a connected graph.
std::vector<double> pseudo_inverse_of_laplacian(const Graph& graph) {
  const Eigen::Index n = graph.agents();
  const double share = 1.0 / static_cast<double>(n);
  Eigen::MatrixXd L = Eigen::MatrixXd::Constant(n, n, share);
  const Mixing rows = laplacian(graph);
  for (Eigen::Index i = 0; i < n; ++i)
    for (const auto& [agent, weight] : rows.rows[static_cast<std::size_t>(i)])
      L(i, agent) += weight;
  const Eigen::MatrixXd inverse = L.llt().solve(Eigen::MatrixXd::Identity(n, n));
  std::vector<double> all(static_cast<std::size_t>(n * n));
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      all[static_cast<std::size_t>(i * n + j)] = (inverse(i, j) + inverse(j, i)) / 2 - share;
  return all;
}

std::vector<double> mean_of_rows(const Field<double>& rows) {
  std::vector<double> mean(rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += rows.row(i)[k];
  for (double& v : mean) v /= static_cast<double>(rows.rows());
  return mean;
}

Field<double> without_mean(Field<double> rows) {
  const std::vector<double> mean = mean_of_rows(rows);
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (std::size_t k = 0; k < mean.size(); ++k) rows.row(i)[k] -= mean[k];
  return rows;
}

double inner(std::span<const double> v, std::span<const double> w) {
  return tree_sum(v.size(), [v, w](std::size_t k) { return v[k] * w[k]; });
}

double inner_of_rows(const Field<double>& v, const Field<double>& w) {
  double sum = 0;
  for (std::size_t i = 0; i < v.rows(); ++i) sum += inner(v.row(i), w.row(i));
  return sum;
}

template <class T>
Field<double> in_double(const Field<T>& rows, std::size_t count) {
  Field<double> all(count, rows.cols());
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < rows.cols(); ++k)
      all.row(i)[k] = static_cast<double>(rows.row(i)[k]);
  return all;
}

template <class T>
struct State final : StateVisitor<T> {
  void field(std::string_view, Field<T>&) override {}
  void dual(std::string_view, Field<T>& rows) override { lambda = &rows; }
  void mirror(std::string_view, AnyMirror<T>& m) override { xhat = &m; }
  const Field<T>* lambda = nullptr;
  const AnyMirror<T>* xhat = nullptr;
};

// xhat + gamma Q(x - xhat), with the noise of the next round.
template <class T>
Field<double> next_surrogates(AnyNetwork<T>& net, const Field<T>& x, const Field<T>& h,
                              double gamma) {
  const auto& s = net.surroundings();
  Field<double> next = in_double(h, x.rows());
  s.pool.run(x.rows(), [&](std::size_t i) {
    const MessageId message{s.seed, net.round() + 1, static_cast<std::uint32_t>(i), 0};
    std::vector<T> v(x.cols()), q(x.cols());
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = x.row(i)[k] - h.row(i)[k];
    Bytes payload;
    const bool fits = s.codec.encode(v, message, payload) && s.codec.decode(payload, message, q);
    for (std::size_t k = 0; k < v.size(); ++k)
      next.row(i)[k] += fits ? gamma * static_cast<double>(q[k]) : NAN;
  });
  return next;
}

}  // namespace

Lyapunov::Lyapunov(const Graph& graph, const Theorem& theorem, double alpha, double theta,
                   double f_star)
    : n_(static_cast<std::size_t>(graph.agents())),
      alpha_(alpha),
      theta_(theta),
      eta_(theorem.input().eta),
      a_(theorem.input().a),
      delta_1_(theorem.delta_1()),
      delta_2_(theorem.delta_2()),
      f_star_(f_star) {
  if (graph.agents() > most_agents || graph.agents() != theorem.input().agents)
    throw std::invalid_argument("the Lyapunov function of so many agents");
  pseudo_inverse_ = pseudo_inverse_of_laplacian(graph);
}

double Lyapunov::operator()(double f, const Field<double>& x, const Field<double>& lambda,
                            const Field<double>& xhat, const Field<double>& gradients) const {
  Field<double> u = lambda;  // v / alpha, which for tiny alpha keeps its digits
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t k = 0; k < u.cols(); ++k) u.row(i)[k] += gradients.row(i)[k];
  // K and Q remove the mean; its rounding error would be multiplied by large numbers.
  u = without_mean(std::move(u));
  const Field<double> Kx = without_mean(x);
  double u_Q = 0;
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      u_Q += (i == j ? 1 : 2) * pseudo_inverse_[i * n_ + j] * inner(u.row(i), u.row(j));
  double surrogate_error = 0;
  for (std::size_t i = 0; i < n_; ++i)
    surrogate_error += sum_of_squared_differences<double>(xhat.row(i), x.row(i));
  const double bracket = delta_1_ * (theta_ + eta_) / 2 - (1 + delta_2_) * theta_;
  return f - f_star_ + a_ * alpha_ / eta_ * (u_Q + alpha_ * bracket * inner_of_rows(u, u)) +
         a_ * inner_of_rows(Kx, Kx) + delta_1_ * a_ * alpha_ * inner_of_rows(Kx, u) +
         delta_2_ * a_ * surrogate_error;
}

template <class T>
double Lyapunov::of(AnyNetwork<T>& net, AnyRun<T>& run, double gamma) const {
  run.complete();
  State<T> state;
  run.visit(state);
  if (state.lambda == nullptr || state.xhat == nullptr || net.placement().rows() != n_)
    throw std::logic_error("F_t is of a run of TiCoPD in one process");
  const Field<double> x = in_double(run.x(), n_);
  std::vector<T> mean;
  for (const double v : mean_of_rows(x)) mean.push_back(static_cast<T>(v));
  std::vector<double> values(n_);
  Field<T> gradients(n_, x.cols());
  net.evaluate_at(mean, values, gradients);
  double f = 0;
  for (const double value : values) f += value / static_cast<double>(n_);
  return (*this)(f, x, in_double(*state.lambda, n_),
                 next_surrogates(net, run.x(), state.xhat->own(), gamma), in_double(gradients, n_));
}

template double Lyapunov::of<float>(AnyNetwork<float>&, AnyRun<float>&, double) const;
template double Lyapunov::of<double>(AnyNetwork<double>&, AnyRun<double>&, double) const;

}  // namespace ticopd
