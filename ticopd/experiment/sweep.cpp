#include "ticopd/experiment/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

bool has_parameter(const AlgorithmInfo& info, std::string_view name) {
  const auto is_this = [&](const auto& part) { return part.name == name; };
  return std::ranges::any_of(info.parameters, is_this) ||
         std::ranges::any_of(info.flags, is_this) || std::ranges::any_of(info.choices, is_this);
}

constexpr std::string_view of_algorithm = "algorithm.";

bool is_known(const std::string& key, std::span<const KeyInfo> keys) {
  if (key == "algorithm.name" || std::ranges::find(keys, key, &KeyInfo::name) != keys.end())
    return true;
  return key.starts_with(of_algorithm) &&
         std::ranges::any_of(algorithm_table(), [&](const AlgorithmInfo& info) {
           return has_parameter(info, std::string_view(key).substr(of_algorithm.size()));
         });
}

void require_sweepable(const std::string& key, std::span<const KeyInfo> keys) {
  if (key == "seed")
    throw ConfigError("sweep.\"seed\": seeds are no values to compare; give seeds = 5, or a list");
  if (key == "name" || key.starts_with("report.") || key.starts_with("tune."))
    throw ConfigError(
        fmt::format("sweep.\"{}\": it changes no run; allowed are keys that do", printable(key)));
  if (is_known(key, keys)) return;
  try {
    refuse_unknown_key(key, keys);
  } catch (const ConfigError& e) {
    throw ConfigError(fmt::format("sweep: {}", e.what()));
  }
}

// `codec.bits = [1, 2]` without quotes, and as --set leaves it, is a table in a table.
void flatten(const json& table, const std::string& prefix, json& flat) {
  for (const auto& [name, value] : table.items()) {
    const std::string key = prefix + name;
    if (value.is_object())
      flatten(value, key + ".", flat);
    else
      flat[key] = value;
  }
}

Sweep::Axis axis_of(const std::string& key, const json& values) {
  if (!values.is_array())
    throw ConfigError(fmt::format("sweep.\"{}\" = {}: allowed is a list of values: [{}]", key,
                                  values.dump(), values.dump()));
  if (values.empty())
    throw ConfigError(
        fmt::format("sweep.\"{}\" = []: allowed is a list of at least one value", key));
  std::set<std::string> seen;
  const auto written = [](const json& v) {  // 1 and 1.0 are one value
    return v.is_number() ? fmt::format("{}", v.get<double>()) : v.dump();
  };
  for (const json& value : values)
    if (!seen.insert(written(value)).second)
      throw ConfigError(fmt::format("sweep.\"{}\": {} is given twice", key, value_in_words(value)));
  return {key, values};
}

// Keys that choose a kind come before the options of the kinds.
int turn_of(const std::string& key, std::span<const KeyInfo> keys) {
  const bool chooses =
      key == "algorithm.name" || std::ranges::any_of(keys, [&](const KeyInfo& other) {
        return std::ranges::find(other.choosers, key) != other.choosers.end();
      });
  const auto info = std::ranges::find(keys, key, &KeyInfo::name);
  const bool is_option = info != keys.end() && !info->takers.empty();
  return chooses ? (is_option ? 1 : 0) : 2;
}

bool is_used(const json& tree, const std::string& key, std::span<const KeyInfo> keys) {
  if (const auto info = std::ranges::find(keys, key, &KeyInfo::name); info != keys.end())
    return uses(tree, *info, keys);
  if (key == "algorithm.name") return true;
  const json* name = find_value(tree, "algorithm.name");
  const std::string chosen =
      name != nullptr && name->is_string() ? name->get<std::string>() : AlgorithmOptions{}.name;
  const auto info = std::ranges::find(algorithm_table(), chosen, &AlgorithmInfo::name);
  // Whoever reads the config refuses an unknown name.
  return info == algorithm_table().end() ||
         has_parameter(*info, std::string_view(key).substr(of_algorithm.size()));
}

// The number of agents belongs to the problem: a graph of another kind keeps it, unless it finds
// the number itself.
void choose(json& tree, const std::string& key, const json& value, std::span<const KeyInfo> keys) {
  constexpr const char* agents = "graph.agents";
  const json* given = find_value(tree, agents);
  const json before = given != nullptr ? *given : json();
  json above;
  above[pointer_to(key)] = value;
  lay_run_over(tree, above);
  const auto info = std::ranges::find(keys, agents, &KeyInfo::name);
  if (!before.is_null() && find_value(tree, agents) == nullptr && takes_default(tree, *info, keys))
    tree[pointer_to(agents)] = before;
}

void require_table_of(const std::string& key, const json& tree) {
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos) return;
  const std::string table = key.substr(0, dot);
  if (tree.contains(table) && !tree[table].is_object())
    refuse(table, tree[table], fmt::format("is a table: [{}]", table));
}

}  // namespace

