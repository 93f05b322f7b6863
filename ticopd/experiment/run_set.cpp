#include "ticopd/experiment/run_set.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ticopd/error.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Collects the runs of one or more files into a RunSet.
class Reader {
 public:
  explicit Reader(std::span<const std::string> overrides) : overrides_(overrides) {}

  void add(const fs::path& file) {
    add(read_toml(file), file.stem().string(),
        file.has_parent_path() ? file.parent_path() : fs::path("."), file.string());
  }

  // `stem` names a set whose tree has no name; `origin` is for messages.
  void add(json tree, const std::string& stem, const fs::path& folder, const std::string& origin) {
    const json entries = tree.contains("run") ? tree["run"] : json();
    tree.erase("run");
    if (run_set_.runs.empty()) {
      run_set_.shared = tree;
      apply_overrides(run_set_.shared, overrides_);
      run_set_.name = tree.contains("name") && tree["name"].is_string()
                          ? tree["name"].get<std::string>()
                          : stem;
    }
    if (entries.is_null()) {
      const bool named = tree.contains("name") && tree["name"].is_string();
      add_run(tree, named ? tree["name"].get<std::string>() : stem, folder, origin);
      return;
    }
    if (!entries.is_array() ||
        !std::ranges::all_of(entries, [](const json& e) { return e.is_object(); }))
      throw ConfigError(fmt::format("{}: run: allowed is a list of tables: [[run]]", origin));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string where = fmt::format("{}: [[run]] number {}", origin, i + 1);
      json entry = entries[i];
      if (!entry.contains("label") || !entry["label"].is_string() ||
          entry["label"].get_ref<const std::string&>().empty())
        throw ConfigError(fmt::format("{}: label is required: a string that names the run", where));
      const std::string label = entry["label"];
      entry.erase("label");
      json merged = tree;
      lay_run_over(merged, entry);
      const json* agents = find_value(tree, "graph.agents");
      const bool lost = agents != nullptr && find_value(merged, "graph.agents") == nullptr;
      add_run(std::move(merged), label, folder, where);
      if (lost)
        run_set_.runs.back().warning = fmt::format(
            "graph.agents = {} of the shared table does not hold for a [graph] of another kind; "
            "give this run its own",
            agents->dump());
    }
  }

  RunSet run_set() && { return std::move(run_set_); }

 private:
  void add_run(json tree, const std::string& label, const fs::path& folder,
               const std::string& where) {
    for (const RunSet::Run& other : run_set_.runs)
      if (other.label == label)
        throw ConfigError(fmt::format(
            "{}: label = \"{}\": another run has it; the figures could not tell them apart", where,
            label));
    apply_overrides(tree, overrides_);
    const json given = tree;
    tree["name"] = label;
    std::string name = file_name_for(label);
    if (is_ours(name))
      throw ConfigError(fmt::format(
          "{}: label = \"{}\": the folder of this run would be {}, a file of the comparison or "
          "search; choose another label",
          where, label, name));
    const auto taken = [&](const std::string& n) {
      return std::ranges::find(run_set_.runs, n, &RunSet::Run::folder) != run_set_.runs.end();
    };
    for (int i = 2; taken(name); ++i) name = fmt::format("{}-{}", file_name_for(label), i);
    try {
      run_set_.runs.push_back({label, name, Config::from_json(tree, folder), given});
    } catch (const ConfigError& e) {
      throw ConfigError(fmt::format("{}: {}", where, e.what()));
    }
  }

  // The files that compare and tune write beside the folders of the runs.
  static bool is_ours(const std::string& name) {
    constexpr std::string_view files[] = {"compare.json", "summary.csv", "groups.csv",
                                          "report.html",  "tuned.toml",  "figure.svg",
                                          "figure.pdf",   "figure.png",  "figure.gp"};
    return std::ranges::find(files, name) != std::end(files);
  }

  std::span<const std::string> overrides_;
  RunSet run_set_;
};

}  // namespace

std::string file_name_for(std::string_view label) {
  std::string name;
  for (const char c : label) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital)
      name += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  if (name.size() > 60) name.resize(60);
  if (name.empty() || name.front() == '.') name = "run" + name;
  return name;
}

RunSet read_run_set(std::span<const fs::path> files, std::span<const std::string> overrides) {
  Reader reader(overrides);
  for (const fs::path& file : files) reader.add(file);
  return std::move(reader).run_set();
}

RunSet run_set_of(const json& tree, const fs::path& folder,
                  std::span<const std::string> overrides) {
  if (!tree.is_object()) throw ConfigError("the config is not a table of keys");
  Reader reader(overrides);
  reader.add(tree, "run", folder, "config");
  return std::move(reader).run_set();
}

}  // namespace ticopd
