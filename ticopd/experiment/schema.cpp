#include "ticopd/experiment/schema.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/data/table.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/experiment/sweep.hpp"
#include "ticopd/experiment/values.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

json closed_table(json properties) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

json reference(const std::string& definition) {
  return {{"$ref", "#/$defs/" + definition}};
}

json number_schema(double low, double high, bool low_allowed, bool whole = false) {
  json schema{{"type", whole ? "integer" : "number"}};
  if (std::isfinite(low)) schema[low_allowed ? "minimum" : "exclusiveMinimum"] = low;
  if (std::isfinite(high)) schema["maximum"] = high;
  return schema;
}

json whole_schema(std::int64_t least, std::int64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

// A table of metrics, or of keys to search. For a parameter: a number, a range, a schedule, or a
// list of words. For a key of a table, "codec.bits", or such a table itself: lists and ranges.
json table_schema() {
  const json number{{"type", "number"}}, texts{{"type", {"string", "boolean"}}};
  const json ends{{"low", number}, {"high", number}};
  const json range{{"type", "array"}, {"items", number}, {"minItems", 2}, {"maxItems", 2}};
  const json words{{"type", "array"}, {"items", texts}, {"minItems", 1}};
  json named_range = closed_table(ends);
  named_range["required"] = {"low", "high"};
  const json schedule{{"type", "object"}, {"required", json::array({"schedule"})}};
  const json list{{"type", "array"}, {"minItems", 1}};
  return {{"type", "object"},
          {"patternProperties",
           {{"[.]|^(codec|graph|algorithm)$", {{"anyOf", {list, {{"type", "object"}}}}}}}},
          {"additionalProperties", {{"anyOf", {number, range, named_range, schedule, words}}}}};
}

json domain_schema(const Domain& d) {
  switch (d.kind) {
    case Domain::Kind::boolean:
      return {{"type", "boolean"}};
    case Domain::Kind::integer:
      if (d.or_list)
        return {{"anyOf",
                 {whole_schema(d.least, d.most),
                  {{"type", "array"}, {"items", whole_schema(0, INT64_MAX)}, {"minItems", 1}}}}};
      if (d.words.empty()) return whole_schema(d.least, d.most);
      return {{"anyOf", {{{"enum", d.words}}, whole_schema(d.least, d.most)}}};
    case Domain::Kind::number:
      return number_schema(d.low, d.high, d.low_allowed);
    case Domain::Kind::word:
      return {{"enum", d.allowed_words()}};
    case Domain::Kind::integers:
      return {{"type", "array"}, {"items", whole_schema(d.least, d.most)}};
    case Domain::Kind::numbers:
      return {{"type", "array"},
              {"items", number_schema(d.low, d.high, d.low_allowed)},
              {"minItems", 1}};
    case Domain::Kind::table:
      return table_schema();
    case Domain::Kind::texts: {
      json item{{"type", "string"}};
      if (!d.words.empty()) item = {{"enum", d.words}};
      return {{"type", "array"}, {"items", std::move(item)}, {"minItems", 1}};
    }
    case Domain::Kind::text_table:
      return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    case Domain::Kind::text:
    case Domain::Kind::file:
      break;
  }
  return {{"type", "string"}};
}

// mnist, csv:FILE, ...
std::string data_pattern() {
  std::string pattern;
  for (const DataInfo& info : data_table())
    pattern += (pattern.empty() ? "" : "|") + info.name + (info.place.empty() ? "" : ":.+");
  return "^(" + pattern + ")$";
}

json key_schema(const KeyInfo& key) {
  json schema = domain_schema(key.domain);
  if (key.name == "problem.data") schema["pattern"] = data_pattern();
  schema["description"] = key.help;
  if (json value = to_json(key.value); !value.is_null()) schema["default"] = std::move(value);
  return schema;
}

// { schedule = "step", c = 0.1, factor = 0.5, every = 1000 }
json schedule_schema() {
  const json any = number_schema(0, HUGE_VAL, true), every = number_schema(1, HUGE_VAL, true);
  const auto kind = [](const char* name, json parts) {
    json required = json::array({"schedule"});
    for (const auto& [part, ignored] : parts.items()) required.push_back(part);
    parts["schedule"] = {{"const", name}};
    json schema = closed_table(std::move(parts));
    schema["required"] = std::move(required);
    return schema;
  };
  return {{"description", "a step size as a function of the round"},
          {"oneOf",
           {kind("constant", {{"c", any}}), kind("inverse_sqrt", {{"c", any}, {"t0", any}}),
            kind("inverse", {{"c", any}, {"t0", any}}),
            kind("step", {{"c", any}, {"factor", any}, {"every", every}})}}};
}

json parameter_schema(const ParameterInfo& p) {
  json schema = number_schema(p.range.low, p.range.high, p.range.low_allowed, p.range.whole);
  if (!p.range.constant) schema = {{"anyOf", {std::move(schema), reference("schedule")}}};
  schema["description"] = p.help;
  if (!p.required && p.derived.empty()) schema["default"] = p.value;
  return schema;
}

// The keys of [algorithm] for one algorithm, besides `name`.
json parameters_of(const AlgorithmInfo& info) {
  json all = json::object();
  for (const ParameterInfo& p : info.parameters) all[p.name] = parameter_schema(p);
  for (const FlagInfo& f : info.flags)
    all[f.name] = {{"type", "boolean"}, {"description", f.help}, {"default", f.value}};
  for (const ChoiceInfo& c : info.choices)
    all[c.name] = {{"enum", c.words}, {"description", c.help}, {"default", c.value}};
  return all;
}

// Each algorithm allows its own parameters alone. Without a name: in a config those of the default,
// in a [[run]] entry those of any algorithm, since the shared table may name it.
json algorithm_schema(bool in_run) {
  const std::string standard = AlgorithmOptions{}.name;
  json names = json::array(), cases = json::array(), any = json::object();
  for (const AlgorithmInfo& info : algorithm_table()) {
    names.push_back(info.name);
    json own = parameters_of(info);
    for (const auto& [name, ignored] : own.items()) any[name] = true;
    json is_this{{"properties", {{"name", {{"const", info.name}}}}}};
    if (in_run || info.name != standard) is_this["required"] = {"name"};
    own["name"] = true;
    cases.push_back({{"if", std::move(is_this)},
                     {"then", {{"properties", std::move(own)}, {"additionalProperties", false}}}});
  }
  json schema{{"type", "object"}, {"allOf", std::move(cases)}};
  const json name{{"enum", std::move(names)}, {"description", "which method runs"}};
  if (!in_run) {
    schema["properties"]["name"] = name;
    schema["properties"]["name"]["default"] = standard;
    return schema;
  }
  any["name"] = name;
  schema["properties"] = std::move(any);
  schema["additionalProperties"] = false;
  return schema;
}

json seeds_schema() {
  const json list{{"type", "array"},
                  {"items", whole_schema(0, INT64_MAX)},
                  {"minItems", 1},
                  {"uniqueItems", true}};
  return {{"description", "for compare and tune: so many runs, from `seed` on, or these seeds"},
          {"anyOf", {whole_schema(1, static_cast<std::int64_t>(most_runs)), list}}};
}

// Which keys there are depends on the kinds; the program says it.
json sweep_schema() {
  const json values{{"type", "array"}, {"minItems", 1}, {"uniqueItems", true}};
  const json table{{"type", "object"}, {"additionalProperties", values}};
  return {{"type", "object"},
          {"description",
           "for compare and tune: lists of values of any keys, such as "
           "\"codec.bits\" = [2, 4]; a run for every combination"},
          {"properties",
           {{"mode",
             {{"enum", {"product", "zip"}},
              {"default", "product"},
              {"description", "`zip`: the first values together, then the second, ..."}}}}},
          {"additionalProperties", {{"anyOf", {values, table}}}}};
}

}  // namespace

