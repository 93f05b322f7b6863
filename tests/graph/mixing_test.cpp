// The Laplacian, Metropolis weights and their spectra, compared with closed forms.
#include "ticopd/graph/mixing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ticopd/error.hpp"
#include "ticopd/graph/extremes.hpp"

namespace ticopd {
namespace {

constexpr double pi = std::numbers::pi;

double entry(const Mixing& m, int i, int j) {
  for (const auto& e : m.rows[static_cast<std::size_t>(i)])
    if (e.agent == j) return e.weight;
  return 0;
}

std::vector<Graph> some_graphs() {
  std::vector<Graph> all{ring(1),     ring(2),  ring(10),  path(7),       star(9),
                         complete(6), grid(12), torus(16), hypercube(16), exponential(11)};
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    all.push_back(erdos_renyi(25, 0.2, seed));
    all.push_back(geometric(25, 0.35, seed));
  }
  return all;
}

TEST(Mixing, RowsAreSymmetricSortedAndHoldTheDiagonal) {
  for (const Graph& g : some_graphs())
    for (const Mixing& m : {laplacian(g), mixing_matrix(g, Weights::metropolis),
                            mixing_matrix(g, Weights::lazy_metropolis)})
      for (int i = 0; i < g.agents(); ++i) {
        const auto& row = m.rows[static_cast<std::size_t>(i)];
        ASSERT_EQ(row.size(), g.neighbours(i).size() + 1);
        bool own = false;
        for (std::size_t k = 0; k < row.size(); ++k) {
          if (k > 0) {
            EXPECT_LT(row[k - 1].agent, row[k].agent);
          }
          own |= row[k].agent == i;
          EXPECT_EQ(row[k].weight, entry(m, row[k].agent, i));
        }
        EXPECT_TRUE(own);
      }
}

TEST(Laplacian, RowsSumToZero) {
  for (const Graph& g : some_graphs())
    for (const auto& row : laplacian(g).rows) {
      double sum = 0;
      for (const auto& e : row) sum += e.weight;
      EXPECT_EQ(sum, 0);
    }
}

TEST(Metropolis, IsDoublyStochasticWithItsDefinedWeights) {
  for (const Graph& g : some_graphs()) {
    const Mixing w = mixing_matrix(g, Weights::metropolis);
    const Mixing lazy = mixing_matrix(g, Weights::lazy_metropolis);
    for (int i = 0; i < g.agents(); ++i) {
      double sum = 0;
      for (const auto& [j, weight] : w.rows[static_cast<std::size_t>(i)]) {
        sum += weight;
        EXPECT_GT(weight, 0);
        EXPECT_NEAR(entry(lazy, i, j), (weight + (i == j)) / 2, 1e-15);
        if (i != j) {
          EXPECT_EQ(weight, 1.0 / (1 + std::max(g.degree(i), g.degree(j))));
        }
      }
      EXPECT_NEAR(sum, 1, 1e-15);
    }
  }
}

TEST(Mixing, PartsAddUpToW) {
  const Mixing w = mixing_matrix(star(5), Weights::metropolis);
  const auto own = diagonal(w);
  const Mixing minus = minus_identity(w);
  const Mixing rest = without_diagonal(w);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      const double d = i == j ? own[static_cast<std::size_t>(i)] : 0;
      EXPECT_EQ(entry(w, i, j), entry(rest, i, j) + d);
      EXPECT_EQ(entry(minus, i, j), entry(w, i, j) - (i == j));
    }
  EXPECT_EQ(diagonal(rest), std::vector<double>(5, 0.0));
}

TEST(Weights, UnknownNameSuggestsTheNearest) {
  EXPECT_EQ(parse_weights("metropolis"), Weights::metropolis);
  EXPECT_EQ(parse_weights("lazy_metropolis"), Weights::lazy_metropolis);
  try {
    parse_weights("metropolys");
    ADD_FAILURE();
  } catch (const ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("graph.weights"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("did you mean \"metropolis\""), std::string::npos)
        << e.what();
  }
}

void expect_spectrum(const Graph& g, double max, double min, double gap) {
  const Spectrum s = spectrum(g, Weights::metropolis);
  EXPECT_NEAR(s.laplacian_max, max, 1e-10 * std::max(1.0, max));
  EXPECT_NEAR(s.laplacian_min, min, 1e-10);
  EXPECT_NEAR(s.gap, gap, 1e-10);
}

