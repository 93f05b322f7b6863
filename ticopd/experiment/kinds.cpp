#include "ticopd/experiment/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "ticopd/data/agent_sources.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

bool has(const json& tree, std::string_view key) {
  return find_value(tree, key) != nullptr;
}

// The value of a key that chooses a kind; empty if it chooses none.
std::string choice(const json& tree, const std::string& chooser, std::span<const KeyInfo> keys) {
  const auto info = std::ranges::find(keys, chooser, &KeyInfo::name);
  json value = info == keys.end() ? json() : to_json(info->value);
  // codec.then is an option itself: it chooses nothing where nobody reads it.
  if (has(tree, chooser) && (info == keys.end() || uses(tree, *info, keys)))
    value = tree[pointer_to(chooser)];
  if (!value.is_string()) return {};
  return value;
}

// The kind that a key chooses: "csv" for problem.data = "csv:FILE".
std::string kind_of(const std::string& choice) {
  return choice.substr(0, choice.find(':'));
}

// True if one of the kinds is chosen. {agent} in problem.data is a kind beside its format.
bool chooses(const json& tree, const std::string& chooser, const std::vector<std::string>& kinds,
             std::span<const KeyInfo> keys) {
  const std::string value = choice(tree, chooser, keys);
  const auto among = [&](std::string_view kind) {
    return std::ranges::find(kinds, kind) != kinds.end();
  };
  return among(kind_of(value)) ||
         (chooser == "problem.data" && has_agent_sources(value) && among(agent_mark));
}

void remove(json& tree, std::string_view key) {
  const auto at = pointer_to(key);
  tree[at.parent_pointer()].erase(at.back());
}

void overlay(json& below, const json& above) {
  for (const auto& [key, value] : above.items())
    if (value.is_object() && below.contains(key) && below[key].is_object())
      overlay(below[key], value);
    else
      below[key] = value;
}

}  // namespace

bool has_external_objective(const json& tree) {
  const json* name = find_value(tree, "problem.objective");
  const ObjectiveInfo* info = name != nullptr && name->is_string()
                                  ? objective_table().find(name->get<std::string>())
                                  : nullptr;
  return info != nullptr && info->external;
}

bool names_agent_sources(const json& tree) {
  const json* data = find_value(tree, "problem.data");
  return data != nullptr && data->is_string() &&
         has_agent_sources(data->get_ref<const std::string&>());
}

bool uses(const json& tree, const KeyInfo& key, std::span<const KeyInfo> keys) {
  if (key.for_samples && has_external_objective(tree)) return false;
  if (key.for_one_source && names_agent_sources(tree)) return false;
  if (key.takers.empty()) return true;
  return std::ranges::any_of(key.choosers, [&](const std::string& chooser) {
    return chooser != key.name && chooses(tree, chooser, key.takers, keys);
  });
}

bool takes_default(const json& tree, const KeyInfo& key, std::span<const KeyInfo> keys) {
  return uses(tree, key, keys) &&
         std::ranges::none_of(key.choosers, [&](const std::string& chooser) {
           return chooses(tree, chooser, key.finders, keys);
         });
}

void refuse_unused(const json& tree, std::span<const KeyInfo> keys) {
  for (const KeyInfo& key : keys) {
    if (!has(tree, key.name) || uses(tree, key, keys)) continue;
    if (key.for_samples && has_external_objective(tree))
      throw ConfigError(
          fmt::format("{} = {}: problem.objective = \"{}\" does not use it, since a program brings "
                      "objective and "
                      "data; leave it out",
                      key.name, tree[pointer_to(key.name)].dump(),
                      tree[pointer_to("problem.objective")].get<std::string>()));
    if (key.for_one_source && names_agent_sources(tree))
      throw ConfigError(fmt::format(
          "{} = {}: problem.data = {} gives each agent samples of its own, and nothing "
          "is divided; leave it out",
          key.name, tree[pointer_to(key.name)].dump(), tree[pointer_to("problem.data")].dump()));
    const std::string& chooser = key.choosers.front();
    throw ConfigError(fmt::format(
        "{} = {}: {} = \"{}\" does not use it; leave it out, or take one of those that do: {}",
        key.name, tree[pointer_to(key.name)].dump(), chooser, kind_of(choice(tree, chooser, keys)),
        fmt::join(key.takers, ", ")));
  }
}

void remove_unused(json& tree) {
  const std::vector<KeyInfo> keys = config_keys();
  std::vector<std::string> unused;  // found first: removing codec.then changes what is used
  for (const KeyInfo& key : keys)
    if (has(tree, key.name) && !uses(tree, key, keys)) unused.push_back(key.name);
  for (const std::string& name : unused) remove(tree, name);
}

void drop_options_of_other_kinds(json& tree, const json& before, const json& above) {
  const std::vector<KeyInfo> keys = config_keys();
  const auto chosen_anew = [&](const std::string& chooser) {
    return has(above, chooser) &&
           (!has(before, chooser) || *find_value(before, chooser) != *find_value(above, chooser));
  };
  std::vector<std::string> unused;  // found first: removing codec.then changes what is used
  for (const KeyInfo& key : keys)
    if (has(tree, key.name) && !has(above, key.name) && !uses(tree, key, keys) &&
        std::ranges::any_of(key.choosers, chosen_anew))
      unused.push_back(key.name);
  for (const std::string& name : unused) remove(tree, name);
}

void lay_run_over(json& below, const json& above) {
  constexpr std::pair<const char*, const char*> kinds[] = {
      {"algorithm", "name"}, {"codec", "kind"}, {"graph", "kind"}};
  for (const auto& [table, kind] : kinds)
    if (const json* wanted = above.contains(table) ? &above[table] : nullptr;
        wanted != nullptr && wanted->is_object() && wanted->contains(kind) &&
        below.contains(table) && below[table].is_object() &&
        below[table].value(kind, json()) != (*wanted)[kind])
      below.erase(table);
  const json before = below;
  overlay(below, above);
  drop_options_of_other_kinds(below, before, above);
}

}  // namespace ticopd
