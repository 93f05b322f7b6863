#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <vector>

#include "dense/matrices.hpp"
#include "ticopd/numeric/noise.hpp"
#include "ticopd/objectives/registry.hpp"

namespace ticopd::dense {

// f_i(x) = mean log(1 + exp(-y a.x)) + l2r sum_k x_k^2 / (1 + x_k^2), both as the library's
// objective and written again from the formula.
class Nonconvex {
 public:
  static constexpr double l2r = 0.1;

  Nonconvex(int agents, int d, int m) : d_(d) {
    for (int i = 0; i < agents; ++i) {
      Generator draw(Noise{11, 0, static_cast<std::uint32_t>(i), stream_synthetic});
      Matrix A(m, d);
      Vector y(m);
      for (int s = 0; s < m; ++s) {
        for (int k = 0; k < d; ++k) A(s, k) = draw.normal();
        y(s) = draw.normal() + A(s, i % d) > 0 ? 1 : -1;  // each agent has its own feature
      }
      A_.push_back(A);
      y_.push_back(y);
    }
  }

  std::shared_ptr<const Objective<double>> objective() const {
    std::vector<Dataset<double>> shards;
    for (std::size_t i = 0; i < A_.size(); ++i) {
      std::vector<double> values, labels;
      for (Eigen::Index s = 0; s < A_[i].rows(); ++s) {
        for (Eigen::Index k = 0; k < d_; ++k) values.push_back(A_[i](s, k));
        labels.push_back(y_[i](s) > 0 ? 1 : 0);
      }
      shards.emplace_back(labels.size(), static_cast<std::size_t>(d_), values, labels);
    }
    ObjectiveOptions options;
    options.objective = "nonconvex_logistic";
    options.l2r = l2r;
    options.init = "torch";
    return make_objective<double>(options, std::move(shards), {}, 2);
  }

  int agents() const { return static_cast<int>(A_.size()); }

  double value(int agent, const Vector& x) const {
    const auto i = static_cast<std::size_t>(agent);
    const Vector t = y_[i].cwiseProduct(A_[i] * x);
    return (1 + (-t.array()).exp()).log().mean() +
           l2r * (x.array().square() / (1 + x.array().square())).sum();
  }

  Vector gradient(int agent, const Vector& x) const {
    const auto i = static_cast<std::size_t>(agent);
    const Vector t = y_[i].cwiseProduct(A_[i] * x);
    const Vector weight = -y_[i].array() / (1 + t.array().exp());
    return A_[i].transpose() * weight / static_cast<double>(weight.size()) +
           Vector(l2r * 2 * x.array() / (1 + x.array().square()).square());
  }

  Matrix hessian(int agent, const Vector& x) const {
    const auto i = static_cast<std::size_t>(agent);
    const Eigen::ArrayXd t = (A_[i] * x).array();
    const Eigen::ArrayXd p = 1 / (1 + (-t).exp());
    Matrix H = A_[i].transpose() * (p * (1 - p)).matrix().asDiagonal() * A_[i] /
               static_cast<double>(t.size());
    const Eigen::ArrayXd q = 1 + x.array().square();
    H.diagonal().array() += l2r * (2 - 6 * x.array().square()) / q.cube();
    return H;
  }

  // A bound on L at every point: p (1 - p) is at most 1/4, the penalty's curvature at most 2 l2r.
  double smoothness() const {
    double most = 0;
    for (const Matrix& A : A_) {
      const Matrix gram = A.transpose() * A / static_cast<double>(A.rows());
      most =
          std::max(most, Eigen::SelfAdjointEigenSolver<Matrix>(gram).eigenvalues().maxCoeff() / 4);
    }
    return most + 2 * l2r;
  }

 private:
  Eigen::Index d_;
  std::vector<Matrix> A_;
  std::vector<Vector> y_;
};

}  // namespace ticopd::dense