std::string value_in_words(const json& value) {
  return value.is_string() ? value.get<std::string>() : toml_value(value);
}

double Sweep::size() const {
  double all = 1;
  for (const Axis& axis : axes) {
    const auto here = static_cast<double>(axis.values.size());
    all = zip ? here : all * here;
  }
  return all;
}

std::vector<json> Sweep::combination(std::size_t number) const {
  std::vector<json> values(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    const std::vector<json>& here = axes[a].values;
    values[a] = here[zip ? number : number % here.size()];
    number = zip ? number : number / here.size();
  }
  return values;
}

json sweep_in_tables(const json& table) {
  if (!table.is_object()) return table;
  json all = json::object();
  for (const auto& [key, values] : table.items()) {
    json* at = &all;
    std::istringstream parts(key + ".");
    for (std::string part; std::getline(parts, part, '.');) {
      if (!at->is_null() && !at->is_object()) return table;  // read_sweep says what is wrong
      at = &(*at)[part];
    }
    if (at->is_object() && values.is_object())
      at->update(values, true);
    else
      *at = values;
  }
  return all;
}

Sweep read_sweep(const json& table, std::span<const KeyInfo> keys) {
  Sweep sweep;
  if (table.is_null()) return sweep;
  if (!table.is_object()) refuse("sweep", table, "is a table: [sweep]");
  json flat = json::object();
  flatten(table, "", flat);
  if (flat.contains("mode")) {
    static constexpr std::string_view modes[] = {"product", "zip"};
    const std::string mode = value_in_words(flat["mode"]);
    if (std::ranges::find(modes, mode) == std::end(modes))
      throw ConfigError(not_allowed("sweep.mode", mode, modes));
    sweep.zip = mode == "zip";
    flat.erase("mode");
  }
  for (const auto& [key, values] : flat.items()) {
    require_sweepable(key, keys);
    sweep.axes.push_back(axis_of(key, values));
  }
  for (const Sweep::Axis& axis : sweep.axes)
    if (const Sweep::Axis& first = sweep.axes.front();
        sweep.zip && axis.values.size() != first.values.size())
      throw ConfigError(fmt::format(
          "sweep.\"{}\" has {} values and sweep.\"{}\" has {}: mode = \"zip\" takes one of each, "
          "so give as many",
          first.key, first.values.size(), axis.key, axis.values.size()));
  return sweep;
}

std::vector<std::uint64_t> read_seeds(const json& given, std::uint64_t first) {
  if (given.is_null()) return {};
  constexpr const char* allowed = "is a whole number from 1 to 10000, or a list of seeds";
  const Domain one = domain::whole(0, INT64_MAX);
  json value = given;
  if (!value.is_array()) {
    check_value("seeds", domain::whole(1, static_cast<std::int64_t>(most_runs)), value);
    const auto count = value.get<std::uint64_t>();
    if (first > static_cast<std::uint64_t>(INT64_MAX) - (count - 1))
      throw ConfigError(fmt::format("seeds = {}: the last seed would be above {}; lower seed = {}",
                                    count, INT64_MAX, first));
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t i = 0; i < count; ++i) seeds.push_back(first + i);
    return seeds;
  }
  if (value.empty()) refuse("seeds", value, allowed);
  std::vector<std::uint64_t> seeds;
  for (json& seed : value) {
    check_value("seeds: one of them", one, seed);
    if (std::ranges::find(seeds, seed.get<std::uint64_t>()) != seeds.end())
      throw ConfigError(fmt::format("seeds: {} is given twice", seed.dump()));
    seeds.push_back(seed);
    if (static_cast<double>(seeds.size()) > most_runs)
      throw ConfigError(fmt::format("seeds: {} are given; allowed {}", value.size(), allowed));
  }
  return seeds;
}

json sweep_into(json& tree, const Sweep& sweep, std::size_t number, std::span<const KeyInfo> keys) {
  const std::vector<json> values = sweep.combination(number);
  json swept = json::object();
  for (int turn = 0; turn <= 2; ++turn)
    for (std::size_t a = 0; a < values.size(); ++a) {
      const std::string& key = sweep.axes[a].key;
      if (turn_of(key, keys) != turn || !is_used(tree, key, keys)) continue;
      require_table_of(key, tree);
      if (turn < 2)
        choose(tree, key, values[a], keys);
      else
        tree[pointer_to(key)] = values[a];
      swept[key] = values[a];
    }
  return swept;
}

std::string swept_in_words(const json& swept) {
  std::string text;
  for (const auto& [key, value] : swept.items())
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, value_in_words(value));
  return text;
}

}  // namespace ticopd
