#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ticopd {

// How another program ended.
struct Outcome {
  bool fine = false;
  std::string reason;  // "not installed", or the start of its output, on one line
};

// Runs words[0] from the PATH in `folder`, without a shell, its output kept in a log there; ends it
// after `seconds`.
Outcome run_program(const std::vector<std::string>& words, const std::filesystem::path& folder,
                    int seconds);

}  // namespace ticopd
