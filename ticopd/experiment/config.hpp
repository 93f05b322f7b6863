#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ticopd {

// An experiment's configuration: a tree of values as TOML has them, checked against one table of
// keys (config.cpp) and complete, defaults included. What is written to run.json can be run again.
class Config {
 public:
  // Reads a TOML file and applies `key=value` overrides. ConfigError names file and line, or the
  // key, what was given, what is allowed and the nearest valid word.
  static Config read(const std::filesystem::path& file, std::span<const std::string> overrides);
  // From TOML text, as if it stood in `folder`.
  static Config parse(std::string_view toml, const std::filesystem::path& folder,
                      std::span<const std::string> overrides = {});
  // From a tree in which every key was written by the user.
  static Config from_json(const nlohmann::json& tree, const std::filesystem::path& folder);
  // From the tree in run.json or a checkpoint. Version 0.1 wrote the options of all kinds there;
  // those that the chosen kinds do not use are dropped.
  static Config resolved(nlohmann::json tree, const std::filesystem::path& folder);

  Config(const Config&);
  Config(Config&&) noexcept;
  Config& operator=(Config) noexcept;
  ~Config();

  const nlohmann::json& tree() const { return *tree_; }
  const std::filesystem::path& folder() const { return folder_; }  // relative paths start here

  // The value of a dotted key, such as "graph.agents"; its default if it is an option that the
  // chosen kind does not use.
  template <class V>
  V get(std::string_view key) const;
  bool has(std::string_view key) const;

  // What decides a run's bits: everything but where and how it is run.
  nlohmann::json identity() const;

 private:
  Config(nlohmann::json tree, std::filesystem::path folder);

  std::unique_ptr<nlohmann::json> tree_;
  std::filesystem::path folder_;
};

// The first key in which two trees differ, with both values; empty where they are equal.
std::string first_difference(const nlohmann::json& ours, const nlohmann::json& theirs,
                             const std::string& words = "{} is {} now and was {}");

// A TOML file as a tree, unchecked. ConfigError naming the file.
nlohmann::json read_toml(const std::filesystem::path& file);

// TOML text as a tree; `name` is for messages. ConfigError with line and column.
nlohmann::json toml_to_json(std::string_view text, const std::string& name);

// The other way: keys first, then [tables] and [[lists of tables]].
std::string json_to_toml(const nlohmann::json& tree);

// A value as it stands behind the `=`: 0.1, "qsgd", [100, 50].
std::string toml_value(const nlohmann::json& value);

// "graph.agents=20" into a tree; the value is read as TOML, or else as a plain word.
void apply_override(nlohmann::json& tree, const std::string& assignment);

// All assignments of --set. Options of a kind that they replace go with it: after
// `--set graph.kind=torus` the file's graph.p is not used, and no error.
void apply_overrides(nlohmann::json& tree, std::span<const std::string> assignments);

}  // namespace ticopd
