#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ticopd/error.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/report/search_folder.hpp"
#include "ticopd/report/sites.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Splits "LABEL=DIR" or "DIR" into label and folder. Both may contain `=`, so the split is where an
// existing folder begins.
std::pair<std::string, fs::path> split_word(const std::string& word) {
  std::error_code error;
  if (fs::exists(word, error)) return {"", word};
  for (std::size_t at = word.find('='); at != std::string::npos; at = word.find('=', at + 1))
    if (at > 0 && fs::exists(word.substr(at + 1), error))
      return {word.substr(0, at), word.substr(at + 1)};
  const std::size_t first = word.find('=');
  if (first == std::string::npos || first == 0) return {"", word};
  return {word.substr(0, first), word.substr(first + 1)};
}

json read_comparison(const fs::path& file) {
  std::string why = "no JSON object";
  const json tree = parse_json(read_file(file), &why);
  const auto refuse = [&](std::string_view what) {
    throw FormatError(fmt::format("{}: is not a comparison ({})", file.string(), what));
  };
  if (!tree.is_object()) refuse(why);
  if (!tree.contains("runs") || !tree["runs"].is_array()) refuse("no list \"runs\"");
  for (const json& run : tree["runs"])
    for (const char* key : {"label", "folder"})
      if (!run.is_object() || !run.contains(key) || !run[key].is_string())
        refuse(fmt::format("a run without \"{}\"", key));
  for (const json& target : tree.value("targets", json::array()))
    if (!target.is_object() || !target.contains("metric") || !target["metric"].is_string() ||
        !target.contains("value") || !target["value"].is_number())
      refuse("a target without \"metric\" and \"value\"");
  if (const json figure = tree.value("figure", json()); !figure.is_null() && !figure.is_object())
    refuse("\"figure\" is no table");
  return tree;
}

std::string word_of(const json& tree, const char* key) {
  const json value = tree.value(key, json());
  return value.is_string() ? value.get<std::string>() : std::string();
}

// Which group a run belongs to. In files of 0.2 each run is its own.
void describe(Series& series, const json& entry, const std::string& label) {
  const std::string group = word_of(entry, "group");
  series.group = group.empty() ? series.label : label.empty() ? group : label + ": " + group;
  if (const json seed = entry.value("seed", json()); seed.is_number_unsigned())
    series.seed = seed.get<std::uint64_t>();
  if (const json swept = entry.value("swept", json()); swept.is_object()) series.swept = swept;
}

void add_comparison(const fs::path& folder, const std::string& label, const ReadRun& read,
                    Collection& all) {
  const fs::path file = folder / "compare.json";
  const json tree = read_comparison(file);
  for (const json& entry : tree["runs"]) {
    const auto name = entry["label"].get<std::string>();
    const fs::path run = folder / entry["folder"].get<std::string>();
    for (const std::string& said : {name, word_of(entry, "group")})
      all.options.labels.push_back(label.empty() ? said : label + ": " + said);
    try {
      Series series = read(run);
      series.label = label.empty() ? name : label + ": " + name;
      describe(series, entry, label);
      all.runs.push_back(std::move(series));
    } catch (const NoRowYet& e) {
      all.missing.push_back(fmt::format("{}: {}", name, e.what()));
    }
  }
  for (const json& entry : tree.value("targets", json::array())) {
    Target target{entry["metric"], entry["value"]};
    require_metric(file.string() + ": target", target.metric);
    const auto same = [&](const Target& t) {
      return t.metric == target.metric && t.value == target.value;
    };
    if (std::ranges::none_of(all.options.targets, same)) all.options.targets.push_back(target);
  }
  all.options.figure = tree.value("figure", json());
  if (!label.empty() && all.options.figure.contains("colours")) {  // of the longer labels
    json colours = json::object();
    for (const auto& [name, colour] : all.options.figure["colours"].items())
      colours[label + ": " + name] = colour;
    all.options.figure["colours"] = std::move(colours);
  }
  std::vector<std::string>& sweep = all.options.sweep;
  for (const json& key : tree.value("sweep", json::array()))
    if (key.is_string() && std::ranges::count(sweep, key.get<std::string>()) == 0)
      sweep.push_back(key);
  if (word_of(tree, "band") == "deviation") all.options.band = Band::deviation;
  all.options.title = word_of(tree, "title");
  all.options.command = word_of(tree, "command");
  if (const std::string bits = "bits_" + word_of(tree, "bits");
      std::ranges::find(bits_names(), bits) != bits_names().end())
    all.options.bits = bits;
}

