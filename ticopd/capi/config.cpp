#include "ticopd/experiment/config.hpp"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ticopd/capi/call.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/report/series.hpp"
#include "ticopd/system/file.hpp"

using namespace ticopd;
using capi::call;
using nlohmann::json;

namespace fs = std::filesystem;

extern "C" {

int tc_config_read(const char* file, const char* const* overrides, size_t count, char** text) {
  return call([&] {
    capi::require(file, "file");
    std::vector<std::string> set;
    if (count > 0) capi::require(overrides, "overrides");
    for (std::size_t i = 0; i < count; ++i) {
      capi::require(overrides[i], "overrides");
      set.emplace_back(overrides[i]);
    }
    json tree = read_toml(file);
    apply_overrides(tree, set);
    fs::path folder = fs::path(file).parent_path();
    if (!tree.contains("name")) tree["name"] = fs::path(file).stem().string();
    if (folder.empty()) folder = ".";
    capi::give(json{{"config", std::move(tree)}, {"folder", folder.string()}}, text);
  });
}

int tc_config_complete(const char* config, const char* folder, char** text) {
  return call([&] {
    const Config complete =
        Config::from_json(capi::read_json(config, "config"), folder != nullptr ? folder : ".");
    check(complete);
    capi::give(complete.tree(), text);
  });
}

int tc_config_to_toml(const char* config, char** toml) {
  return call([&] {
    const json tree = capi::read_json(config, "config");
    if (!tree.is_object()) throw UsageError("config: allowed is a table");
    capi::give(json_to_toml(tree), toml);
  });
}

int tc_folder_read(const char* folder, char** text) {
  return call([&] {
    capi::require(folder, "folder");
    const Series series = read_series(folder);
    json names = json::array(), metrics = json::array();
    const auto add = [&](std::string_view name, const Series::Column& column) {
      json cells = json::array();
      for (const std::optional<double>& cell : column)
        cells.push_back(cell ? capi::number(*cell) : json());
      names.push_back(name);
      metrics.push_back(std::move(cells));
    };
    const auto columns = column_names();
    for (std::size_t c = 0; c < columns.size(); ++c) add(columns[c], series.columns[c]);
    for (const auto& [name, column] : series.own) add(name, column);
    capi::give(json{{"summary", series.summary},
                    {"columns", std::move(names)},
                    {"metrics", std::move(metrics)}},
               text);
  });
}
}
