#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ticopd {

// The built page of web/; empty where the build had no npm.
std::string_view page_template();

// The page with the report in it; empty where there is no template.
std::string page(const nlohmann::json& report);

}  // namespace ticopd
