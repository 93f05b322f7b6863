// Reads and writes TOML. No other file knows its syntax.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "ticopd/error.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/kinds.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// Tables in tables: by dots in a key, or by brackets. The deepest key of a config has two dots. A
// parser that recurses would overflow the stack at some ten thousand.
constexpr int most_levels = 32;

// Finds a key with too many dots, or too many open brackets, without parsing more than strings and
// comments. Returns the line, or 0 if there is none.
class NestingCheck {
 public:
  explicit NestingCheck(std::string_view text) : text_(text) {}

  int line_too_deep() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#')
        skip_to_line_end();
      else if (c == '"' || c == '\'')
        skip_string(c);
      else if (!fits(c))
        return line_;
    }
    return 0;
  }

 private:
  bool fits(char c) {
    if (c == '\n') ++line_;
    if (c == '[' || c == '{') ++brackets_;
    if (c == ']' || c == '}') brackets_ = std::max(0, brackets_ - 1);
    if (c == '.') ++dots_;
    // A character that no dotted key has ends the key.
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots_ = 0;
    return brackets_ <= most_levels && dots_ <= most_levels;
  }

  void skip_to_line_end() {
    while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
  }

  // From the first quote to the last one, over several lines if there are three quotes.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool long_string = text_.substr(at_, 3) == three;
    at_ += long_string ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        if (!long_string) {  // not closed: the parser says so
          --at_;
          return;
        }
        ++line_;
      }
      if (text_[at_] == '\\' && quote == '"') {
        ++at_;
      } else if (long_string ? text_.substr(at_, 3) == three : text_[at_] == quote) {
        at_ += long_string ? 2 : 0;
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, brackets_ = 0, dots_ = 0;
};

toml::table parse(std::string_view text, const std::string& name) {
  if (const int line = NestingCheck(text).line_too_deep(); line > 0)
    throw ConfigError(
        fmt::format("{}:{}: tables are nested deeper than the {} levels that are allowed", name,
                    line, most_levels));
  return toml::parse(text, name);
}

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

// A basic string of TOML is written like one of JSON, but for DEL, which TOML wants escaped.
std::string quoted(const std::string& text) {
  std::string out = json(text).dump();
  for (std::size_t at = 0; (at = out.find('\x7f', at)) != std::string::npos;)
    out.replace(at, 1, "\\u007F");
  return out;
}

std::string key_text(const std::string& key) {
  const auto bare = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  if (!key.empty() && std::ranges::all_of(key, bare)) return key;
  return quoted(key);
}

std::string value_text(const json& value) {
  if (value.is_string()) return quoted(value.get<std::string>());
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

// "sweep.\"codec.bits\"" has two parts: a quoted one may have dots.
std::vector<std::string> parts_of_key(const std::string& key) {
  std::vector<std::string> parts{""};
  char quote = 0;
  for (const char c : key)
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

}  // namespace

std::string toml_value(const json& value) {
  return value_text(value);
}

std::string json_to_toml(const json& tree) {
  std::string text;
  write_table(tree, "", text);
  return text;
}

json toml_to_json(std::string_view text, const std::string& name) {
  try {
    return convert(parse(text, name), name);
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
  if (std::ranges::count(key, '.') > most_levels)
    throw ConfigError(fmt::format("--set {}...: nested deeper than the {} levels that are allowed",
                                  key.substr(0, 40), most_levels));
  const std::string value = assignment.substr(equals + 1);
  json parsed = value;
  try {
    parsed = convert(*parse("v = " + value, "--set " + key).get("v"), "--set " + key);
  } catch (const toml::parse_error&) {
    // The value is a bare word, such as --set codec.kind=qsgd: keep it as a string.
  }
  json* at = &tree;
  std::string table;
  for (const std::string& part : parts_of_key(key)) {
    if (at->is_null()) *at = json::object();
    if (!at->is_object())
      throw ConfigError(fmt::format("--set {}: {} is not a table", assignment, table));
    at = &(*at)[part];
    table += (table.empty() ? "" : ".") + part;
  }
  *at = parsed;
}

void apply_overrides(json& tree, std::span<const std::string> assignments) {
  const json before = tree;
  json above = json::object();
  for (const std::string& assignment : assignments) {
    apply_override(tree, assignment);
    apply_override(above, assignment);
  }
  drop_options_of_other_kinds(tree, before, above);
}

}  // namespace ticopd