void add_run(const fs::path& folder, const std::string& label, const ReadRun& read,
             Collection& all) {
  try {
    all.runs.push_back(read(folder));
    if (!label.empty()) all.runs.back().label = all.runs.back().group = label;
  } catch (const NoRowYet& e) {
    all.missing.push_back(label.empty() ? e.what() : fmt::format("{}: {}", label, e.what()));
  }
}

// The trials of a search of step sizes, each as a run. A file with several runs has one search for
// each, in folders of their own.
void add_searches(const fs::path& folder, const std::string& label, Collection& all) {
  const std::vector<fs::path> searches = searches_in(folder);
  for (const fs::path& search : searches) {
    std::string name = label;
    if (search != folder) name += (label.empty() ? "" : ": ") + search.filename().string();
    add_search(search, name, all.runs, all.missing);
  }
}

}  // namespace

Series read_run(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "run.json", error) && !error &&
      !fs::exists(folder / "metrics.csv", error))
    if (!fs::exists(folder, error) || is_site_folder(folder) || holds_only_unfinished(folder) ||
        fs::is_empty(folder, error))
      throw NoRowYet(
          fmt::format("{}: there is no run.json yet: the run has not begun", folder.string()));
  Series series = read_series(folder);
  if (series.status() == "running" && !FolderGlance(folder).in_use())
    series.mark_stopped(reason_of_end(series));
  return series;
}

std::string_view reason_of_end(const Series& run) {
  return is_site_folder(run.folder) ? "its process ended; start it again with `ticopd network join`"
                                    : "its process ended; go on with --resume";
}

fs::path folder_of_word(const std::string& word) {
  return split_word(word).second;
}

void require_folders(std::span<const std::string> words) {
  for (const std::string& word : words)
    if (std::error_code error; !fs::is_directory(folder_of_word(word), error))
      read_series(folder_of_word(word));  // says what is wrong with it
}

Collection gather_folders(std::span<const std::string> words, const ReadRun& read) {
  Collection all;
  for (const std::string& word : words) {
    const auto [label, folder] = split_word(word);
    all.options.folder = folder;
    std::error_code error;
    if (fs::exists(folder / "compare.json", error))
      add_comparison(folder, label, read, all);
    else if (!fs::exists(folder / "run.json", error) && !searches_in(folder).empty())
      add_searches(folder, label, all);
    else
      add_run(folder, label, read, all);
  }
  all.options.sites = sites_of(words);
  // Several folders make a new report: title and command of one comparison do not describe it.
  if (words.size() != 1) {
    all.options.title = all.options.command = "";
    all.options.figure = {};
    all.options.folder.clear();
  }
  return all;
}

Collection read_folders(std::span<const std::string> words) {
  require_folders(words);
  Collection all = gather_folders(words, read_run);
  if (all.runs.empty())
    throw FormatError(fmt::format("{}: no run to report yet{}{}", fmt::join(words, " "),
                                  all.missing.empty() ? "" : ": ", fmt::join(all.missing, "; ")));
  refuse_same_labels(all.runs);
  return all;
}

std::string folder_name(const Series& run, const ReportOptions& options) {
  if (options.folder.empty()) return run.folder.string();
  const fs::path from = fs::absolute(options.folder / "").lexically_normal();
  const fs::path to = fs::absolute(run.folder / "").lexically_normal();
  std::string name = to.lexically_proximate(from).string();
  if (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

void refuse_same_labels(std::span<const Series> runs) {
  std::map<std::string_view, const Series*> seen;
  for (const Series& run : runs) {
    const auto [at, is_new] = seen.emplace(run.label, &run);
    if (!is_new)
      throw ConfigError(fmt::format(
          "the label \"{}\" is given to two runs: {} and {}; give each its own with LABEL=DIR",
          run.label, at->second->folder.string(), run.folder.string()));
  }
}

}  // namespace ticopd
