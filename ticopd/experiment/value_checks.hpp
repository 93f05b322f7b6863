#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

// What the values of a config may be, whatever their keys.
namespace ticopd::value_checks {

// How a value is checked: throws ConfigError unless it will do. It may be normalised on the way.
using Check = std::function<void(const std::string& key, nlohmann::json& value)>;

// ConfigError.
[[noreturn]] void refuse(const std::string& key, const nlohmann::json& given,
                         const std::string& allowed);

Check integer(std::int64_t low, std::int64_t high);
Check number(double low, double high, bool low_allowed = true);
Check word(std::vector<std::string_view> allowed);
void boolean(const std::string& key, nlohmann::json& value);
void text(const std::string& key, nlohmann::json& value);
void hidden_sizes(const std::string& key, nlohmann::json& value);
void batch_size(const std::string& key, nlohmann::json& value);
void table(const std::string& key, nlohmann::json& value);

}  // namespace ticopd::value_checks
