// F_t of Theorem 1, compared with its formula in dense matrices, and the descent that the theorem
// guarantees, on a small non-convex problem.
#include <gtest/gtest.h>

#include "dense/matrices.hpp"
#include "theory/nonconvex.hpp"
#include "ticopd/algorithms/run_factory.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/theory/contraction.hpp"
#include "ticopd/theory/lyapunov.hpp"

namespace ticopd::dense {
namespace {

constexpr int n = 4, d = 6, m = 20;

// Keeps the k largest entries; k = 0 keeps a random half, k = d keeps all.
CodecOptions keep(std::size_t k) {
  CodecOptions o;
  o.kind = k == d ? "identity" : k == 0 ? "rand_k" : "top_k";
  o.k = k == 0 ? d / 2 : k;
  return o;
}

// A run of TiCoPD whose state can be read and set between rounds.
class Walk {
 public:
  // theta is `share` times the theorem's bound, and alpha `times` times its bound for that theta.
  Walk(std::size_t kept, double eta, double times, double gamma = 1, double share = 1)
      : kept_(static_cast<int>(kept)),
        gamma_(gamma),
        codec_(make_codec<double>(keep(kept))),
        spectrum_(spectrum(graph_, {})),
        theorem_({n, spectrum_.laplacian_max, spectrum_.laplacian_min,
                  contraction_of(codec_->error_bound(d), gamma).value(), problem_.smoothness(), eta,
                  1}),
        theta_(share * theorem_.theta_lb()),
        alpha_(times * theorem_.alpha_ub(theta_)),
        F_(graph_, theorem_, alpha_, theta_),
        net_({.graph = graph_,
              .objective = *objective_,
              .codec = *codec_,
              .transport = alone_,
              .pool = pool_}) {
    TiCoPD params{.alpha = alpha_, .theta = theta_, .eta = eta, .gamma = gamma};
    Warnings none;
    params.resolve(spectrum_, none);
    run_ = run_factory<double>(params)(net_);
    struct Find final : StateVisitor<double> {
      void field(std::string_view, Field<double>&) override {}
      void dual(std::string_view, Field<double>& rows) override { lambda = &rows; }
      void mirror(std::string_view, AnyMirror<double>& mirror) override { h = &mirror.rows(); }
      Field<double>*lambda = nullptr, *h = nullptr;
    } find;
    run_->visit(find);
    lambda_ = find.lambda;
    h_ = find.h;
  }

  double F() { return F_.of(net_, *run_, gamma_); }

  void step() {
    net_.begin_round(net_.round() + 1);
    run_->step();
  }

  // Draws any x, surrogates near it, and duals whose sum is zero as in a run.
  void draw_state(std::uint32_t number) {
    Generator draw(Noise{17, 0, number, stream_synthetic});
    const double apart = std::pow(10, draw.normal()), off = 0.3 * std::pow(10, draw.normal());
    Vector sum = Vector::Zero(d);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < d; ++k) {
        run_->x().row(i)[k] = apart * draw.normal();
        h_->row(i)[k] = run_->x().row(i)[k] + off * draw.normal();
        double& lambda = lambda_->row(i)[k];
        lambda = i + 1 < n ? draw.normal() : -sum(static_cast<Eigen::Index>(k));
        sum(static_cast<Eigen::Index>(k)) += lambda;
      }
  }

  Matrix rows(const Field<double>& field) const {
    Matrix all(n, d);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < d; ++k)
        all(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = field.row(i)[k];
    return all;
  }
  Vector mean() const { return rows(run_->x()).colwise().mean(); }

  double grad_norm2() const {
    Vector g = Vector::Zero(d);
    for (int i = 0; i < n; ++i) g += problem_.gradient(i, mean()) / n;
    return g.squaredNorm();
  }
  double consensus() const {
    return (rows(run_->x()).rowwise() - mean().transpose()).squaredNorm();
  }

