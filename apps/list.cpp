#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/data/table.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/run/metrics.hpp"
#include "ticopd/transport/table.hpp"

namespace ticopd::app {
namespace {

using nlohmann::json;

// An entry of any list: its name, the options to set, and one line of explanation.
json entry(std::string_view name, const std::string& options, const std::string& summary) {
  return {{"name", name}, {"options", options}, {"summary", summary}};
}

json algorithms() {
  json list = json::array();
  for (const AlgorithmInfo& a : algorithm_table()) {
    json e = entry(a.name, "", std::string(a.paper) + (a.uncompressed ? "; uncompressed" : ""));
    std::string options;
    for (const ParameterInfo& p : a.parameters) {
      const std::string value = p.required          ? std::string()
                                : p.derived.empty() ? fmt::format(" = {}", p.value)
                                                    : fmt::format(" = {}", p.derived);
      options += fmt::format("{}{}{}", options.empty() ? "" : ", ", p.name, value);
      e["parameters"].push_back({{"name", p.name}, {"help", p.help}, {"required", p.required}});
    }
    for (const FlagInfo& f : a.flags) {
      options += fmt::format(", {} = {}", f.name, f.value);
      e["flags"].push_back({{"name", f.name}, {"help", f.help}, {"default", f.value}});
    }
    for (const ChoiceInfo& c : a.choices) {
      options += fmt::format(", {} = \"{}\"", c.name, c.value);
      e["choices"].push_back(
          {{"name", c.name}, {"help", c.help}, {"words", c.words}, {"default", c.value}});
    }
    e["options"] = options;
    list.push_back(e);
  }
  return list;
}

json kernels() {
  json list = json::array();
  for (const KernelInfo& k : kernel_table()) {
    json e = entry(k.name,
                   k.used        ? "used"
                   : k.available ? "available"
                                 : "not here",
                   std::string(k.summary));
    e["available"] = k.available;
    e["used"] = k.used;
    list.push_back(e);
  }
  return list;
}

// "bits = 8, scaled = true, k or fraction": the options that an entry takes, with their defaults.
template <class Options>
std::string options_text(const ticopd::Table<Option<Options>>& table,
                         const std::vector<std::string>& taken) {
  std::string text;
  for (const std::string& name : taken) {
    const OptionInfo& option = table.at(name);
    const char* between = !option.instead_of.empty() ? " or " : ", ";
    const std::string value = to_text(option.value);
    text += fmt::format("{}{}{}", text.empty() ? "" : between, name,
                        value.empty() ? "" : " = " + value);
  }
  return text;
}

json codecs() {
  json list = json::array();
  for (const CodecInfo& c : codec_table())
    list.push_back(entry(c.name, options_text(codec_options_table(), c.options), c.summary));
  return list;
}

json graphs() {
  json list = json::array();
  for (const GraphInfo& g : graph_table()) {
    const std::string options = options_text(graph_options_table(), g.options);
    list.push_back(entry(g.name, options.empty() ? "agents" : "agents, " + options, g.summary));
  }
  return list;
}

json objectives() {
  json list = json::array();
  for (const ObjectiveInfo& o : objective_table())
    list.push_back(entry(o.name, options_text(objective_options_table(), o.options), o.summary));
  return list;
}

json datasets() {
  json list = json::array();
  for (const DataInfo& d : data_table())
    list.push_back(entry(d.form(), options_text(data_options_table(), d.options), d.summary));
  return list;
}

json transports() {
  json list = json::array();
  for (const TransportInfo& t : transport_table()) {
    json e = entry(t.name, t.ranks == TransportInfo::Ranks::threads ? "ranks" : "", t.summary);
    e["processes"] = t.ranks == TransportInfo::Ranks::processes;
    list.push_back(e);
  }
  return list;
}

json metrics() {
  json list = json::array();
  for (const MetricInfo& m : metric_table()) {
    const std::string_view level = name_of(m.level);
    const char* better = m.better == Better::higher  ? "higher"
                         : m.better == Better::lower ? "lower"
                                                     : "";
    json e = entry(m.column,
                   fmt::format("log.level = \"{}\"{}", level,
                               *better == 0 ? "" : fmt::format(", {} is better", better)),
                   std::string(m.title));
    e["level"] = level;
    e["unit"] = m.unit;
    e["better"] = better;
    list.push_back(e);
  }
  return list;
}

struct List {
  std::string_view name;
  json (*make)();
};

const std::vector<List>& lists() {
  static const std::vector<List> all{{"algorithms", algorithms}, {"codecs", codecs},
                                     {"graphs", graphs},         {"objectives", objectives},
                                     {"datasets", datasets},     {"transports", transports},
                                     {"metrics", metrics},       {"kernels", kernels}};
  return all;
}

std::vector<std::string_view> list_names() {
  std::vector<std::string_view> names;
  for (const List& list : lists()) names.push_back(list.name);
  return names;
}

int list(const std::string& what, bool as_json) {
  json made = json::object();
  for (const List& l : lists())
    if (what.empty() || what == l.name) made[l.name] = l.make();
  if (as_json) {
    show_json(what.empty() ? made : made[what]);
    return 0;
  }
  for (const std::string_view name : list_names()) {
    if (!made.contains(name)) continue;
    if (what.empty()) show("{}\n", name);
    for (const json& e : made[name]) {
      const auto options = e["options"].get<std::string>();
      show("  {:<20} {}\n", e["name"].get<std::string>(), e["summary"].get<std::string>());
      if (!options.empty()) show("  {:<20}   {}\n", "", options);
    }
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("list", "List the algorithms, codecs, graphs, ...");
  auto what = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("WHAT", *what, fmt::format("{}; default: all", fmt::join(list_names(), ", ")))
      ->check(one_of(list_names()));
  command->add_flag("--json", *as_json, "Print JSON");
  command->footer("Example:\n  ticopd list algorithms");
  command->callback([=, &action] { action = [=] { return list(*what, *as_json); }; });
}

}  // namespace ticopd::app
