#include "ticopd/experiment/run_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/sweep.hpp"
#include "ticopd/numeric/seed.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// An entry of a file before its seeds and its sweep made runs of it.
struct Entry {
  json tree;
  std::string label;
  fs::path folder;
  std::string where;  // for messages
  std::string warning;
  std::string sweep_of;  // who gives the sweep: several entries may share it
  Sweep sweep;
  std::vector<std::uint64_t> seeds;  // empty: none are given
};

// Collects the runs of one or more files into a RunSet.
class Reader {
 public:
  Reader(std::span<const std::string> overrides, Seeds seeds)
      : overrides_(overrides), seeds_(seeds), keys_(config_keys()) {}

  void add(const fs::path& file) {
    add(read_toml(file), file.stem().string(),
        file.has_parent_path() ? file.parent_path() : fs::path("."), file.string());
  }

  // `stem` names a set whose tree has no name; `origin` is for messages.
  void add(json tree, const std::string& stem, const fs::path& folder, const std::string& origin) {
    const json entries = tree.contains("run") ? tree["run"] : json();
    tree.erase("run");
    const bool named = tree.contains("name") && tree["name"].is_string();
    const std::string name = named ? tree["name"].get<std::string>() : stem;
    if (entries_.empty()) {
      run_set_.shared = tree;
      apply_overrides(run_set_.shared, overrides_);
      for (const char* key : {"seeds", "sweep"}) run_set_.shared.erase(key);
      run_set_.name = name;
    }
    if (entries.is_null()) {
      add_entry(tree, {{}, name, folder, origin, "", origin, {}, {}});
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
      if (entry.contains("sweep")) merged.erase("sweep");  // in its place
      lay_run_over(merged, entry);
      const json* agents = find_value(tree, "graph.agents");
      const bool lost = agents != nullptr && find_value(merged, "graph.agents") == nullptr;
      std::string warning;
      if (lost)
        warning = fmt::format(
            "graph.agents = {} of the shared table does not hold for a [graph] of another kind; "
            "give this run its own",
            agents->dump());
      add_entry(std::move(merged), {{},
                                    label,
                                    folder,
                                    where,
                                    std::move(warning),
                                    entry.contains("sweep") ? where : origin,
                                    {},
                                    {}});
    }
  }

  RunSet run_set() {
    refuse_too_many();
    for (Entry& entry : entries_) expand(entry);
    for (const Entry& entry : entries_)
      for (const Sweep::Axis& axis : entry.sweep.axes)
        if (!used_.contains({entry.sweep_of, axis.key}))
          throw ConfigError(fmt::format(
              "{}: sweep.\"{}\": no run uses this key; leave it out, or choose a kind that does",
              entry.sweep_of, axis.key));
    return std::move(run_set_);
  }

 private:
  void add_entry(json tree, Entry entry) try {
    if (tree.contains("sweep")) tree["sweep"] = sweep_in_tables(tree["sweep"]);
    apply_overrides(tree, overrides_);
    entry.sweep = read_sweep(tree.value("sweep", json()), keys_);
    entry.seeds = read_seeds(tree.value("seeds", json()), first_seed(tree));
    refuse_overrides_of_swept(tree, entry.sweep);
    for (const char* key : {"seeds", "sweep"}) tree.erase(key);
    entry.tree = std::move(tree);
    entries_.push_back(std::move(entry));
  } catch (const ConfigError& e) {
    throw ConfigError(fmt::format("{}: {}", entry.where, e.what()));
  }

  static std::uint64_t first_seed(const json& tree) {
    const bool given = tree.contains("seed") && tree["seed"].is_number_integer() &&
                       (tree["seed"].is_number_unsigned() || tree["seed"] >= 0);
    return given ? tree["seed"].get<std::uint64_t>() : default_seed;  // else the config refuses it
  }

  // The sweep and a list of seeds would silently win over --set.
  void refuse_overrides_of_swept(const json& tree, const Sweep& sweep) const {
    json above = json::object();
    for (const std::string& assignment : overrides_) apply_override(above, assignment);
    if (above.contains("seed") && tree.contains("seeds") && tree["seeds"].is_array())
      throw ConfigError(fmt::format("--set seed={}: `seeds` is a list; give --set seeds=[{}]",
                                    above["seed"].dump(), above["seed"].dump()));
    for (const Sweep::Axis& axis : sweep.axes)
      if (const json* value = find_value(above, axis.key))
        throw ConfigError(
            fmt::format("--set {}={}: this key is swept; give --set sweep.{}=[{}] in its place",
                        axis.key, value->dump(), axis.key, value->dump()));
  }

