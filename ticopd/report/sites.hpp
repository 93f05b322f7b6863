#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace ticopd {

// True for the folder of a site, begun or not.
bool is_site_folder(const std::filesystem::path& folder);

// The facts of `ticopd network status --json` of the sites among these arguments (DIR or
// LABEL=DIR), in their order; an empty list if there are none. Throws nothing.
nlohmann::json sites_of(std::span<const std::string> words);

}  // namespace ticopd
