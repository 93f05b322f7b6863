#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "ticopd/graph/graph.hpp"

namespace ticopd::counted_run {

using nlohmann::json;

// One part of a run between a start and a stop: its rounds, and the first agent of each rank.
struct Life {
  std::vector<int> first;
  int rounds;
};

inline int owner(const Life& life, int agent) {
  int rank = 0;
  for (const int first : life.first)
    if (first <= agent) ++rank;
  return rank - 1;
}

// Agents send messages of different lengths, so that the audit notices two swapped agents.
inline std::uint64_t payload(int agent, int rounds) {
  return static_cast<std::uint64_t>(rounds * (100 + agent));
}

inline json part_of(const Graph& graph, const Life& life, int from_round) {
  json agents = json::array(), frames = json::array();
  for (int i = 0; i < graph.agents(); ++i) {
    const std::uint64_t bytes = payload(i, life.rounds);
    agents.push_back({{"agent", i}, {"messages", life.rounds}, {"payload_bytes", bytes}});
    std::set<int> ranks;
    for (const int j : graph.neighbours(i)) ranks.insert(owner(life, j));
    ranks.erase(owner(life, i));
    for (const int r : ranks)
      frames.push_back({{"agent", i},
                        {"rank", r},
                        {"frames", life.rounds},
                        {"bytes", bytes + 56u * static_cast<std::uint64_t>(life.rounds)}});
  }
  return {{"ranks", life.first.size()}, {"first", life.first},
          {"from_round", from_round},   {"to_round", from_round + life.rounds},
          {"agents", agents},           {"sent", frames},
          {"received", frames}};
}

inline json ranks_of(const json& part, const Life& life, int agents) {
  json ranks = json::array();
  for (std::size_t r = 0; r < life.first.size(); ++r) {
    const int last = r + 1 < life.first.size() ? life.first[r + 1] - 1 : agents - 1;
    std::uint64_t frames[2] = {}, bytes[2] = {};
    for (const json& entry : part["sent"]) {
      const bool ours[2] = {owner(life, entry["agent"].get<int>()) == static_cast<int>(r),
                            entry["rank"].get<std::size_t>() == r};
      for (const int way : {0, 1})
        if (ours[way]) {
          frames[way] += entry["frames"].get<std::uint64_t>();
          bytes[way] += entry["bytes"].get<std::uint64_t>();
        }
    }
    const auto direction = [&](int way) {
      return json{{"frames", frames[way]},
                  {"payload_bytes", bytes[way] - 56 * frames[way]},
                  {"framing_bytes", 56 * frames[way]}};
    };
    ranks.push_back({{"rank", r},
                     {"host", "a"},
                     {"agents", {life.first[r], last}},
                     {"sent", direction(0)},
                     {"received", direction(1)},
                     {"control", {{"sent_bytes", 7}, {"received_bytes", 9}}}});
  }
  return ranks;
}

inline json summary_of(const Graph& graph, const std::vector<Life>& lives,
                       const std::string& kind = "mpi") {
  json parts = json::array(), agents = json::array(), links = json::array();
  json edges = json::array();
  int rounds = 0;
  for (const Life& life : lives) {
    parts.push_back(part_of(graph, life, rounds));
    rounds += life.rounds;
  }
  std::uint64_t total = 0;
  for (int i = 0; i < graph.agents(); ++i) {
    const std::uint64_t bytes = payload(i, rounds);
    total += bytes;
    agents.push_back(
        {{"agent", i}, {"messages", rounds}, {"payload_bytes", bytes}, {"paper_bits", 1.5}});
    for (const int j : graph.neighbours(i)) {
      links.push_back({{"from", i}, {"to", j}, {"payload_bytes", bytes}});
      if (i < j) edges.push_back({i, j});
    }
  }
  const json ranks = ranks_of(parts.back(), lives.back(), graph.agents());
  const json summary = {
      {"agents", graph.agents()},
      {"edges", edges},
      {"iterations", rounds},
      {"ledger", {{"payload_bytes", total}, {"agents", agents}, {"links", links}}},
      {"transport", {{"kind", kind}, {"ranks", ranks}, {"parts", parts}}}};
  return json::parse(summary.dump());  // as if read from a file
}

}  // namespace ticopd::counted_run
