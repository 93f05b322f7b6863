#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

// The plug-ins of this process (system/plugins.hpp) in configs and in run.json.
namespace ticopd {

// One object for each: file (as given), name, version, hash. Empty: none is loaded.
nlohmann::json plugins_json();

// Says what differs between the plug-ins of a run and those here; empty if nothing does. Paths do
// not count, since the same file may lie elsewhere now.
std::string difference_of_plugins(const nlohmann::json& here, const nlohmann::json& there);

// ConfigError, with the option to type, if plugins.path of a config names a file that is not
// loaded. The key declares what a config needs; it loads nothing.
void refuse_missing_plugins(const nlohmann::json& tree, const std::filesystem::path& folder);

}  // namespace ticopd
