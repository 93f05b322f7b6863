#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ticopd/experiment/config.hpp"

namespace ticopd {

// Several runs on one problem: the input of `compare` and `tune`. A file has shared tables and
// [[run]] entries. Each entry overrides the shared tables key by key. An [algorithm] with another
// name inherits nothing, since the step sizes of one method mean nothing to another; nor does a
// [codec] or [graph] of another kind.
struct RunSet {
  struct Run {
    std::string label;   // also the name in the config
    std::string folder;  // the label as a file name
    Config config;
    nlohmann::json given;      // the merged tables of the file: the config without defaults
    std::string warning = {};  // about shared keys that this run does not inherit
  };

  std::string name;       // of the first file
  std::vector<Run> runs;  // never empty: a file without [[run]] is one run
  nlohmann::json shared;  // the first file without [[run]]: only its [report], [tune] count
};

// ConfigError names file, run and key; it is also thrown if two runs have the same label.
RunSet read_run_set(std::span<const std::filesystem::path> files,
                    std::span<const std::string> overrides);

// The same from a tree that a program has made. Relative paths start at `folder`.
RunSet run_set_of(const nlohmann::json& tree, const std::filesystem::path& folder,
                  std::span<const std::string> overrides = {});

// Lower-case letters, digits, dots, underscores and dashes; never empty, never hidden.
std::string file_name_for(std::string_view label);

}  // namespace ticopd
