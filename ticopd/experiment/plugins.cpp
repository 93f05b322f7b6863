#include "ticopd/experiment/plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/system/plugins.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// "halves 1.0 (./halves.so, XXH3 1234...)"
std::string in_words_of(const json& plugin) {
  const auto word = [&](const char* key) {
    const json value = plugin.is_object() ? plugin.value(key, json()) : json();
    return value.is_string() ? value.get<std::string>() : std::string("?");
  };
  return fmt::format("{} {} ({}, XXH3 {})", word("name"), word("version"), word("file"),
                     word("hash"));
}

json hash_of(const json& plugin) {
  return plugin.is_object() ? plugin.value("hash", json()) : json();
}

// The first of `some` whose file is not among `others`; null if all are.
const json* first_missing(const json& some, const json& others) {
  for (const json& one : some)
    if (std::ranges::none_of(others, [&](const json& o) { return hash_of(o) == hash_of(one); }))
      return &one;
  return nullptr;
}

bool is_loaded(const fs::path& file) {
  std::error_code error;
  const fs::path wanted = fs::weakly_canonical(file, error);
  return std::ranges::any_of(loaded_plugins(), [&](const Plugin& p) { return p.file == wanted; });
}

}  // namespace

json plugins_json() {
  json all = json::array();
  for (const Plugin& p : loaded_plugins())
    all.push_back({{"file", p.given}, {"name", p.name}, {"version", p.version}, {"hash", p.hash}});
  return all;
}

std::string difference_of_plugins(const json& here, const json& there) {
  const json then = there.is_array() ? there : json::array();
  if (const json* lost = first_missing(then, here); lost != nullptr) {
    const json name = lost->is_object() ? lost->value("name", json()) : json();
    for (const json& other : here)  // the same part, built anew
      if (other.at("name") == name)
        return fmt::format("the plug-in is {} here and was {} there", in_words_of(other),
                           in_words_of(*lost));
    return fmt::format("it was made with the plug-in {}, which --plugin did not give here",
                       in_words_of(*lost));
  }
  if (const json* more = first_missing(here, then); more != nullptr)
    return fmt::format("it was made without the plug-in {}", in_words_of(*more));
  return "";
}

void refuse_missing_plugins(const json& tree, const fs::path& folder) {
  const json* plugins = tree.is_object() && tree.contains("plugins") ? &tree["plugins"] : nullptr;
  if (plugins == nullptr || !plugins->is_object() || !plugins->contains("path")) return;
  const json& paths = (*plugins)["path"];
  if (!paths.is_array()) return;  // refused with the other keys
  std::string missing;
  for (const json& path : paths) {
    if (!path.is_string()) return;
    const fs::path file = (folder / path.get<std::string>()).lexically_normal();
    if (!is_loaded(file))
      missing += fmt::format(" --plugin {}{}", file.has_parent_path() ? "" : "./", file.string());
  }
  if (!missing.empty())
    throw ConfigError(fmt::format(
        "plugins.path: a config loads no code; if you trust the files that it names, add{}",
        missing));
}

}  // namespace ticopd
