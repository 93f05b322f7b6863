#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace ticopd {

// Limits that every builder checks before it allocates.
inline constexpr int max_agents = 1'000'000;
inline constexpr double max_edges = 50e6;

using Edges = std::vector<std::pair<int, int>>;

// ConfigError naming graph.agents unless 1 <= agents <= max_agents and the (expected) edges fit.
void check_size(std::string_view kind, int agents, double edges);

}  // namespace ticopd
