#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/mpirun.hpp"

namespace ticopd::app {

// Runs the command line until it ends and forwards signals that ask us to stop. Its output goes to
// our stdout and stderr. `notes` is a new file for the rank notes (rank_notes.hpp). `elsewhere`:
// some ranks may run on other machines. `stop` is true if such a signal came before this call.
Observed run_mpirun(const std::vector<std::string>& words, const std::filesystem::path& notes,
                    bool elsewhere, const std::atomic<bool>& stop);

}  // namespace ticopd::app
