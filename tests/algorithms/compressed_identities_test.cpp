// At the ends of their parameter ranges the compressed and local methods equal simpler methods.
#include "algorithms/agreement.hpp"
#include "dense/compressed_transcripts.hpp"
#include "ticopd/algorithms/choco_gossip.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/deepsqueeze.hpp"
#include "ticopd/algorithms/dgd_quantized.hpp"
#include "ticopd/algorithms/docom.hpp"
#include "ticopd/algorithms/local_sgd.hpp"
#include "ticopd/algorithms/magnusson.hpp"
#include "ticopd/algorithms/qdgd.hpp"
#include "ticopd/algorithms/qsparse_local_sgd.hpp"
#include "ticopd/algorithms/sparq_sgd.hpp"
#include "ticopd/algorithms/ticopd.hpp"

namespace ticopd::dense {
namespace {

class CompressedIdentity : public Twice {
 protected:
  const CodecOptions identical = codec("identity");
};

// y tracks the mean gradient: y+ = y + gamma yhat (W - I) + g(x+) - g(x), both messages compressed.
TEST_F(CompressedIdentity, DoCoMWithBetaOneIsCompressedGradientTracking) {
  const Compress Q = top_k(k);
  Matrix x = problem.X0, xhat = problem.zero(), yhat = problem.zero();
  Matrix g = problem.gradients(x), y = g;
  for (int t = 1; t <= rounds; ++t) {
    x -= 0.01 * y;
    xhat += Q(x - xhat);
    x += 0.2 * (problem.W * xhat - xhat);
    const Matrix next = problem.gradients(x);
    y += next - g;
    yhat += Q(y - yhat);
    y += 0.2 * (problem.W * yhat - yhat);
    g = next;
  }
  EXPECT_LT(difference(library(DoCoM{.eta = 0.01, .gamma = 0.2, .beta = 1}, keep("top_k", k)), x),
            1e-12);
}

TEST_F(CompressedIdentity, DoCoMUncompressedWithBetaOneIsGradientTrackingInItsATCForm) {
  Matrix x = problem.X0, g = problem.gradients(x), y = g;
  for (int t = 1; t <= rounds; ++t) {
    x = (problem.W * (x - 0.05 * y)).eval();
    const Matrix next = problem.gradients(x);
    y = (problem.W * (y + next - g)).eval();
    g = next;
  }
  EXPECT_LT(difference(library(DoCoM{.eta = 0.05, .gamma = 1, .beta = 1}, identical), x), 1e-12);
}

// Full gradients have no variance for beta to remove.
TEST_F(CompressedIdentity, DoCoMOverAllSamplesDoesNotDependOnBeta) {
  const Matrix x = library(DoCoM{.eta = 0.02, .gamma = 0.3, .beta = 1}, keep("top_k", k));
  const Matrix y = library(DoCoM{.eta = 0.02, .gamma = 0.3, .beta = 0.1}, keep("top_k", k));
  EXPECT_LT(difference(x, y), 1e-10);
}

TEST_F(CompressedIdentity, QDGDWithEpsilonOneIsDGDWithQuantisedNeighbours) {
  for (const CodecOptions& options : {identical, keep("top_k", k), qsgd(6, false)})
    EXPECT_LT(difference(library(QDGD{.alpha = 0.05, .epsilon = 1}, options),
                         library(DgdQuantized{.eta = 0.05}, options)),
              1e-12)
        << options.kind;
}

TEST_F(CompressedIdentity, QDGDDerivesItsStepsFromTheNumberOfRounds) {
  for (const std::uint32_t T : {100u, 900u}) {
    const double alpha = 0.3 / std::pow(T, 1.0 / 6), epsilon = std::min(1.0, 15 / std::sqrt(T));
    const ticopd::Setup<double> s = setup(keep("top_k", k), T);
    EXPECT_EQ(solve(QDGD{}, s).digest, solve(QDGD{.alpha = alpha, .epsilon = epsilon}, s).digest);
    EXPECT_NE(solve(QDGD{}, s).digest, solve(QDGD{.alpha = 0.1, .epsilon = epsilon}, s).digest);
  }
}

TEST_F(CompressedIdentity, SparqSGDWithoutThresholdAndWithPeriodOneIsChocoSGD) {
  for (const CodecOptions& options : {keep("top_k", k), qsgd(4), codec("sign")})
    EXPECT_EQ(
        solve(SparqSGD{.eta = 0.03, .gamma = 0.2, .threshold = 0, .period = 1}, setup(options))
            .digest,
        solve(ChocoSGD{.eta = 0.03, .gamma = 0.2}, setup(options)).digest)
        << options.kind;
}

// The mean of all models takes one step with the mean of all gradients.
TEST_F(CompressedIdentity, LocalSGDWithAServerEveryRoundIsParallelSGD) {
  Eigen::RowVectorXd x = problem.X0.row(0);
  for (int t = 1; t <= rounds; ++t)
    x -= 0.05 * problem.gradients(x.replicate(n, 1)).colwise().mean();
  ticopd::Setup<double> s = setup(identical);
  s.graph = star(n);
  const Matrix y = to_matrix(solve(LocalSGD{.eta = 0.05, .period = 1, .average = "star"}, s).x);
  EXPECT_LT(difference(y, x.replicate(n, 1)), 1e-12);
}

TEST_F(CompressedIdentity, LocalSGDWithNeighboursEveryRoundIsAdaptThenCombine) {
  EXPECT_LT(difference(library(LocalSGD{.eta = 0.05, .period = 1}, identical),
                       adapt_then_combine(problem, 0.05, rounds)),
            1e-12);
}

TEST_F(CompressedIdentity, QsparseLocalSGDUncompressedIsLocalSGDWithAServer) {
  ticopd::Setup<double> s = setup(identical);
  s.graph = star(n);
  const Matrix x = to_matrix(solve(QsparseLocalSGD{.eta = 0.05, .period = 3}, s).x);
  const Matrix y = to_matrix(solve(LocalSGD{.eta = 0.05, .period = 3, .average = "star"}, s).x);
  EXPECT_LT(difference(x, y), 1e-12);
}

TEST_F(CompressedIdentity, DeepSqueezeUncompressedIsAdaptThenCombine) {
  EXPECT_LT(difference(library(DeepSqueeze{.eta = 0.05, .gamma = 1}, identical),
                       adapt_then_combine(problem, 0.05, rounds)),
            1e-12);
}

TEST_F(CompressedIdentity, ChocoGossipConvergesToTheMeanOfItsStart) {
  const Matrix begin = problem.X0 - problem.gradients(problem.X0);
  const Matrix mean = begin.colwise().mean().replicate(n, 1);
  const Matrix x = library(ChocoGossip{.gamma = 0.3}, keep("top_k", k), 3000);
  EXPECT_LT(difference(x, mean), 1e-10);
  EXPECT_GT(difference(begin, mean), 0.1);
}

TEST_F(CompressedIdentity, TiCoPDOverLinksThatAreAllActiveIsTiCoPDWithBroadcasts) {
  ticopd::Setup<double> s = setup(keep("top_k", k));
  const TiCoPD method{.alpha = 0.05, .theta = 1, .eta = 0.1, .beta = 0.7, .gamma = 0.6};
  const Matrix x = to_matrix(solve(method, s).x);
  s.links = {.drop = 1e-12};
  const auto by_link = solve(method, s);
  EXPECT_LT(difference(to_matrix(by_link.x), x), 1e-12);
  // But each neighbour gets its own message.
  const std::uint64_t each = make_codec<double>(keep("top_k", k))->payload_bytes(d);
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(by_link.ledger[static_cast<std::size_t>(i)].payload_bytes,
              each * rounds * static_cast<std::uint64_t>(graph.degree(i)));
}

}  // namespace
}  // namespace ticopd::dense
