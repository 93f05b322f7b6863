#include <fmt/format.h>

#include <array>

#include "ticopd/error.hpp"
#include "ticopd/graph/graph.hpp"

namespace ticopd {
namespace {

using Make = Graph (*)(const GraphOptions&, std::uint64_t seed);

struct Row {
  GraphInfo info;
  Make make;
};

Graph from_file(const GraphOptions& o) {
  if (o.path.empty())
    throw ConfigError("graph.path: required by graph.kind = \"file\", the name of an edge list");
  return edge_list(o.path, o.agents);
}

// A new kind of graph is its builder and one line here.
constexpr std::array table{
    Row{{"ring", "agents", "every agent has two neighbours"},
        [](const GraphOptions& o, std::uint64_t) { return ring(o.agents); }},
    Row{{"path", "agents", "a ring cut open"},
        [](const GraphOptions& o, std::uint64_t) { return path(o.agents); }},
    Row{{"star", "agents", "agent 0 is everyone's only neighbour"},
        [](const GraphOptions& o, std::uint64_t) { return star(o.agents); }},
    Row{{"complete", "agents", "everyone is everyone's neighbour"},
        [](const GraphOptions& o, std::uint64_t) { return complete(o.agents); }},
    Row{{"grid", "agents, rows = 0 (the squarest)", "a rectangular lattice"},
        [](const GraphOptions& o, std::uint64_t) { return grid(o.agents, o.rows); }},
    Row{{"torus", "agents, rows = 0 (the squarest)", "a grid closed in both directions"},
        [](const GraphOptions& o, std::uint64_t) { return torus(o.agents, o.rows); }},
    Row{{"hypercube", "agents (a power of two)", "neighbours differ in one bit of their number"},
        [](const GraphOptions& o, std::uint64_t) { return hypercube(o.agents); }},
    Row{{"exponential", "agents", "agent i beside i +- 2^k, undirected"},
        [](const GraphOptions& o, std::uint64_t) { return exponential(o.agents); }},
    Row{{"erdos_renyi", "agents, p = 0.4", "each pair linked with chance p; connected, seeded"},
        [](const GraphOptions& o, std::uint64_t s) { return erdos_renyi(o.agents, o.p, s); }},
    Row{{"geometric", "agents, radius = 0.5",
         "points of the unit square linked up to the radius; connected, seeded"},
        [](const GraphOptions& o, std::uint64_t s) { return geometric(o.agents, o.radius, s); }},
    Row{{"random_edge", "agents", "everyone may meet everyone, but only one pair does each round"},
        [](const GraphOptions& o, std::uint64_t) { return complete(o.agents); }},
    Row{{"file", "agents, path", "an edge list, `i j` per line, 0-based, # comments"},
        [](const GraphOptions& o, std::uint64_t) { return from_file(o); }},
};

constexpr auto infos = [] {
  std::array<GraphInfo, table.size()> list{};
  for (std::size_t k = 0; k < list.size(); ++k) list[k] = table[k].info;
  return list;
}();

}  // namespace

std::span<const GraphInfo> graph_table() {
  return infos;
}

Graph make_graph(const GraphOptions& options, std::uint64_t seed) {
  std::vector<std::string_view> kinds;
  for (const Row& row : table) {
    if (row.info.kind == options.kind) return row.make(options, seed);
    kinds.push_back(row.info.kind);
  }
  throw ConfigError(not_allowed("graph.kind", options.kind, kinds));
}

}  // namespace ticopd
