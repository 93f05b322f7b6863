#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ticopd/experiment/config.hpp"

namespace ticopd {

// Several runs on one problem: what `compare` makes and `tune` tunes. A file's shared tables and
// its
// [[run]] entries, each laid over the shared tables key by key; an [algorithm] with another name
// starts from nothing, since the step sizes of one method mean nothing to another.
struct RunSet {
  struct Run {
    std::string label;   // the config's name, too
    std::string folder;  // the label, fit for a file name
    Config config;
    nlohmann::json given;  // what the file says, laid over: the config without its defaults
  };

  std::string name;       // of the first file
  std::vector<Run> runs;  // at least one: a file without [[run]] is one run
  nlohmann::json shared;  // the first file's tree without [[run]]: its [report] and [tune] count
};

// ConfigError naming file, run and key; two runs with one label are refused.
RunSet read_run_set(std::span<const std::filesystem::path> files,
                    std::span<const std::string> overrides);

// Letters, digits, dots and dashes; never empty, never hidden.
std::string file_name_for(std::string_view label);

}  // namespace ticopd
