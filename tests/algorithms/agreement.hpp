#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "dense/matrices.hpp"
#include "ticopd/run/solve.hpp"

namespace ticopd::dense {

// How long the library and a transcript run side by side, and how far they may part.
inline constexpr int rounds = 200;
inline constexpr double tolerance = 1e-12;

inline Matrix to_matrix(const Field<double>& x) {
  Matrix all(x.rows(), x.cols());
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t k = 0; k < x.cols(); ++k)
      all(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = x.row(i)[k];
  return all;
}

// max |x - y| / max |y|; NaN if either matrix holds a NaN or an infinity.
inline double difference(const Matrix& x, const Matrix& y) {
  if (!x.allFinite() || !y.allFinite()) return std::nan("");
  return (x - y).cwiseAbs().maxCoeff() / y.cwiseAbs().maxCoeff();
}

inline CodecOptions codec(std::string kind) {
  CodecOptions o;
  o.kind = std::move(kind);
  return o;
}
inline CodecOptions qsgd(int bits, bool scaled = true) {
  CodecOptions o = codec("qsgd");
  o.bits = bits;
  o.scaled = scaled;
  return o;
}
inline CodecOptions keep(std::string kind, std::size_t k) {
  CodecOptions o = codec(std::move(kind));
  o.k = k;
  return o;
}

// One heterogeneous problem in two forms: as an objective for the library and as dense matrices
// for the transcripts.
class Twice : public ::testing::Test {
 protected:
  static constexpr int n = 9, k = 3;
  static constexpr std::size_t d = 17;

  Graph graph = erdos_renyi(n, 0.4, 3);
  std::shared_ptr<const LeastSquares<double>> f =
      std::make_shared<LeastSquares<double>>(ProblemSize{n, d, 25});
  Problem problem{*f, graph, 1};

  ticopd::Setup<double> setup(const CodecOptions& options, std::uint32_t rounds = 200) const {
    return {.graph = graph,
            .objective = f,
            .codec = make_codec<double>(options),
            .iterations = rounds,
            .watch = {.rounds = {.every = 1000}}};
  }
  template <class Algorithm>
  Matrix library(const Algorithm& algorithm, const CodecOptions& options,
                 std::uint32_t rounds = 200) const {
    return to_matrix(solve(algorithm, setup(options, rounds)).x);
  }
};

}  // namespace ticopd::dense
