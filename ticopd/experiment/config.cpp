#include "ticopd/experiment/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/plugins.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using Keys = std::vector<KeyInfo>;

void refuse_unknown(const json& table, const std::string& prefix, const Keys& keys) {
  for (const auto& [name, value] : table.items()) {
    const std::string key = prefix + name;
    if (key == "run")
      throw ConfigError("[[run]]: this file lists several runs: `ticopd compare` makes them all");
    if (key == "seeds" || key == "sweep")
      throw ConfigError(
          fmt::format("{}: this file asks for several runs: `ticopd compare` makes them all", key));
    const auto is_this = [&](const KeyInfo& k) { return k.name == key; };
    const auto is_inside = [&](const KeyInfo& k) { return k.name.starts_with(key + "."); };
    if (std::ranges::any_of(keys, is_this)) continue;
    if (!std::ranges::any_of(keys, is_inside)) refuse_unknown_key(key, keys);
    if (!value.is_object()) refuse(key, value, fmt::format("is a table: [{}]", key));
    refuse_unknown(value, key + ".", keys);
  }
}

// Names are checked here; values against the ranges of the algorithm's header when it is made.
void check_algorithm(json& table) {
  if (table.is_null()) table = json::object();
  if (!table.is_object()) refuse("algorithm", table, "is a table: [algorithm]");
  json& name = table.emplace("name", "ticopd").first.value();
  check_value("algorithm.name", domain::text(), name);
  const AlgorithmInfo& info = algorithm_info(name.get<std::string>());
  for (const FlagInfo& flag : info.flags)
    check_value("algorithm." + std::string(flag.name), domain::boolean(),
                table.emplace(flag.name, flag.value).first.value());
  for (const ChoiceInfo& choice : info.choices)
    check_value("algorithm." + std::string(choice.name), domain::word(choice.words),
                table.emplace(choice.name, choice.value).first.value());
  for (const ParameterInfo& p : info.parameters)
    if (!p.required && p.derived.empty()) table.emplace(p.name, p.value);
}

// F_t is of TiCoPD's theorem, and couples all agents.
void refuse_lyapunov(const json& tree) {
  if (!tree["log"]["lyapunov"].get<bool>()) return;
  const auto need = [](const char* key, const json& given, const char* allowed) {
    if (given != allowed)
      throw ConfigError(fmt::format("log.lyapunov = true needs {} = \"{}\", here it is {}", key,
                                    allowed, given.dump()));
  };
  need("algorithm.name", tree["algorithm"]["name"], "ticopd");
  need("network.transport", tree["network"]["transport"], "none");
}

// run.json and tables are text: a name that is none could not be written at the end of the run.
void refuse_bytes(const json& value, const std::string& key) {
  const auto refuse_unless_text = [&](const std::string& text, const std::string& where) {
    if (!is_utf8(text))
      throw ConfigError(
          fmt::format("{} = \"{}\": is not UTF-8; give it a name that is", where, printable(text)));
  };
  if (value.is_string()) refuse_unless_text(value.get_ref<const std::string&>(), key);
  if (value.is_object())
    for (const auto& [name, part] : value.items()) {
      refuse_unless_text(name, "the key");
      refuse_bytes(part, key.empty() ? name : key + "." + name);
    }
  if (value.is_array())
    for (const json& part : value) refuse_bytes(part, key);
}

json complete(json tree) {
  if (!tree.is_object()) throw ConfigError("the config is not a table of keys");
  refuse_bytes(tree, "");
  json algorithm = tree.contains("algorithm") ? tree["algorithm"] : json();
  tree.erase("algorithm");
  const Keys keys = config_keys();
  refuse_unknown(tree, "", keys);
  for (const KeyInfo& key : keys)
    if (const auto at = pointer_to(key.name); tree.contains(at))
      check_value(key.name, key.domain, tree[at]);
  refuse_unused(tree, keys);
  for (const KeyInfo& key : keys)
    if (const auto at = pointer_to(key.name); !tree.contains(at) && takes_default(tree, key, keys))
      if (json value = to_json(key.value); !value.is_null()) tree[at] = std::move(value);
  check_algorithm(algorithm);
  tree["algorithm"] = std::move(algorithm);
  refuse_lyapunov(tree);
  return tree;
}

}  // namespace

