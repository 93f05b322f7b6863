#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "ticopd/error.hpp"
#include "ticopd/graph/bounds.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/numeric/noise.hpp"

namespace ticopd {
namespace {

constexpr std::uint32_t attempts = 1000;

bool connected(int agents, const Edges& edges) {
  std::vector<int> parent(static_cast<std::size_t>(agents));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](int i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      int& up = parent[static_cast<std::size_t>(i)];
      up = parent[static_cast<std::size_t>(up)];
      i = up;
    }
    return i;
  };
  int parts = agents;
  for (const auto& [i, j] : edges) {
    const int a = root(i);
    const int b = root(j);
    if (a == b) continue;
    parent[static_cast<std::size_t>(b)] = a;
    --parts;
  }
  return parts == 1;
}

// `share`: the probability that two agents are linked, at most. If more than 50 agents are expected
// to have no link, no draw will ever be connected, and a thousand draws of a large graph would take
// minutes to find that out.
template <class Draw>
Graph redraw(int agents, std::uint64_t seed, double share, const std::string& given, Draw draw) {
  const double alone = agents * std::pow(1.0 - std::min(share, 1.0), agents - 1);
  for (std::uint32_t attempt = 0; alone < 50 && attempt < attempts; ++attempt) {
    Generator random(Noise{seed, attempt, 0, stream_graph});
    const Edges edges = draw(random);
    if (connected(agents, edges)) return Graph(agents, edges);
  }
  throw ConfigError(fmt::format("{}: too small to connect {} agents in {} draws; raise it", given,
                                agents, attempts));
}

// Goes through the pairs (i, j), j < i, in order and skips runs of unlinked pairs: the gap between
// links is geometric, so the cost grows with the edges and not with the pairs.
Edges draw_pairs(int agents, double p, Generator& random) {
  Edges edges;
  const double scale = std::log1p(-p);
  double j = -1;
  for (int i = 1; i < agents;) {
    j += 1 + std::floor(std::log1p(-random.uniform()) / scale);
    while (i < agents && j >= i) j -= i++;
    if (i < agents) edges.emplace_back(static_cast<int>(j), i);
  }
  return edges;
}

using Points = std::vector<std::pair<double, double>>;

Points draw_points(int agents, Generator& random) {
  Points points(static_cast<std::size_t>(agents));
  for (auto& [x, y] : points) {
    x = random.uniform();
    y = random.uniform();
  }
  return points;
}

// Sorts the points of the unit square into cells no smaller than the radius: links reach only the
// neighbouring cells.
Edges link_points(const Points& points, double radius) {
  const auto agents = static_cast<int>(points.size());
  const double fit = std::floor(std::min(1 / radius, std::sqrt(static_cast<double>(agents))));
  const int side = std::max(1, static_cast<int>(fit));
  const auto cell = [side](double u) { return std::min(side - 1, static_cast<int>(u * side)); };
  std::vector<std::vector<int>> cells(static_cast<std::size_t>(side) *
                                      static_cast<std::size_t>(side));
  Edges edges;
  for (int i = 0; i < agents; ++i) {
    const auto& a = points[static_cast<std::size_t>(i)];
    const auto place = [&](int r, int c) {
      return static_cast<std::size_t>(r) * static_cast<std::size_t>(side) +
             static_cast<std::size_t>(c);
    };
    const int column = cell(a.first);
    const int row = cell(a.second);
    for (int r = std::max(0, row - 1); r <= std::min(side - 1, row + 1); ++r)
      for (int c = std::max(0, column - 1); c <= std::min(side - 1, column + 1); ++c)
        for (const int j : cells[place(r, c)]) {
          const auto& b = points[static_cast<std::size_t>(j)];
          const double dx = a.first - b.first, dy = a.second - b.second;
          if (dx * dx + dy * dy <= radius * radius) edges.emplace_back(j, i);
        }
    cells[place(row, column)].push_back(i);
  }
  return edges;
}

}  // namespace

Graph erdos_renyi(int agents, double p, std::uint64_t seed) {
  if (!(p > 0 && p <= 1)) throw ConfigError(fmt::format("graph.p = {}: allowed are 0 < p <= 1", p));
  check_size("erdos_renyi", agents, 0.5 * p * agents * (agents - 1.0));
  if (p == 1) return complete(agents);
  return redraw(agents, seed, p, fmt::format("graph.p = {}", p),
                [=](Generator& random) { return draw_pairs(agents, p, random); });
}

namespace {

// `points`: those of the draw that is connected.
Graph draw_geometric(int agents, double radius, std::uint64_t seed, Points& points) {
  if (!(radius > 0) || !std::isfinite(radius))
    throw ConfigError(fmt::format("graph.radius = {}: must be a number above 0", radius));
  const double share = std::numbers::pi * radius * radius;
  check_size("geometric", agents, 0.5 * std::min(share, 1.0) * agents * (agents - 1.0));
  return redraw(agents, seed, share, fmt::format("graph.radius = {}", radius),
                [&](Generator& random) {
                  points = draw_points(agents, random);
                  return link_points(points, radius);
                });
}

}  // namespace

Graph geometric(int agents, double radius, std::uint64_t seed) {
  Points points;
  return draw_geometric(agents, radius, seed, points);
}

std::vector<std::pair<double, double>> geometric_points(int agents, double radius,
                                                        std::uint64_t seed) {
  Points points;
  draw_geometric(agents, radius, seed, points);
  return points;
}

}  // namespace ticopd
