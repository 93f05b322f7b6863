// A graph of your own: ticopd run FILE --plugin ./small_world.so --set graph.kind=small_world
#include <set>
#include <ticopd/numeric/noise.hpp>
#include <ticopd/plugin.hpp>

namespace {

using ticopd::GraphOptions;

// M. E. J. Newman, D. J. Watts, "Renormalization group analysis of the small-world network model",
// 1999: a ring, and some shortcuts between agents drawn by chance. The ring keeps it connected.
ticopd::Graph small_world(const GraphOptions& options, std::uint64_t seed) {
  const ticopd::Graph around = ticopd::ring(options.agents);
  std::set<std::pair<int, int>> edges;
  for (int i = 0; i < options.agents; ++i)
    for (const int j : around.neighbours(i))
      if (i < j) edges.insert({i, j});

  const auto shortcuts =
      static_cast<int>(ticopd::own_value<double>(options, "shortcuts") * options.agents);
  ticopd::Generator random(ticopd::Noise{seed, 0, 0, ticopd::stream_graph});
  const auto agents = static_cast<std::size_t>(options.agents);
  for (int drawn = 0; drawn < shortcuts; ++drawn) {
    const auto i = static_cast<int>(random.below(agents)),
               j = static_cast<int>(random.below(agents));
    if (i != j) edges.insert({std::min(i, j), std::max(i, j)});  // one drawn twice counts once
  }
  const std::vector<std::pair<int, int>> all(edges.begin(), edges.end());
  return {options.agents, all};
}

}  // namespace

TICOPD_PLUGIN("small_world", "1.0") {
  using namespace ticopd;
  graph_options_table().add(own_option<GraphOptions>("shortcuts", domain::number(0, 100), 0.5,
                                                     "`small_world`: shortcuts for each agent"));
  graph_table().add({"small_world", {"shortcuts"}, "a ring with shortcuts; seeded", small_world});
}