// Regular graphs have W = I - L / (1 + degree).
double regular_gap(double max, double min, int degree) {
  return std::min(min, 2 * (1 + degree) - max) / (1 + degree);
}

TEST(Spectrum, RingOfTenHasTheKnownSpectrum) {
  const Spectrum s = spectrum(ring(10), Weights::metropolis);
  EXPECT_NEAR(s.laplacian_max, 4, 1e-12);
  EXPECT_NEAR(s.laplacian_min, 0.381966, 1e-6);
  EXPECT_NEAR(s.gap, 0.12732, 1e-5);
  EXPECT_NEAR(spectrum(ring(10), Weights::lazy_metropolis).gap, 0.12732 / 2, 1e-5);
}

// The complete bipartite graph of m and m agents: L has the eigenvalues 0, m and 2 m. The most
// negative eigenvalue of W is large in magnitude and limits the gap.
TEST(Spectrum, GapCountsNegativeEigenvaluesToo) {
  for (const int m : {5, 200}) {
    std::vector<std::pair<int, int>> edges;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) edges.emplace_back(i, m + j);
    const Spectrum s = spectrum(Graph(2 * m, edges), Weights::metropolis);
    EXPECT_NEAR(s.laplacian_max, 2 * m, 1e-9);
    EXPECT_NEAR(s.laplacian_min, m, 1e-9);
    EXPECT_NEAR(s.gap, 2.0 / (m + 1), 1e-12);
  }
}

TEST(Spectrum, OneAgentHasATrivialSpectrum) {
  const Spectrum s = spectrum(ring(1), Weights::metropolis);
  EXPECT_EQ(s.laplacian_max, 0);
  EXPECT_EQ(s.laplacian_min, 0);
  EXPECT_EQ(s.gap, 1);
}

TEST(Spectrum, MatchesClosedFormsForSmallAndLargeGraphs) {
  for (const int n : {3, 10, 11, 256, 300, 2001, 20000}) {
    const double far = 2 - 2 * std::cos(2 * pi * (n / 2) / n);
    const double near = 4 * std::pow(std::sin(pi / n), 2);
    expect_spectrum(ring(n), far, near, regular_gap(far, near, 2));
  }
  for (const int n : {2, 5, 64, 300, 500}) {
    expect_spectrum(complete(n), n, n, 1);
    expect_spectrum(star(n), n, n == 2 ? 2 : 1, 1.0 / n + (n == 2 ? 0.5 : 0));
  }
  for (const int n : {4, 16, 1024, 4096})
    expect_spectrum(hypercube(n), 2 * std::log2(n), 2,
                    regular_gap(2 * std::log2(n), 2, static_cast<int>(std::log2(n))));
}

TEST(Spectrum, PathsAndGridsMatchTheirClosedForms) {
  for (const int n : {3, 20, 300, 5000}) {
    const Spectrum s = spectrum(path(n), Weights::metropolis);
    EXPECT_NEAR(s.laplacian_max, 2 + 2 * std::cos(pi / n), 1e-10);
    EXPECT_NEAR(s.laplacian_min, 4 * std::pow(std::sin(pi / (2 * n)), 2), 1e-12);
  }
  const Spectrum s = spectrum(grid(60 * 50, 60), Weights::metropolis);
  EXPECT_NEAR(s.laplacian_max, 4 + 2 * std::cos(pi / 60) + 2 * std::cos(pi / 50), 1e-10);
  EXPECT_NEAR(s.laplacian_min, 4 * std::pow(std::sin(pi / 120), 2), 1e-10);
}

TEST(Spectrum, SparseAgreesWithDense) {
  std::vector<Graph> graphs = some_graphs();
  graphs.erase(graphs.begin());  // one agent has no positive eigenvalue
  graphs.push_back(erdos_renyi(400, 0.03, 1));
  graphs.push_back(geometric(400, 0.1, 2));
  graphs.push_back(exponential(300));
  graphs.push_back(torus(300));
  for (const Graph& g : graphs) {
    const Extremes dense = extremes_dense(laplacian(g));
    const Extremes sparse = extremes_sparse(laplacian(g));
    EXPECT_NEAR(sparse.max, dense.max, 1e-11 * dense.max) << g.agents();
    EXPECT_NEAR(sparse.min, dense.min, 1e-11 * dense.max) << g.agents();
  }
}

}  // namespace
}  // namespace ticopd
