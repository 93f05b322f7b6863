#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/tune/axes.hpp"
#include "ticopd/tune/limits.hpp"
#include "ticopd/tune/tune.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Makes paths absolute: the config names files relative to its own folder, and tuned.toml is
// written to another one.
void name_files_from_anywhere(json& tree, const fs::path& folder) {
  const auto whole = [&](const std::string& place) {
    return fs::absolute(folder / place).lexically_normal().string();
  };
  for (const char* key : {"/problem/test", "/graph/path"})
    if (const json::json_pointer at(key); tree.contains(at) && tree[at].is_string())
      tree[at] = whole(tree[at]);
  if (const auto at = "/plugins/path"_json_pointer; tree.contains(at))
    for (json& file : tree[at]) file = whole(file);
  const auto data = "/problem/data"_json_pointer;
  if (!tree.contains(data) || !tree[data].is_string()) return;
  const std::string form = tree[data];  // csv:FILE
  if (const std::size_t colon = form.find(':'); colon != std::string::npos)
    tree[data] = form.substr(0, colon + 1) + whole(form.substr(colon + 1));
}

// The keys of `above` that differ from `below`.
json beyond(const json& above, const json& below) {
  json rest = json::object();
  for (const auto& [key, value] : above.items()) {
    // Another method inherits no step sizes.
    const bool other_method = key == "algorithm" && below.contains(key) &&
                              value.value("name", json()) != below[key].value("name", json());
    if (value.is_object() && below.contains(key) && below[key].is_object() && !other_method) {
      if (json inner = beyond(value, below[key]); !inner.empty()) rest[key] = std::move(inner);
    } else if (!below.contains(key) || value != below[key]) {
      rest[key] = value;
    }
  }
  return rest;
}

json tuned_tree(const RunSet::Run& run, const Tuned& tuned) {
  json tree = run.given;
  tree["iterations"] = tuned.rounds;
  tree["algorithm"]["name"] = run.config.get<std::string>("algorithm.name");
  if (tree.contains("/tune/search"_json_pointer)) {
    const json kept = read_axes(run.config).tree["algorithm"];  // with values to keep
    const json& before = run.config.tree()["algorithm"];
    for (const auto& [name, value] : kept.items())
      if (!before.contains(name) || before[name] != value) tree["algorithm"][name] = value;
  }
  for (const auto& [name, value] : tuned.values) {
    const bool elsewhere = name.starts_with("codec.") || name.starts_with("graph.");
    tree[pointer_to(elsewhere ? name : "algorithm." + name)] = value;
  }
  // A kind that was found has no use for what the file gives another one.
  if (tuned.values.contains("codec.kind") || tuned.values.contains("graph.kind"))
    remove_unused(tree);
  name_files_from_anywhere(tree, run.config.folder());
  return tree;
}

}  // namespace

std::string tuned_toml(const RunSet& run_set, std::span<const Tuned> tuned) {
  std::string text = "# Step sizes found by `ticopd tune`.\n";
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    std::string label = run_set.runs[i].label;
    std::ranges::replace(label, '\n', ' ');
    text += fmt::format("# {}: {} = {} after {} rounds;", label, tuned[i].metric, tuned[i].value,
                        tuned[i].rounds);
    text +=
        fmt::format(" {} trials at the cost of {:.1f} full runs", tuned[i].trials, tuned[i].cost);
    if (tuned[i].seeds.size() > 1)
      text += fmt::format(", median of the seeds {}", fmt::join(tuned[i].seeds, ", "));
    text += ".\n";
    if (tuned[i].finished) text += fmt::format("#   {}\n", beyond_in_words(tuned[i]));
    for (const std::string& limit : limits_in_words(tuned[i].theory))
      text += fmt::format("#   {}\n", limit);
  }
  text += "\n";
  if (tuned.size() == 1) return text + json_to_toml(tuned_tree(run_set.runs[0], tuned[0]));
  json shared = run_set.shared;
  name_files_from_anywhere(shared, run_set.runs[0].config.folder());
  shared["run"] = json::array();
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    json entry = beyond(tuned_tree(run_set.runs[i], tuned[i]), shared);
    entry["label"] = run_set.runs[i].label;
    shared["run"].push_back(std::move(entry));
  }
  return text + json_to_toml(shared);
}

}  // namespace ticopd