  // F_t of the current state as the paper prints it, with Kronecker products.
  double transcript() const {
    const Matrix X = rows(run_->x()), H = rows(*h_);
    return transcript(X, rows(*lambda_), H + gamma_ * top_k(kept_)(X - H));
  }
  double transcript(const Matrix& X, const Matrix& lambda, const Matrix& Xhat) const {
    const Vector xbar = X.colwise().mean();
    const Matrix I = Matrix::Identity(d, d);
    const Matrix centre = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / n);
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(dense::laplacian(graph_));
    Matrix pinv = Matrix::Zero(n, n);
    for (int k = 0; k < n; ++k)
      if (eigen.eigenvalues()(k) > 1e-9)
        pinv += eigen.eigenvectors().col(k) * eigen.eigenvectors().col(k).transpose() /
                eigen.eigenvalues()(k);
    const Matrix K = kronecker(centre, I), Q = kronecker(pinv, I);
    const Vector x = stacked(X), xhat = stacked(Xhat);
    Matrix G(n, d);
    double f = 0;
    for (int i = 0; i < n; ++i) {
      G.row(i) = problem_.gradient(i, xbar).transpose();
      f += problem_.value(i, xbar) / n;
    }
    const Vector v = alpha_ * stacked(lambda + G);
    const double a = theorem_.input().a, eta = theorem_.input().eta, d1 = theorem_.delta_1(),
                 d2 = theorem_.delta_2();
    const Matrix weight = Q + alpha_ * ((d1 / 2 * (theta_ + eta) - theta_) - d2 * theta_) * K;
    return f + a / (eta * alpha_) * v.dot(weight * v) + a * x.dot(K * x) + d1 * a * x.dot(K * v) +
           d2 * a * (xhat - x).squaredNorm();
  }

  double descent() const {
    return Theorem::gradient_share(alpha_) * grad_norm2() +
           theorem_.consensus_share(alpha_, theta_) * consensus();
  }

  Matrix x() const { return rows(run_->x()); }
  Matrix lambda() const { return rows(*lambda_); }
  Matrix surrogates() const { return rows(*h_); }

  const Theorem& theorem() const { return theorem_; }
  double alpha() const { return alpha_; }
  double theta() const { return theta_; }

 private:
  static Matrix kronecker(const Matrix& A, const Matrix& B) {
    Matrix all(A.rows() * B.rows(), A.cols() * B.cols());
    for (Eigen::Index i = 0; i < A.rows(); ++i)
      for (Eigen::Index j = 0; j < A.cols(); ++j)
        all.block(i * B.rows(), j * B.cols(), B.rows(), B.cols()) = A(i, j) * B;
    return all;
  }
  static Vector stacked(const Matrix& rows) {
    const Matrix columns = rows.transpose();
    return Eigen::Map<const Vector>(columns.data(), columns.size());
  }

  Nonconvex problem_{n, d, m};
  std::shared_ptr<const Objective<double>> objective_ = problem_.objective();
  Graph graph_ = ring(n);
  int kept_;
  double gamma_;
  std::unique_ptr<Codec<double>> codec_;
  Spectrum spectrum_;
  Theorem theorem_;
  double theta_, alpha_;
  Lyapunov F_;
  Alone alone_;
  Pool pool_{1};
  CpuNetwork<double> net_;
  std::unique_ptr<AnyRun<double>> run_;
  Field<double>*lambda_ = nullptr, *h_ = nullptr;
};

struct Case {
  std::size_t kept;
  double eta;
};
constexpr Case cases[] = {{d, 0.2}, {5, 0.2}, {4, 0.1}};

TEST(Lyapunov, TestProblemIsNotConvex) {
  const Nonconvex problem(n, d, m);
  const Vector far = Vector::Constant(d, 1.5);
  EXPECT_LT(Eigen::SelfAdjointEigenSolver<Matrix>(problem.hessian(0, far)).eigenvalues()(0), -0.01);
}

TEST(Lyapunov, EqualsThePapersFormulaInDenseMatrices) {
  for (const auto& [kept, eta] : cases)
    for (const double times : {1.0, 1e4})
      for (const double gamma : {1.0, 0.7}) {
        Walk walk(kept, eta, times, gamma);
        for (std::uint32_t state = 0; state < 20; ++state) {
          const double expected = walk.transcript();
          EXPECT_NEAR(walk.F(), expected, 1e-11 * std::abs(expected)) << kept << " " << state;
          walk.step();
          const double after = walk.transcript();
          EXPECT_NEAR(walk.F(), after, 1e-11 * std::abs(after)) << kept << " " << state;
          walk.draw_state(state);
        }
      }
}

