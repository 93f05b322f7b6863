#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ticopd {

// The page built from web/; empty if the build had no npm.
std::string_view page_template();

// The page with the report's data; empty if there is no template.
std::string page(const nlohmann::json& report);

}  // namespace ticopd