  void refuse_too_many() const {
    double all = 0;
    for (const Entry& entry : entries_)
      all += entry.sweep.size() *
             (seeds_ == Seeds::apart
                  ? static_cast<double>(std::max<std::size_t>(1, entry.seeds.size()))
                  : 1);
    if (all > most_runs)
      throw ConfigError(
          fmt::format("seeds and [sweep] ask for {:.0f} runs; allowed are at most {:.0f}: sweep "
                      "fewer keys or values, or zip them",
                      all, most_runs));
  }

  void expand(const Entry& entry) {
    std::set<std::string> made;  // without the keys that a kind does not use, some are the same
    for (std::size_t c = 0; c < static_cast<std::size_t>(entry.sweep.size()); ++c) try {
        json tree = entry.tree;
        const json swept = sweep_into(tree, entry.sweep, c, keys_);
        if (!made.insert(swept.dump()).second) continue;
        for (const auto& [key, value] : swept.items()) note_swept(entry, key);
        add_group(entry, tree, swept);
      } catch (const ConfigError& e) {
        throw ConfigError(fmt::format("{}: {}", entry.where, e.what()));
      }
  }

  void note_swept(const Entry& entry, const std::string& key) {
    used_.insert({entry.sweep_of, key});
    if (std::ranges::find(run_set_.sweep, key) != run_set_.sweep.end()) return;
    run_set_.sweep.push_back(key);
    std::ranges::sort(run_set_.sweep);
  }

  void add_group(const Entry& entry, const json& tree, const json& swept) {
    std::string group = entry.label;
    if (!swept.empty()) group += ", " + swept_in_words(swept);
    if (entry.seeds.empty()) {
      add_run(entry, tree, group, group, swept);
      return;
    }
    json seeded = tree;
    for (const std::uint64_t seed : entry.seeds) {
      seeded["seed"] = seed;
      const bool alone = seeds_ == Seeds::together || entry.seeds.size() == 1;
      add_run(entry, seeded, alone ? group : fmt::format("{}, seed {}", group, seed), group, swept);
      if (std::ranges::find(run_set_.seeds, seed) == run_set_.seeds.end())
        run_set_.seeds.push_back(seed);
      if (seeds_ == Seeds::apart) continue;
      run_set_.seeds = entry.seeds;
      return;
    }
  }

  void add_run(const Entry& entry, json tree, const std::string& label, const std::string& group,
               const json& swept) {
    if (!labels_.insert(label).second)
      throw ConfigError(fmt::format(
          "label = \"{}\": another run has it; the figures could not tell them apart", label));
    const json given = tree;
    tree["name"] = label;
    // The end of a label tells the runs of an entry apart, and must not be cut off.
    const std::size_t most = label == entry.label ? 60 : 200;
    const std::string short_name = file_name_for(label, most);
    if (is_ours(short_name))
      throw ConfigError(fmt::format(
          "label = \"{}\": the folder of this run would be {}, a file of the comparison or "
          "search; choose another label",
          label, short_name));
    std::string name = short_name;
    for (int i = 2; !folders_.insert(name).second; ++i) name = fmt::format("{}-{}", short_name, i);
    RunSet::Run run{label, name, Config::from_json(tree, entry.folder), given};
    run.warning = entry.warning;
    run.group = group;
    run.seed = run.config.get<std::uint64_t>("seed");
    run.seeds = entry.seeds;
    if (run.seeds.empty()) run.seeds = {run.seed};
    run.swept = swept;
    run_set_.runs.push_back(std::move(run));
  }

  // The files that compare and tune write beside the folders of the runs.
  static bool is_ours(const std::string& name) {
    constexpr std::string_view files[] = {
        "compare.json", "summary.csv", "groups.csv", "report.html", "tuned.toml", "figure.svg",
        "figure.pdf",   "figure.png",  "figure.gp",  "figure.dat",  "figure.eps"};
    return std::ranges::find(files, name) != std::end(files);
  }

  std::span<const std::string> overrides_;
  Seeds seeds_;
  std::vector<KeyInfo> keys_;
  std::vector<Entry> entries_;
  std::set<std::string> labels_, folders_;
  std::set<std::pair<std::string, std::string>> used_;  // where it is swept, and the key
  RunSet run_set_;
};

}  // namespace

std::string file_name_for(std::string_view label, std::size_t most) {
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
  if (name.size() > most) name.resize(most);
  if (name.empty() || name.front() == '.') name = "run" + name;
  return name;
}

RunSet read_run_set(std::span<const fs::path> files, std::span<const std::string> overrides,
                    Seeds seeds) {
  Reader reader(overrides, seeds);
  for (const fs::path& file : files) reader.add(file);
  return reader.run_set();
}

RunSet run_set_of(const json& tree, const fs::path& folder, std::span<const std::string> overrides,
                  Seeds seeds) {
  if (!tree.is_object()) throw ConfigError("the config is not a table of keys");
  Reader reader(overrides, seeds);
  reader.add(tree, "run", folder, "config");
  return reader.run_set();
}

}  // namespace ticopd
