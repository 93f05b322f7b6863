#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "ticopd/error.hpp"
#include "ticopd/site/connections.hpp"
#include "ticopd/site/network.hpp"
#include "ticopd/site/site_folder.hpp"

namespace ticopd {

struct ReplacedKey : ConfigError {
  using ConfigError::ConfigError;
};
void check_own_key(const Roster& roster, int own, const KeyPair& keys,
                   const std::filesystem::path& key_file);

// What came of a process in one epoch.
struct EpochEnd {
  std::optional<nlohmann::json> summary;  // empty: `next` is to be followed
  std::optional<AdoptedRoster> next;
};

// Runs the site with this number from what its folder holds: to the end of the run, or until a
// neighbour hands on the roster of another epoch. Opens the wire, and keeps the roster.
EpochEnd run_epoch(const JoinOptions& options, const AdoptedRoster& adopted, int own,
                   const KeyPair& keys, SiteFolder& folder, Connections& wire);

}  // namespace ticopd
