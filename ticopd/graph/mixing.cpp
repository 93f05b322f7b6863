#include "ticopd/graph/mixing.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "ticopd/error.hpp"
#include "ticopd/graph/extremes.hpp"

namespace ticopd {
namespace {

// Rows over each agent's neighbours and itself; `link` weighs an edge, `own` the diagonal given the
// sum of the row's links.
template <class Link, class Own>
Mixing fill(const Graph& graph, Link link, Own own) {
  Mixing m;
  m.rows.resize(static_cast<std::size_t>(graph.agents()));
  for (int i = 0; i < graph.agents(); ++i) {
    auto& row = m.rows[static_cast<std::size_t>(i)];
    row.reserve(graph.neighbours(i).size() + 1);
    double links = 0;
    for (const int j : graph.neighbours(i)) {
      row.push_back({j, link(i, j)});
      links += row.back().weight;
    }
    const auto place =
        std::find_if(row.begin(), row.end(), [i](const auto& e) { return e.agent > i; });
    row.insert(place, {i, own(i, links)});
  }
  return m;
}

Mixing::Entry& own_entry(Mixing& m, std::size_t i) {
  return *std::find_if(m.rows[i].begin(), m.rows[i].end(),
                       [i](const auto& e) { return e.agent == static_cast<int>(i); });
}

Mixing difference_from_identity(const Graph& graph, Weights w) {  // I - W
  Mixing m = minus_identity(mixing_matrix(graph, w));
  for (auto& row : m.rows)
    for (auto& entry : row) entry.weight = -entry.weight;
  return m;
}

}  // namespace

Weights parse_weights(std::string_view name) {
  constexpr auto words = words_of(Weights{});
  const auto found = std::ranges::find(words, name);
  if (found == words.end()) throw ConfigError(not_allowed("graph.weights", name, words));
  return static_cast<Weights>(found - words.begin());
}

Mixing laplacian(const Graph& graph) {
  return fill(
      graph, [](int, int) { return -1.0; },
      [&graph](int i, double) { return static_cast<double>(graph.degree(i)); });
}

Mixing mixing_matrix(const Graph& graph, Weights w) {
  const double share = w == Weights::lazy_metropolis ? 0.5 : 1.0;
  return fill(
      graph,
      [&graph, share](int i, int j) {
        return share / (1.0 + std::max(graph.degree(i), graph.degree(j)));
      },
      [](int, double links) { return 1.0 - links; });
}

Mixing minus_identity(Mixing w) {
  for (std::size_t i = 0; i < w.rows.size(); ++i) own_entry(w, i).weight -= 1.0;
  return w;
}

Mixing without_diagonal(Mixing w) {
  for (std::size_t i = 0; i < w.rows.size(); ++i) own_entry(w, i).weight = 0.0;
  return w;
}

std::vector<double> diagonal(const Mixing& m) {
  std::vector<double> d(m.rows.size());
  for (std::size_t i = 0; i < d.size(); ++i)
    for (const auto& entry : m.rows[i])
      if (entry.agent == static_cast<int>(i)) d[i] = entry.weight;
  return d;
}

void require_centre(const Graph& graph) {
  if (graph.degree(0) != graph.agents() - 1)
    throw ConfigError(
        "graph.kind: averaging at a centre needs agent 0 to be everyone's neighbour, "
        "as in \"star\" and \"complete\"; it has " +
        std::to_string(graph.degree(0)) + " of " + std::to_string(graph.agents() - 1));
}

Mixing to_centre(const Graph& graph) {
  require_centre(graph);
  Mixing m;
  m.rows.resize(static_cast<std::size_t>(graph.agents()));
  for (int j = 0; j < graph.agents(); ++j) m.rows[0].push_back({j, 1.0 / graph.agents()});
  return m;
}

Mixing from_centre(const Graph& graph) {
  require_centre(graph);
  Mixing m;
  for (int i = 0; i < graph.agents(); ++i) m.rows.push_back({{0, 1.0}});
  return m;
}

Spectrum spectrum(const Graph& graph, Weights w) {
  if (graph.agents() == 1) return {0, 0, 1};
  const auto extremes = graph.agents() <= 256 ? extremes_dense : extremes_sparse;
  const Extremes l = extremes(laplacian(graph));
  // I - W is a weighted Laplacian with eigenvalues 1 - lambda(W) in [0, 2]. Taken from I - W, a
  // tiny spectral gap keeps its digits.
  const Extremes d = extremes(difference_from_identity(graph, w));
  return {l.max, l.min, std::min(d.min, 2 - d.max)};
}

}  // namespace ticopd
