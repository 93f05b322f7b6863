#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ticopd/tune/tune.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// What of `above` must be said where `below` is already said.
json beyond(const json& above, const json& below) {
  json rest = json::object();
  for (const auto& [key, value] : above.items()) {
    if (!below.contains(key))
      rest[key] = value;
    else if (key == "algorithm" && value.value("name", json()) != below[key].value("name", json()))
      rest[key] = value;  // another method starts from nothing
    else if (value.is_object() && below[key].is_object()) {
      if (json inner = beyond(value, below[key]); !inner.empty()) rest[key] = std::move(inner);
    } else if (value != below[key]) {
      rest[key] = value;
    }
  }
  return rest;
}

json tuned_tree(const Study::Run& run, const Tuned& tuned) {
  json tree = run.given;
  tree["iterations"] = tuned.rounds;
  tree["algorithm"]["name"] = run.config.get<std::string>("algorithm.name");
  for (const auto& [name, value] : tuned.values) tree["algorithm"][name] = value;
  return tree;
}

}  // namespace

std::string tuned_toml(const Study& study, std::span<const Tuned> tuned) {
  std::string text = "# Step sizes found by `ticopd tune`.\n";
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    text += fmt::format("# {}: {} = {} after {} rounds;", study.runs[i].label, tuned[i].metric,
                        tuned[i].value, tuned[i].rounds);
    text += fmt::format(" {} trials at the cost of {:.1f} full runs.\n", tuned[i].trials,
                        tuned[i].cost);
  }
  text += "\n";
  if (tuned.size() == 1) return text + json_to_toml(tuned_tree(study.runs[0], tuned[0]));
  json shared = study.shared;
  shared["run"] = json::array();
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    json entry = beyond(tuned_tree(study.runs[i], tuned[i]), study.shared);
    entry["label"] = study.runs[i].label;
    shared["run"].push_back(std::move(entry));
  }
  return text + json_to_toml(shared);
}

}  // namespace ticopd
