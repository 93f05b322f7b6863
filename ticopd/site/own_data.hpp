#pragma once

#include <string>

#include "ticopd/experiment/config.hpp"

// What sites read. A site knows its own samples alone, so the roster has the numbers of all: how
// many features, which labels, and how many samples each agent has.
namespace ticopd {

// The config of a roster with a site's own files. A path in the roster is another machine's.
Config with_own_data(const Config& config, const std::string& data, const std::string& test);

// ConfigError if problem.data has {agent} and the config does not say what each site must know.
void check_shard_facts(const Config& config);

// The same config with these numbers, counted in the shards of all agents if one is missing.
Config with_shard_facts(const Config& config);

}  // namespace ticopd
