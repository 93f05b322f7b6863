#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/mpirun.hpp"

namespace ticopd::app {

// Runs the command line until it ends, its output ours, and passes on what asks us to stop. `notes`
// is a file to be made, for what the ranks tell. `stop` says that a signal came before this.
Observed run_mpirun(const std::vector<std::string>& words, const std::filesystem::path& notes,
                    const std::atomic<bool>& stop);

}  // namespace ticopd::app
