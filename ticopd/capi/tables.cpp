#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/capi/call.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/data/table.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/experiment/schema.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/run/metrics.hpp"

// What there is, as data: other languages make their classes and signatures of it.
using namespace ticopd;
using nlohmann::json;

namespace {

json bound(double value) {
  return std::isfinite(value) ? json(value) : json();
}

const char* name_of(Domain::Kind kind) {
  switch (kind) {
    case Domain::Kind::boolean:
      return "boolean";
    case Domain::Kind::integer:
      return "integer";
    case Domain::Kind::number:
      return "number";
    case Domain::Kind::word:
      return "word";
    case Domain::Kind::text:
      return "text";
    case Domain::Kind::file:
      return "file";
    case Domain::Kind::integers:
      return "integers";
    case Domain::Kind::numbers:
      return "numbers";
    case Domain::Kind::texts:
      return "texts";
    case Domain::Kind::table:
    case Domain::Kind::text_table:
      break;
  }
  return "table";
}

json option(const OptionInfo& o) {
  const Domain& domain = o.domain;
  json all{{"name", o.name},
           {"help", o.help},
           {"default", to_json(o.value)},
           {"kind", name_of(domain.kind)},
           {"instead_of", o.instead_of}};
  if (domain.kind == Domain::Kind::integer || domain.kind == Domain::Kind::integers) {
    all["least"] = domain.least;
    all["most"] = domain.most;
  }
  if (domain.kind == Domain::Kind::number || domain.kind == Domain::Kind::numbers) {
    all["low"] = bound(domain.low);
    all["high"] = bound(domain.high);
    all["low_allowed"] = domain.low_allowed;
  }
  if (const auto words = domain.allowed_words(); !words.empty()) all["words"] = words;
  return all;
}

template <class Options>
json options(const Options& table) {
  json all = json::array();
  for (const OptionInfo& o : table) all.push_back(option(o));
  return all;
}

// Entries that have a name, a summary and options.
template <class Entries>
json entries(const Entries& table) {
  json all = json::array();
  for (const auto& e : table)
    all.push_back({{"name", e.name}, {"summary", e.summary}, {"options", e.options}});
  return all;
}

json parameter(const ParameterInfo& p) {
  return {{"name", p.name},
          {"help", p.help},
          {"required", p.required},
          {"default", p.required || !p.derived.empty() ? json() : json(p.value)},
          {"derived", p.derived},
          {"low", bound(p.range.low)},
          {"high", bound(p.range.high)},
          {"low_allowed", p.range.low_allowed},
          {"whole", p.range.whole},
          {"constant", p.range.constant}};
}

json algorithms() {
  json all = json::array();
  for (const AlgorithmInfo& a : algorithm_table()) {
    json e{{"name", a.name},
           {"paper", a.paper},
           {"uncompressed", a.uncompressed},
           {"own_codec", a.own_codec},
           {"parameters", json::array()},
           {"flags", json::array()},
           {"choices", json::array()}};
    for (const ParameterInfo& p : a.parameters) e["parameters"].push_back(parameter(p));
    for (const FlagInfo& f : a.flags)
      e["flags"].push_back({{"name", f.name}, {"help", f.help}, {"default", f.value}});
    for (const ChoiceInfo& c : a.choices)
      e["choices"].push_back(
          {{"name", c.name}, {"help", c.help}, {"words", c.words}, {"default", c.value}});
    all.push_back(std::move(e));
  }
  return all;
}

json metrics() {
  json all = json::array();
  for (const MetricInfo& m : metric_table())
    all.push_back({{"name", m.column},
                   {"title", m.title},
                   {"unit", m.unit},
                   {"help", m.help},
                   {"level", ticopd::name_of(m.level)},
                   {"better", m.better == Better::higher  ? "higher"
                              : m.better == Better::lower ? "lower"
                                                          : ""}});
  return all;
}

}  // namespace

extern "C" {

int tc_tables(char** text) {
  return capi::call([&] {
    capi::give(json{{"algorithms", algorithms()},
                    {"codecs", entries(codec_table())},
                    {"codec_options", options(codec_options_table())},
                    {"graphs", entries(graph_table())},
                    {"graph_options", options(graph_options_table())},
                    {"objectives", entries(objective_table())},
                    {"objective_options", options(objective_options_table())},
                    {"data", entries(data_table())},
                    {"data_options", options(data_options_table())},
                    {"metrics", metrics()},
                    {"keys", options(config_keys())}},
               text);
  });
}

int tc_schema(char** text) {
  return capi::call([&] { capi::give(config_schema(), text); });
}
}
