#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/data/source.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"
#include "ticopd/objectives/registry.hpp"

namespace ticopd::app {
namespace {

using nlohmann::json;

// Every list is entries with a name, what to set, and a line of explanation.
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

json make_list(const std::string& what) {
  if (what == "algorithms") return algorithms();
  if (what == "kernels") return kernels();
  json list = json::array();
  if (what == "codecs")
    for (const auto& c : codec_table())
      list.push_back(entry(c.kind, std::string(c.options), std::string(c.summary)));
  if (what == "graphs")
    for (const auto& g : graph_table())
      list.push_back(entry(g.kind, std::string(g.options), std::string(g.summary)));
  if (what == "objectives")
    for (const auto& o : objective_table())
      list.push_back(entry(o.name, "", std::string(o.summary)));
  if (what == "datasets")
    for (const auto& d : data_table()) list.push_back(entry(d.name, "", std::string(d.summary)));
  return list;
}

int list(const std::string& what, bool as_json) {
  static const std::vector<std::string> all = {"algorithms", "codecs",   "graphs",
                                               "objectives", "datasets", "kernels"};
  json lists = json::object();
  for (const std::string& name : all)
    if (what.empty() || what == name) lists[name] = make_list(name);
  if (as_json) {
    fmt::print("{}\n", (what.empty() ? lists : lists[what]).dump(2));
    return 0;
  }
  for (const std::string& name : all) {
    if (!lists.contains(name)) continue;
    if (what.empty()) fmt::print("{}\n", name);
    for (const json& e : lists[name]) {
      const auto options = e["options"].get<std::string>();
      fmt::print("  {:<20} {}\n", e["name"].get<std::string>(), e["summary"].get<std::string>());
      if (!options.empty()) fmt::print("  {:<20}   {}\n", "", options);
    }
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("list", "What there is: algorithms, codecs, graphs, ...");
  auto what = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command
      ->add_option("WHAT", *what,
                   "algorithms, codecs, graphs, objectives, datasets or kernels; default: all")
      ->check(one_of({"algorithms", "codecs", "graphs", "objectives", "datasets", "kernels"}));
  command->add_flag("--json", *as_json, "As JSON");
  command->footer("Example:\n  ticopd list algorithms");
  command->callback([=, &action] { action = [=] { return list(*what, *as_json); }; });
}

}  // namespace ticopd::app
