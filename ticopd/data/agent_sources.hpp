#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "ticopd/data/normalize.hpp"
#include "ticopd/data/npy_source.hpp"
#include "ticopd/data/table.hpp"

// problem.data with {agent} in its place, such as csv:shard-{agent}.csv: each agent has training
// samples of its own, and nothing is divided. A process reads those of the agents that it hosts.
namespace ticopd {

inline constexpr std::string_view agent_mark = "{agent}";

bool has_agent_sources(std::string_view data);

// The place of one agent's samples.
std::filesystem::path agent_place(const DataOptions& options, std::size_t agent);

// A process must know this of the samples of all agents.
struct ShardFacts {
  std::vector<std::size_t> samples;   // of each agent
  std::vector<std::size_t> features;  // of each agent; a sparse shard may have fewer than there are
  std::vector<std::size_t> forms;     // of each agent: bytes, numbers or sparse, as in Dataset
  std::vector<double> labels;         // those that occur, ascending; none: they are targets
};

// Gives this process's facts to all processes; returns those of all, in the order of the agents.
using ShareFacts = std::function<std::vector<ShardFacts>(const ShardFacts& mine)>;

template <class T>
struct AgentSamples {
  std::vector<Dataset<T>> shards;    // of the hosted agents
  std::vector<std::size_t> samples;  // of every agent
  std::size_t features = 0;
  std::vector<double> labels;  // of all agents, as in the files; none: targets
  Dataset<T> test;
  int classes = 0;
  Moments moments;  // by which all was normalized; none: it was not
};

// ConfigError for keys that suit neither {agent} nor the number of agents. Reads no file.
void check_agent_sources(const DataOptions& options, std::size_t agents);

// The key that is missing where processes read their own shards and cannot ask the others; empty:
// none is.
std::string_view missing_shard_fact(const DataOptions& options);

// One file with the same samples, cut into these blocks, makes the same shards bit for bit.
// FormatError naming agent and file for a shard that does not parse, or suits neither the config
// nor the others. Without `share` all agents are hosted, or the config has the facts.
template <class T>
AgentSamples<T> load_agent_sources(const DataOptions& options, std::size_t agents,
                                   AgentRange hosted, const ShareFacts& share = {});

}  // namespace ticopd
