#pragma once

#include <cstdint>
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
// [codec] or [graph] of another kind. `seeds` and [sweep] make several runs of an entry; those that
// differ in their seed alone are a group.
struct RunSet {
  struct Run {
    std::string label;   // also the name in the config
    std::string folder;  // the label as a file name
    Config config;
    nlohmann::json given;      // the merged tables of the file: the config without defaults
    std::string warning = {};  // about shared keys that this run does not inherit

    std::string group = {};  // the label without the seed
    std::uint64_t seed = 0;
    std::vector<std::uint64_t> seeds = {};            // of the group; never empty
    nlohmann::json swept = nlohmann::json::object();  // full key -> value
  };

  std::string name;       // of the first file
  std::vector<Run> runs;  // never empty: a file without [[run]] is one run
  nlohmann::json shared;  // the first file without [[run]], seeds and [sweep]: [report] and [tune]
                          // count

  std::vector<std::string> sweep = {};    // all swept keys
  std::vector<std::uint64_t> seeds = {};  // all seeds; empty: the files give none
};

// One run for each seed, or one for all seeds of a group: `config` has the first then.
enum class Seeds { apart, together };

// ConfigError names file, run and key; it is also thrown if two runs have the same label, and for
// more than 10,000 runs.
RunSet read_run_set(std::span<const std::filesystem::path> files,
                    std::span<const std::string> overrides, Seeds seeds = Seeds::apart);

// The same from a tree that a program has made. Relative paths start at `folder`.
RunSet run_set_of(const nlohmann::json& tree, const std::filesystem::path& folder,
                  std::span<const std::string> overrides = {}, Seeds seeds = Seeds::apart);

// Lower-case letters, digits, dots, underscores and dashes; never empty, never hidden, at most so
// many.
std::string file_name_for(std::string_view label, std::size_t most = 60);

}  // namespace ticopd
