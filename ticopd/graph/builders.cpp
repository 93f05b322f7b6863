#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ticopd/error.hpp"
#include "ticopd/graph/bounds.hpp"
#include "ticopd/graph/graph.hpp"

namespace ticopd {
namespace {

void check_agents(int agents) {
  if (agents < 1 || agents > max_agents)
    throw ConfigError(fmt::format("graph.agents = {}: allowed are 1 ... {}", agents, max_agents));
}

// The rows of a grid or torus; by default the largest divisor up to the square root.
int pick_rows(int agents, int rows) {
  if (rows < 0 || (rows > 0 && agents % rows != 0))
    throw ConfigError(
        fmt::format("graph.rows = {}: must divide graph.agents = {}, or be 0 to pick the squarest",
                    rows, agents));
  if (rows > 0) return rows;
  rows = 1;
  for (int r = 2; r <= agents / r; ++r)
    if (agents % r == 0) rows = r;
  return rows;
}

// A circle of one or two agents would be a self-loop or a double edge, so a torus leaves it out.
Edges lattice(int rows, int columns, bool around) {
  Edges edges;
  const auto at = [columns](int r, int c) { return r * columns + c; };
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      if (c + 1 < columns) edges.emplace_back(at(r, c), at(r, c + 1));
      if (r + 1 < rows) edges.emplace_back(at(r, c), at(r + 1, c));
      if (around && columns > 2 && c + 1 == columns) edges.emplace_back(at(r, c), at(r, 0));
      if (around && rows > 2 && r + 1 == rows) edges.emplace_back(at(r, c), at(0, c));
    }
  return edges;
}

}  // namespace

void check_size(std::string_view kind, int agents, double edges) {
  check_agents(agents);
  if (edges > max_edges)
    throw ConfigError(fmt::format(
        "graph.agents = {}: a {} graph would have about {:.3g} edges, allowed are {:.0f}; "
        "take fewer agents or a sparser graph",
        agents, kind, edges, max_edges));
}

Graph path(int agents) {
  check_agents(agents);
  return Graph(agents, lattice(1, agents, false));
}

Graph ring(int agents) {
  check_agents(agents);
  return Graph(agents, lattice(1, agents, true));
}

Graph grid(int agents, int rows) {
  check_agents(agents);
  rows = pick_rows(agents, rows);
  return Graph(agents, lattice(rows, agents / rows, false));
}

Graph torus(int agents, int rows) {
  check_agents(agents);
  rows = pick_rows(agents, rows);
  return Graph(agents, lattice(rows, agents / rows, true));
}

Graph star(int agents) {
  check_agents(agents);
  Edges edges;
  for (int i = 1; i < agents; ++i) edges.emplace_back(0, i);
  return Graph(agents, edges);
}

Graph complete(int agents) {
  check_size("complete", agents, 0.5 * agents * (agents - 1.0));
  Edges edges;
  for (int i = 0; i < agents; ++i)
    for (int j = i + 1; j < agents; ++j) edges.emplace_back(i, j);
  return Graph(agents, edges);
}

Graph hypercube(int agents) {
  check_agents(agents);
  const auto n = static_cast<unsigned>(agents);
  if (!std::has_single_bit(n)) {
    const unsigned above = std::bit_ceil(n);
    throw ConfigError(fmt::format("graph.agents = {}: a hypercube needs a power of two, {}", agents,
                                  above > max_agents
                                      ? fmt::format("nearest is {}", above / 2)
                                      : fmt::format("nearest are {} and {}", above / 2, above)));
  }
  Edges edges;
  for (unsigned i = 0; i < n; ++i)
    for (unsigned bit = 1; bit < n; bit *= 2)
      if ((i & bit) == 0) edges.emplace_back(static_cast<int>(i), static_cast<int>(i | bit));
  return Graph(agents, edges);
}

Graph exponential(int agents) {
  check_agents(agents);
  Edges edges;
  for (int i = 0; i < agents; ++i)
    for (int step = 1; step < agents; step *= 2)
      edges.emplace_back(std::minmax({i, (i + step) % agents}));
  // The edges i + 2^k and j + 2^l coincide if 2^k + 2^l = n.
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return Graph(agents, edges);
}

}  // namespace ticopd
