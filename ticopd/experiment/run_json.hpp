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

// The agents one by one, for who looks at the network and not only at its worst.
nlohmann::json last_json(const Metrics& last);

nlohmann::json segments_json(const std::vector<Segment>& segments);

// Where the time of this process went, as parts of one. With a note if metrics took more than a
// fifth: it names the keys that would lower it.
nlohmann::json shares_json(const Phases& phases, double spent, MetricLevel level);

// What a run must hold, and what the process really has: bytes.
nlohmann::json memory_json(std::size_t state, std::size_t resident,
                           const std::vector<LayoutBytes>& held);

// Where the rounds were made: {"from_round", "device"}, each until the next. Parts that made none
// (resumed when all was done) leave nothing.
nlohmann::json devices_json(const nlohmann::json& parts);

std::string utc_now();

}  // namespace ticopd
