// The compressed, local and server methods against their transcripts, in double.
#include "algorithms/agreement.hpp"
#include "dense/compressed_transcripts.hpp"
#include "ticopd/algorithms/choco_gossip.hpp"
#include "ticopd/algorithms/deepsqueeze.hpp"
#include "ticopd/algorithms/docom.hpp"
#include "ticopd/algorithms/local_sgd.hpp"
#include "ticopd/algorithms/magnusson.hpp"
#include "ticopd/algorithms/qdgd.hpp"
#include "ticopd/algorithms/qsparse_local_sgd.hpp"
#include "ticopd/algorithms/sparq_sgd.hpp"
#include "ticopd/algorithms/ticopd.hpp"

namespace ticopd::dense {
namespace {

class CompressedTranscript : public Twice {
 protected:
  const Compress Q = top_k(k);
  const CodecOptions top = keep("top_k", k);

  template <class Algorithm>
  Matrix with(const Algorithm& algorithm, ticopd::Setup<double> s) const {
    return to_matrix(solve(algorithm, s).x);
  }
};

TEST_F(CompressedTranscript, DoCoMMatchesItsTranscriptWithAndWithoutMiniBatches) {
  for (const std::size_t batch : {std::size_t{0}, std::size_t{4}}) {
    ticopd::Setup<double> s = setup(top);
    s.batch = batch;
    const Matrix x = with(DoCoM{.eta = 0.01, .gamma = 0.2, .beta = 0.2}, s);
    const Matrix y = docom(problem, Q, {0.01, 0.2, 0.2, batch}, rounds);
    EXPECT_LT(difference(x, y), tolerance) << "batch " << batch;
  }
}

// The surrogates of y start at the full gradients, for any batch size.
TEST_F(CompressedTranscript, DoCoMMatchesItsTranscriptFromAWarmStart) {
  for (const std::size_t batch : {std::size_t{0}, std::size_t{4}}) {
    ticopd::Setup<double> s = setup(top);
    s.batch = batch;
    const Matrix x = with(DoCoM{.eta = 0.01, .gamma = 0.2, .beta = 0.2, .warm_start = true}, s);
    const Matrix y = docom(problem, Q, {0.01, 0.2, 0.2, batch, true}, rounds);
    EXPECT_LT(difference(x, y), tolerance) << "batch " << batch;
    EXPECT_GT(difference(x, docom(problem, Q, {0.01, 0.2, 0.2, batch}, rounds)), 1e-6);
  }
}

TEST_F(CompressedTranscript, TiCoPDMatchesItsTranscriptWithMiniBatches) {
  ticopd::Setup<double> s = setup(codec("identity"), 50);
  s.batch = 4;
  const Matrix x = with(TiCoPD{.alpha = 0.02, .theta = 1, .eta = 0.1, .beta = 1}, s);
  Matrix y = problem.X0, lambda = problem.zero();
  for (int t = 1; t <= 50; ++t) {
    const Matrix Ly = problem.L * y;
    y = (y - 0.02 * (batch_gradients(problem, y, 1, t, 4) + lambda + Ly)).eval();
    lambda += 0.1 * Ly;
  }
  EXPECT_LT(difference(x, y), tolerance);
}

TEST_F(CompressedTranscript, QDGDMatchesItsTranscript) {
  const Matrix x = library(QDGD{.alpha = 0.2, .epsilon = 0.3}, top);
  EXPECT_LT(difference(x, qdgd(problem, Q, 0.2, 0.3, rounds)), tolerance);
}

TEST_F(CompressedTranscript, SparqSGDMatchesItsTranscriptAndSendsOnlyRowsThatMoved) {
  for (const double threshold : {0.0, 300.0}) {
    int told = 0;
    const Matrix y = sparq_sgd(problem, Q, 0.05, 0.3, threshold, 3, rounds, told);
    const auto solution =
        solve(SparqSGD{.eta = 0.05, .gamma = 0.3, .threshold = threshold, .period = 3}, setup(top));
    EXPECT_LT(difference(to_matrix(solution.x), y), tolerance);
    const std::uint64_t each = make_codec<double>(top)->payload_bytes(d);
    std::uint64_t bytes = 0;
    for (const Ledger::Agent& a : solution.ledger) bytes += a.payload_bytes;
    EXPECT_EQ(bytes, static_cast<std::uint64_t>(told) * each);
    if (threshold == 0) {
      EXPECT_EQ(told, n * (rounds / 3));
    } else {
      EXPECT_LT(told, n * (rounds / 3)) << "some stayed silent";
      EXPECT_GT(told, 0);
    }
  }
}

TEST_F(CompressedTranscript, LocalSGDMatchesItsTranscriptWithNeighboursAndWithAServer) {
  const CodecOptions none = codec("identity");
  EXPECT_LT(difference(library(LocalSGD{.eta = 0.05, .period = 4}, none),
                       local_sgd(problem, problem.W, 0.05, 4, rounds)),
            tolerance);
  ticopd::Setup<double> s = setup(none);
  s.graph = star(n);
  const Matrix mean = Matrix::Constant(n, n, 1.0 / n);
  EXPECT_LT(difference(with(LocalSGD{.eta = 0.05, .period = 4, .average = "star"}, s),
                       local_sgd(problem, mean, 0.05, 4, rounds)),
            tolerance);
}

TEST_F(CompressedTranscript, QsparseLocalSGDMatchesItsTranscript) {
  ticopd::Setup<double> s = setup(top);
  s.graph = star(n);
  EXPECT_LT(difference(with(QsparseLocalSGD{.eta = 0.01, .period = 2}, s),
                       qsparse_local_sgd(problem, Q, 0.01, 2, rounds)),
            tolerance);
}

TEST_F(CompressedTranscript, ChocoGossipMatchesItsTranscript) {
  EXPECT_LT(
      difference(library(ChocoGossip{.gamma = 0.3}, top), choco_gossip(problem, Q, 0.3, rounds)),
      tolerance);
}

TEST_F(CompressedTranscript, DeepSqueezeMatchesItsTranscript) {
  EXPECT_LT(difference(library(DeepSqueeze{.eta = 0.02, .gamma = 0.1}, top),
                       deepsqueeze(problem, Q, 0.02, 0.1, rounds)),
            tolerance);
}

// Few rounds, since a value just between two grid points may round either way in the two versions.
// In a small box the models diverge at first: values outside are clamped to the edge and counted.
TEST_F(CompressedTranscript, MagnussonMatchesItsTranscriptInLargeAndInSmallBoxes) {
  for (const double r0 : {3.0, 0.1}) {
    const Magnusson method{.eta = 0.05, .alpha = 1, .beta = 1, .r0 = r0, .kappa = 0.97, .bits = 10};
    const auto found = solve(method, setup(codec("identity"), 60));
    std::uint64_t outside = 0, counted = 0;
    const Matrix y = magnusson(problem, 0.05, 1, 1, r0, 0.97, 10, 60, outside);
    EXPECT_LT(difference(to_matrix(found.x), y), 1e-9) << "r0 " << r0;
    for (const Ledger::Agent& a : found.ledger) counted += a.saturated;
    EXPECT_EQ(counted, outside) << "r0 " << r0;
    EXPECT_EQ(outside > 0, r0 < 1);
  }
}

TEST_F(CompressedTranscript, TiCoPDMatchesItsTranscriptOverTimeVaryingLinks) {
  const Compress one_row = top_k(k);
  for (const LinkSchedule schedule : {LinkSchedule{.drop = 0.3}, LinkSchedule{.one_edge = true}}) {
    const auto active = [&](int t) {
      std::vector<std::pair<int, int>> pairs;
      const auto on = schedule.active(graph, 1, static_cast<std::uint32_t>(t));
      std::size_t edge = 0;
      for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
          if (problem.Adj(i, j) != 0 && on[edge++]) pairs.emplace_back(i, j);
      return pairs;
    };
    for (const double beta : {1.0, 0.8}) {
      ticopd::Setup<double> s = setup(top);
      s.links = schedule;
      const Matrix x =
          with(TiCoPD{.alpha = 0.02, .theta = 1, .eta = 0.1, .beta = beta, .gamma = 0.7}, s);
      const Matrix y = ticopd_over_links(
          problem, one_row, {always(0.02), always(1), always(0.1), always(beta), always(0.7)},
          active, rounds);
      EXPECT_LT(difference(x, y), tolerance) << "drop " << schedule.drop << ", beta " << beta;
    }
  }
}

// The transcript draws the same channel noise as the library, but applies it in its own way.
TEST_F(CompressedTranscript, TiCoPDMatchesItsTranscriptOverANoisyChannel) {
  for (const auto kind : {ChannelNoise::Kind::uniform, ChannelNoise::Kind::gaussian}) {
    const ChannelNoise noise{kind, 0.05};
    std::uint32_t t = 0;
    const Compress noisy = [&](const Matrix& V) {
      Matrix q = top_k(k)(V);
      ++t;
      for (int i = 0; i < n; ++i) {
        std::vector<double> row(d, 0.0);
        noise.add<double>({1, t, static_cast<std::uint32_t>(i), 0}, 0, row);
        for (std::size_t c = 0; c < d; ++c) q(i, static_cast<Eigen::Index>(c)) += row[c];
      }
      return q;
    };
    ticopd::Setup<double> s = setup(top);
    s.channel_noise = noise;
    const Matrix x =
        with(TiCoPD{.alpha = 0.05, .theta = 1, .eta = 0.1, .beta = 0.7, .gamma = 0.6}, s);
    const Matrix y = ticopd(
        problem, noisy, {always(0.05), always(1), always(0.1), always(0.7), always(0.6)}, rounds);
    EXPECT_LT(difference(x, y), tolerance);
  }
}

}  // namespace
}  // namespace ticopd::dense
