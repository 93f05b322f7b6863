// Reads and writes TOML. No other file knows its syntax.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
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
      throw ConfigError(fmt::format("{}:{}: dates and times are not allowed here", name,
                                    node.source().begin.line));
  }
}

std::string key_text(const std::string& key) {
  const auto bare = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  if (!key.empty() && std::ranges::all_of(key, bare)) return key;
  return json(key).dump();  // a basic string of TOML is written like one of JSON
}

std::string value_text(const json& value) {
  if (value.is_number_float()) {
    const double v = value.get<double>();
    if (!std::isfinite(v)) return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
    const std::string text = fmt::format("{}", v);  // the shortest text that parses to this number
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  std::vector<std::string> parts;
  if (value.is_array())
    for (const json& v : value) parts.push_back(value_text(v));
  if (value.is_object())
    for (const auto& [k, v] : value.items()) parts.push_back(key_text(k) + " = " + value_text(v));
  if (value.is_array()) return fmt::format("[{}]", fmt::join(parts, ", "));
  if (value.is_object()) return fmt::format("{{ {} }}", fmt::join(parts, ", "));
  return value.dump();
}

bool is_table(const json& value) {  // a schedule of a step size is easier to read on one line
  return value.is_object() && !value.contains("schedule");
}

bool is_table_list(const json& value) {
  return value.is_array() && !value.empty() && std::ranges::all_of(value, is_table);
}

// Writes tables without toml++, which would write 0.1 as 0.10000000000000001: people read these
// files.
void write_table(const json& table, const std::string& path, std::string& text) {
  for (const auto& [key, value] : table.items())
    if (!is_table(value) && !is_table_list(value) && !value.is_null())
      text += fmt::format("{} = {}\n", key_text(key), value_text(value));
  for (const auto& [key, value] : table.items()) {
    const std::string name = path + key_text(key);
    if (is_table(value)) {
      text += fmt::format("\n[{}]\n", name);
      write_table(value, name + ".", text);
    }
    if (is_table_list(value))
      for (const json& entry : value) {
        text += fmt::format("\n[[{}]]\n", name);
        write_table(entry, name + ".", text);
      }
  }
}

}  // namespace

std::string json_to_toml(const json& tree) {
  std::string text;
  write_table(tree, "", text);
  return text;
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
      ("." + key + ".").find("..") != std::string::npos)  // an empty part
    throw UsageError(
        fmt::format("--set {}: expected key=value, such as --set graph.agents=20", assignment));
  const std::string value = assignment.substr(equals + 1);
  json parsed = value;
  try {
    parsed = convert(*toml::parse("v = " + value).get("v"), "--set " + key);
  } catch (const toml::parse_error&) {
    // The value is a bare word, such as --set codec.kind=qsgd: keep it as a string.
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