TEST(Lyapunov, UsesTheSurrogatesThatTheNextRoundDraws) {
  Walk walk(0, 0.2, 1e4);
  for (std::uint32_t state = 0; state < 20; ++state) {
    walk.draw_state(state);
    const double F = walk.F();
    const Matrix x = walk.x(), lambda = walk.lambda();
    walk.step();
    const double expected = walk.transcript(x, lambda, walk.surrogates());
    EXPECT_NEAR(F, expected, 1e-11 * std::abs(expected)) << state;
  }
}

// Starts from random states, where every term of F_t matters.
TEST(Lyapunov, IsNotNegativeAndDescendsByTheTheoremsBound) {
  for (const auto& [kept, eta] : cases)
    for (const double times : {1.0, 1e2, 1e4}) {
      Walk walk(kept, eta, times);
      for (std::uint32_t state = 0; state < 300; ++state) {
        walk.draw_state(state);
        const double before = walk.F(), descent = walk.descent();
        walk.step();
        const double after = walk.F();
        ASSERT_GE(after, 0) << kept << " kept, " << times << " times alpha_ub, state " << state;
        ASSERT_LE(after, before - descent)
            << kept << " kept, " << times << " times alpha_ub, state " << state;
        ASSERT_GT(descent, 10 * 2.3e-16 * before) << "below rounding there is nothing to see";
      }
    }
}

TEST(Lyapunov, DescendsAlongARunFromTheCommonStart) {
  for (const auto& [kept, eta] : cases)
    for (const double times : {1.0, 1e2, 1e4}) {
      Walk walk(kept, eta, times);
      double before = walk.F();
      for (int t = 0; t < 300; ++t) {
        const double descent = walk.descent();
        ASSERT_GT(descent, 1e-14);
        walk.step();
        const double after = walk.F();
        ASSERT_GE(after, 0);
        // f is a mean over samples, accurate to a few units in the last place.
        ASSERT_LE(after, before - descent + 1e-15) << kept << " " << times << " round " << t;
        before = after;
      }
    }
}

// The theorem itself: both averages over T rounds.
TEST(Lyapunov, BoundsTheAveragesOverARun) {
  for (const auto& [kept, eta] : cases)
    for (const double times : {1.0, 1e4}) {
      Walk walk(kept, eta, times);
      const double F_0 = walk.F();
      double gradients = 0, disagreement = 0;
      const int T = 3000;
      for (int t = 0; t < T; ++t) {
        gradients += walk.grad_norm2() / T;
        disagreement += walk.consensus() / T;
        walk.step();
      }
      const double fallen = F_0 - walk.F();
      EXPECT_GT(fallen, 0);
      EXPECT_LE(gradients, fallen / (walk.alpha() * T / 16));
      EXPECT_LE(disagreement,
                fallen / (walk.alpha() * walk.theta() * walk.theorem().input().rho_2 * T / 4));
      EXPECT_GT(disagreement, 0);
    }
}

// With a small penalty and a large step F_t does not descend, which shows that the tests above can
// fail.
TEST(Lyapunov, DoesNotDescendForTooLargeSteps) {
  int broken = 0;
  Walk walk(5, 0.2, 100, 1, 1e-3);
  for (std::uint32_t state = 0; state < 300; ++state) {
    walk.draw_state(state);
    const double before = walk.F(), descent = walk.descent();
    walk.step();
    broken += walk.F() > before - descent;
  }
  EXPECT_GT(broken, 0);
}

TEST(Lyapunov, RejectsMoreAgentsThanItsLimit) {
  const Graph graph = ring(Lyapunov::most_agents + 1);
  const Theorem theorem({graph.agents(), 4, 0.1, 1, 1, 1, 1});
  EXPECT_THROW(Lyapunov(graph, theorem, 1e-9, 1), std::invalid_argument);
}

}  // namespace
}  // namespace ticopd::dense
