#include <array>

#include "ticopd/error.hpp"
#include "ticopd/graph/graph.hpp"

namespace ticopd {
namespace {

using O = GraphOptions;

Graph from_file(const O& o, std::uint64_t) {
  if (o.path.empty())
    throw ConfigError("graph.path: required by graph.kind = \"file\", the name of an edge list");
  return o.agents == O::all_named ? edge_list(o.path) : edge_list(o.path, o.agents);
}

Graph from_list(const O& o, std::uint64_t) {
  return o.agents == O::all_named ? listed_edges(o.edges) : listed_edges(o.edges, o.agents);
}

template <Graph (*build)(int)>
Graph of_agents(const O& o, std::uint64_t) {
  return build(o.agents);
}

template <Graph (*build)(int, int)>
Graph of_rows(const O& o, std::uint64_t) {
  return build(o.agents, o.rows);
}

std::vector<std::string_view> graph_names() {
  return graph_table().names();
}

}  // namespace

// A new kind of graph is its builder and one line here.
Table<GraphInfo>& graph_table() {
  static Table<GraphInfo> table{
      "graph.kind",
      {{"ring", {}, "every agent has two neighbours", of_agents<ring>},
       {"path", {}, "a ring cut open", of_agents<path>},
       {"star", {}, "agent 0 is everyone's only neighbour", of_agents<star>},
       {"complete", {}, "everyone is everyone's neighbour", of_agents<complete>},
       {"grid", {"rows"}, "a rectangular lattice", of_rows<grid>},
       {"torus", {"rows"}, "a grid closed in both directions", of_rows<torus>},
       {"hypercube",
        {},
        "neighbours differ in one bit of their number; a power of two of agents",
        of_agents<hypercube>},
       {"exponential", {}, "agent i beside i +- 2^k, undirected", of_agents<exponential>},
       {"erdos_renyi",
        {"p"},
        "each pair linked with chance p; connected, seeded",
        [](const O& o, std::uint64_t seed) { return erdos_renyi(o.agents, o.p, seed); }},
       {"geometric",
        {"radius"},
        "points of the unit square linked up to the radius; connected, seeded",
        [](const O& o, std::uint64_t seed) { return geometric(o.agents, o.radius, seed); }},
       {.name = "random_edge",
        .options = {},
        .summary = "everyone may meet everyone, but only one pair does each round",
        .make = of_agents<complete>,
        .one_edge = true},
       {.name = "file",
        .options = {"path"},
        .summary = "an edge list, `i j` per line, 0-based, # comments",
        .make = from_file,
        .counts_agents = true},
       {.name = "edges",
        .options = {"edges"},
        .summary = "the edges themselves, \"0-1 1-2 0-2\"",
        .make = from_list,
        .counts_agents = true}}};
  return table;
}

// A new option is a member of GraphOptions and a line here.
Table<Option<GraphOptions>>& graph_options_table() {
  static Table<Option<O>> table{
      "graph option",
      {option<&O::kind>("kind", domain::word(graph_names), "who is whose neighbour"),
       option<&O::agents>(
           "agents", domain::whole(1, 1'000'000),
           "how many agents there are; with `file` and `edges` left out: as many as they name"),
       option<&O::rows>("rows", domain::whole(0, 1'000'000), "0: the squarest"),
       option<&O::p>("p", domain::above(0, 1), "chance of an edge"),
       option<&O::radius>("radius", domain::above(0), "in the unit square"),
       option<&O::path>("path", domain::file(),
                        "an edge list, `i j` per line, agents from 0, `#` comments"),
       option<&O::edges>("edges", domain::text(),
                         "agents from 0, `0-1 1-2 0-2`, between blanks or commas"),
       option<&O::drop>("drop", domain::number(0, 0.99),
                        "the chance that an edge is inactive in a round; both ends know it from "
                        "seed and round")}};
  return table;
}

Graph make_graph(const GraphOptions& options, std::uint64_t seed) {
  return graph_table().at(options.kind).make(options, seed);
}

}  // namespace ticopd