json config_schema() {
  json top = json::object(), tables = json::object();
  for (const KeyInfo& key : config_keys()) {
    const auto dot = key.name.find('.');
    if (dot == std::string::npos)
      top[key.name] = key_schema(key);
    else
      tables[key.name.substr(0, dot)][key.name.substr(dot + 1)] = key_schema(key);
  }
  json definitions{{"schedule", schedule_schema()},
                   {"algorithm", algorithm_schema(false)},
                   {"run_algorithm", algorithm_schema(true)}};
  for (auto& [name, keys] : tables.items()) {
    definitions[name] = closed_table(std::move(keys));
    top[name] = reference(name);
  }
  top["seeds"] = seeds_schema();
  top["sweep"] = sweep_schema();
  json run = top;
  run["algorithm"] = reference("run_algorithm");
  run["label"] = {{"type", "string"},
                  {"minLength", 1},
                  {"description", "names the run in tables and figures; no other run has it"}};
  definitions["run"] = closed_table(std::move(run));
  definitions["run"]["required"] = {"label"};
  top["algorithm"] = reference("algorithm");
  top["run"] = {{"type", "array"},
                {"items", reference("run")},
                {"description", "for compare and tune: runs laid over the shared tables"}};
  json schema = closed_table(std::move(top));
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "A ticopd config";
  schema["$defs"] = std::move(definitions);
  return schema;
}

}  // namespace ticopd
