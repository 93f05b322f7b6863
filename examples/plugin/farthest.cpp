// A metric of your own, a column of metrics.csv: ticopd run FILE --plugin ./farthest.so
#include <algorithm>
#include <cmath>
#include <ticopd/plugin.hpp>

namespace {

// The distance of the farthest agent from the average model. `consensus` is the sum of all squares.
std::optional<double> farthest(const ticopd::Metrics& m) {
  if (m.agents.empty()) return std::nullopt;
  double most = 0;
  for (const ticopd::AgentMetrics& agent : m.agents) most = std::max(most, agent.distance2);
  return std::sqrt(most);
}

}  // namespace

TICOPD_PLUGIN("farthest", "1.0") {
  ticopd::add_metric({.column = "farthest",
                      .title = "distance of the farthest agent from the average",
                      .level = ticopd::MetricLevel::rows,
                      .better = ticopd::Better::lower,
                      .presence = ticopd::ColumnPresence::always,
                      .value = farthest});
}
