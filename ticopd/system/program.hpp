#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ticopd {

// The file of a program: an absolute path as it is, a bare name from the folders of PATH. Empty if
// there is none. Relative paths, and entries of PATH that are empty or relative, are never used:
// they would run a program of whatever folder the user is in.
std::filesystem::path find_program(std::string_view name);

// The program or library that an environment variable names; empty if the variable is not set. An
// absolute path, or where `on_path` allows it a name on PATH. UnavailableError that names the
// variable for anything else, and for a file that is not there.
enum class Named { absolute_path, path_or_name };
std::filesystem::path file_of_variable(const char* variable, Named named);

// How another program ended.
struct Outcome {
  bool fine = false;
  std::string reason = {};  // "not installed", or the start of its output, on one line
  std::string output = {};  // its first 64 KiB, of both streams
};

// Runs words[0] (see find_program) in `folder`, without a shell; ends it after `seconds`, or when
// `stop` is set, which throws Interrupted. It ends when this process ends, however that happens.
Outcome run_program(const std::vector<std::string>& words, const std::filesystem::path& folder,
                    int seconds, const std::atomic<bool>* stop = nullptr);

}  // namespace ticopd
