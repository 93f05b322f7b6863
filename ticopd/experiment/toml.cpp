// The one file that knows how TOML is spelt.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "ticopd/error.hpp"
#include "ticopd/experiment/config.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

json convert(const toml::node& node, const std::string& name) {
  switch (node.type()) {
    case toml::node_type::table: {
      json object = json::object();
      for (const auto& [key, value] : *node.as_table())
        object[std::string(key.str())] = convert(value, name);
      return object;
    }
    case toml::node_type::array: {
      json list = json::array();
      for (const auto& value : *node.as_array()) list.push_back(convert(value, name));
      return list;
    }
    case toml::node_type::string:
      return node.as_string()->get();
    case toml::node_type::integer:
      return node.as_integer()->get();
    case toml::node_type::floating_point:
      return node.as_floating_point()->get();
    case toml::node_type::boolean:
      return node.as_boolean()->get();
    default:
      throw ConfigError(fmt::format("{}:{}: dates and times have no meaning here", name,
                                    node.source().begin.line));
  }
}

toml::table to_table(const json& object);
toml::array to_array(const json& list);

// Hands `put` the value as the type that TOML has for it.
template <class Put>
void convert_to(const json& value, Put put) {
  if (value.is_object()) put(to_table(value));
  if (value.is_array()) put(to_array(value));
  if (value.is_string()) put(value.get<std::string>());
  if (value.is_boolean()) put(value.get<bool>());
  if (value.is_number_integer()) put(value.get<std::int64_t>());
  if (value.is_number_float()) put(value.get<double>());
}  // null: TOML has no word for it, so the key is left out

toml::table to_table(const json& object) {
  toml::table table;
  for (const auto& [key, value] : object.items())
    convert_to(value, [&, &k = key](auto&& node) { table.insert(k, std::move(node)); });
  table.is_inline(object.contains("schedule"));  // a step size reads best on one line
  return table;
}

toml::array to_array(const json& list) {
  toml::array array;
  for (const json& value : list)
    convert_to(value, [&](auto&& node) { array.push_back(std::move(node)); });
  return array;
}

}  // namespace

std::string json_to_toml(const json& tree) {
  std::ostringstream out;
  out << to_table(tree) << "\n";
  return out.str();
}

json toml_to_json(std::string_view text, const std::string& name) {
  try {
    return convert(toml::parse(text, name), name);
  } catch (const toml::parse_error& e) {
    throw ConfigError(fmt::format("{}:{}:{}: {}", name, e.source().begin.line,
                                  e.source().begin.column, e.description()));
  }
}

void apply_override(json& tree, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string key = assignment.substr(0, equals);
  if (equals == std::string::npos ||
      ("." + key + ".").find("..") != std::string::npos)  // no or an empty name
    throw UsageError(
        fmt::format("--set {}: expected key=value, such as --set graph.agents=20", assignment));
  const std::string value = assignment.substr(equals + 1);
  json parsed = value;
  try {
    parsed = convert(*toml::parse("v = " + value).get("v"), "--set " + key);
  } catch (const toml::parse_error&) {
    // a bare word, such as --set codec.kind=qsgd
  }
  json* at = &tree;
  std::istringstream parts(key);
  std::string table;
  for (std::string part; std::getline(parts, part, '.');) {
    if (at->is_null()) *at = json::object();
    if (!at->is_object())
      throw ConfigError(fmt::format("--set {}: {} is not a table", assignment, table));
    at = &(*at)[part];
    table += (table.empty() ? "" : ".") + part;
  }
  *at = parsed;
}

}  // namespace ticopd
