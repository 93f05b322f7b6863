#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ticopd/option.hpp"
#include "ticopd/table.hpp"

namespace ticopd {

// An undirected connected graph on agents 0 ... n - 1.
class Graph {
 public:
  // Throws ConfigError for an edge out of range, a self-loop, a duplicate, or a graph that is not
  // connected (naming two agents that cannot reach each other). One agent without edges is a graph.
  Graph(int agents, std::span<const std::pair<int, int>> edges);

  int agents() const { return static_cast<int>(neighbours_.size()); }
  const std::vector<int>& neighbours(int agent) const {  // ascending
    return neighbours_[static_cast<std::size_t>(agent)];
  }
  int degree(int agent) const { return static_cast<int>(neighbours(agent).size()); }
  std::size_t edges() const { return edges_; }

 private:
  std::vector<std::vector<int>> neighbours_;
  std::size_t edges_ = 0;
};

Graph ring(int agents);
Graph path(int agents);
Graph star(int agents);  // agent 0 is the centre
Graph complete(int agents);
Graph grid(int agents, int rows = 0);  // rows = 0: the squarest that fits
Graph torus(int agents, int rows = 0);
Graph hypercube(int agents);                                     // a power of two
Graph exponential(int agents);                                   // i +- 2^k
Graph erdos_renyi(int agents, double p, std::uint64_t seed);     // redrawn until connected
Graph geometric(int agents, double radius, std::uint64_t seed);  // unit square, redrawn likewise
// The points that geometric() links, agent by agent: where a drawing has them.
std::vector<std::pair<double, double>> geometric_points(int agents, double radius,
                                                        std::uint64_t seed);
// `i j` a line, # comments. The number of agents, or else one more than the largest in the file.
Graph edge_list(const std::filesystem::path& file, std::optional<int> agents = {});
// The same as text: "0-1 1-2 0-2".
Graph listed_edges(std::string_view text, std::optional<int> agents = {});

// The options of all graphs with their defaults; graph/table.cpp says what each one means.
struct GraphOptions {
  static constexpr int all_named = -1;  // as many agents as the edge list names

  std::string kind = "ring";
  int agents = 10;  // or all_named
  int rows = 0;
  double p = 0.4;
  double radius = 0.5;
  std::filesystem::path path = {};
  std::string edges = "";  // "0-1 1-2"
  double drop = 0;         // share of the edges that are inactive each round: link_schedule.hpp
  OwnOptions own = {};     // options that a program registered
};

// An entry of the table of graphs.
struct GraphInfo {
  std::string name;                  // the word of graph.kind
  std::vector<std::string> options;  // those it takes, besides agents, weights and drop
  std::string summary;
  Graph (*make)(const GraphOptions&, std::uint64_t seed) = nullptr;
  bool one_edge = false;       // only one edge is active each round: link_schedule.hpp
  bool counts_agents = false;  // takes options.agents = all_named
};

// The kinds of graphs, and the options of all of them (both in table.cpp).
Table<GraphInfo>& graph_table();
Table<Option<GraphOptions>>& graph_options_table();

// The value of an option that GraphOptions has no member for, or its default.
template <class V, std::same_as<GraphOptions> Options>
V own_value(const Options& options, std::string_view name) {
  return own_value<V>(graph_options_table(), options, name);
}

// Throws ConfigError naming `graph.KEY`; FormatError naming file and line for a bad edge list.
Graph make_graph(const GraphOptions& options, std::uint64_t seed);

}  // namespace ticopd
