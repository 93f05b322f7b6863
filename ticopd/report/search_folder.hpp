#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ticopd/report/series.hpp"

namespace ticopd {

// The folders of searches (`ticopd tune`) in this folder: itself, or those below it, by name.
std::vector<std::filesystem::path> searches_in(const std::filesystem::path& folder);

// Adds the trials of a search that have a result, each as a run whose rows are its results, and
// only the best if there are many. `missing` hears what is left out. FormatError if search.json or
// trials.csv is damaged.
void add_search(const std::filesystem::path& folder, const std::string& label,
                std::vector<Series>& runs, std::vector<std::string>& missing);

}  // namespace ticopd