Config::Config(json tree, fs::path folder)
    : tree_(std::make_unique<json>(complete(std::move(tree)))), folder_(std::move(folder)) {
  if (!is_utf8(folder_.string()))
    throw ConfigError(
        fmt::format("the config's folder \"{}\": its name is not UTF-8, and run.json "
                    "must name it; rename it",
                    printable(folder_.string())));
}
Config::Config(const Config& other)
    : tree_(std::make_unique<json>(*other.tree_)), folder_(other.folder_) {}
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(Config other) noexcept {
  std::swap(tree_, other.tree_);
  std::swap(folder_, other.folder_);
  return *this;
}
Config::~Config() = default;

json read_toml(const fs::path& file) {
  if (std::error_code ignored; fs::is_directory(file, ignored))
    throw ConfigError(fmt::format("{}: is a folder; expected a TOML file", file.string()));
  std::string content;
  try {
    content = read_bytes(file);
  } catch (const Interrupted&) {  // a pipe that says nothing
    throw;
  } catch (const Error& e) {
    throw ConfigError(fmt::format("{}; expected a TOML file", e.what()));
  }
  return toml_to_json(content, file.string());
}

Config Config::read(const fs::path& file, std::span<const std::string> overrides) {
  json tree = read_toml(file);
  apply_overrides(tree, overrides);
  fs::path folder = file.parent_path();
  const bool piped = folder == "/dev" || folder == "/dev/fd";  // no place for data files
  if (!tree.contains("name")) tree["name"] = piped ? "run" : file.stem().string();
  if (piped || folder.empty()) folder = ".";
  refuse_missing_plugins(tree, folder);
  return {std::move(tree), std::move(folder)};
}

Config Config::parse(std::string_view toml, const fs::path& folder,
                     std::span<const std::string> overrides) {
  json tree = toml_to_json(toml, "config");
  apply_overrides(tree, overrides);
  if (!tree.contains("name")) tree["name"] = "run";
  refuse_missing_plugins(tree, folder);
  return {std::move(tree), folder};
}

Config Config::from_json(const json& tree, const fs::path& folder) {
  refuse_missing_plugins(tree, folder);
  return {tree, folder};
}

Config Config::resolved(json tree, const fs::path& folder) {
  if (tree.is_object()) remove_unused(tree);
  return {std::move(tree), folder};
}

bool Config::has(std::string_view key) const {
  return find_value(*tree_, key) != nullptr;
}

template <class V>
V Config::get(std::string_view key) const {
  if (has(key)) return tree_->at(pointer_to(key)).get<V>();
  for (const KeyInfo& k : config_keys())  // an option that the chosen kind does not use
    if (k.name == key) return to_json(k.value).get<V>();
  throw std::logic_error("Config::get: no key " + std::string(key));
}
template bool Config::get<bool>(std::string_view) const;
template int Config::get<int>(std::string_view) const;
template std::uint32_t Config::get<std::uint32_t>(std::string_view) const;
template std::uint64_t Config::get<std::uint64_t>(std::string_view) const;
template double Config::get<double>(std::string_view) const;
template std::string Config::get<std::string>(std::string_view) const;
template std::vector<int> Config::get<std::vector<int>>(std::string_view) const;

json Config::identity() const {
  json tree = *tree_;
  const json network = tree["network"];
  for (const char* key :
       {"name", "network", "checkpoint", "plugins", "report", "figure", "tune"})
    tree.erase(key);
  if (network["noise"] != "none")  // of the network only what changes the run's bits
    tree["network"] = {{"noise", network["noise"]}, {"noise_scale", network["noise_scale"]}};
  // These keys change metrics.csv and no bit of the run. Folders of 0.1 do not have them.
  for (const std::string name : {"log.level", "log.samples", "log.agents"})
    if (tree.at(pointer_to(name)) == to_json(plain_keys().at(name).value))
      tree["log"].erase(name.substr(name.find('.') + 1));
  return tree;
}

std::string first_difference(const json& ours, const json& theirs, const std::string& words) {
  const json a = ours.flatten(), b = theirs.flatten();
  const auto dotted = [](std::string key) {
    std::ranges::replace(key, '/', '.');
    return key.substr(1);
  };
  for (const auto& [key, value] : a.items())
    if (!b.contains(key) || b[key] != value)
      return fmt::format(fmt::runtime(words), dotted(key), value.dump(),
                         b.contains(key) ? b[key].dump() : "not there");
  for (const auto& [key, value] : b.items())
    if (!a.contains(key))
      return fmt::format(fmt::runtime(words), dotted(key), "not there", value.dump());
  return {};
}

}  // namespace ticopd
