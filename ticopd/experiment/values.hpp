#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ticopd/option.hpp"

// The values of a config, which are JSON, as the values of options and back.
namespace ticopd {

// ConfigError `KEY = GIVEN: allowed ALLOWED`.
[[noreturn]] void refuse(const std::string& key, const nlohmann::json& given,
                         const std::string& allowed);

// ConfigError unless the value is in the domain. Normalises it: 5e1 becomes 50 where a whole number
// is asked for, and 1 becomes 1.0 where any number is.
void check_value(const std::string& key, const Domain& domain, nlohmann::json& value);

// The place of a dotted key, such as "graph.agents", in the tree of a config.
nlohmann::json::json_pointer pointer_to(std::string_view key);

OptionValue option_value(const nlohmann::json& value);  // none for what no option can be
nlohmann::json to_json(const OptionValue& value);       // null for none

}  // namespace ticopd
