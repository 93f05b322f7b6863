#include "ticopd/report/sites.hpp"

#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/site/network.hpp"

namespace ticopd {

namespace fs = std::filesystem;
using nlohmann::json;

bool is_site_folder(const fs::path& folder) {
  // Pinned before anything else of a site is written.
  std::error_code error;
  return fs::exists(folder / "operator.pub", error) && !fs::exists(folder / "operator.key", error);
}

json sites_of(std::span<const std::string> words) {
  json all = json::array();
  for (const std::string& word : words) {
    const fs::path folder = folder_of_word(word);
    if (!is_site_folder(folder)) continue;
    try {
      json site = network_status({folder}).front();
      if (!site.contains("name")) site["name"] = fs::absolute(folder / "").parent_path().filename();
      all.push_back(std::move(site));
    } catch (const Error&) {  // removed meanwhile
    }
  }
  return all;
}

}  // namespace ticopd
