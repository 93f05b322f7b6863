#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ticopd/graph/graph.hpp"
#include "ticopd/network/any_network.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/run/metrics.hpp"

// The parts of run.json.
namespace ticopd {

nlohmann::json ledger_json(const std::vector<Ledger::Agent>& ledger, const Graph& graph);

nlohmann::json edges_json(const Graph& graph);

// The last metrics of every agent. metrics.csv has only the worst agent and the average
// model.
nlohmann::json last_json(const Metrics& last);

// The named parts of a row of final.npy.
nlohmann::json layout_json(const std::vector<Segment>& segments);

// The rounds made alike: {"from_round", "to_round", "device", "version", "instruction_set",
// "kernel", "blas"}. A run that was resumed elsewhere has several.
nlohmann::json segments_json(const nlohmann::json& parts);

// Where the time of this process went, as parts of one. With a note if metrics took more than a
// fifth: it names the keys that would lower it.
nlohmann::json shares_json(const Phases& phases, double spent, MetricLevel level);

// The memory in bytes: what the run needs, and what the process uses.
nlohmann::json memory_json(std::size_t state, std::size_t resident,
                           const std::vector<LayoutBytes>& held);

// The device of each range of rounds: {"from_round", "device"}, each until the next one. Parts
// without rounds (a finished run was resumed) are left out.
nlohmann::json devices_json(const nlohmann::json& parts);

std::string utc_now();

}  // namespace ticopd
