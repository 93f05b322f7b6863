#include "ticopd/experiment/value_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/error.hpp"

namespace ticopd::value_checks {

using nlohmann::json;

void refuse(const std::string& key, const json& given, const std::string& allowed) {
  // JSON has no word for nan and inf.
  const std::string shown =
      given.is_number_float() ? fmt::format("{}", given.get<double>()) : given.dump();
  throw ConfigError(fmt::format("{} = {}: allowed {}", key, shown, allowed));
}

namespace {

// 5e1 is a whole number, too. Beyond 2^53 nobody can tell which one was meant.
bool whole(json& value) {
  if (value.is_number_float()) {
    const double v = value.get<double>();
    if (std::trunc(v) == v && std::abs(v) < 0x1p53) value = static_cast<std::int64_t>(v);
  }
  return value.is_number_integer();
}

}  // namespace

Check integer(std::int64_t low, std::int64_t high) {
  return [=](const std::string& key, json& value) {
    if (!whole(value) || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high)
      refuse(key, value, fmt::format("is a whole number from {} to {}", low, high));
  };
}

Check number(double low, double high, bool low_allowed) {
  return [=](const std::string& key, json& value) {
    const double v = value.is_number() ? value.get<double>() : NAN;
    if (!std::isfinite(v) || v > high || (low_allowed ? v < low : v <= low))
      refuse(key, value,
             fmt::format("is a number {} {}{}", low_allowed ? "from" : "above", low,
                         std::isinf(high)
                             ? (low_allowed ? " up" : "")
                             : fmt::format("{} {}", low_allowed ? " to" : ", at most", high)));
    value = v;
  };
}

void boolean(const std::string& key, json& value) {
  if (!value.is_boolean()) refuse(key, value, "are true and false");
}

void text(const std::string& key, json& value) {
  if (!value.is_string()) refuse(key, value, "is a string");
}

Check word(std::vector<std::string_view> allowed) {
  return [allowed = std::move(allowed)](const std::string& key, json& value) {
    const std::string given = value.is_string() ? value.get<std::string>() : value.dump();
    if (!value.is_string() || std::ranges::find(allowed, given) == allowed.end())
      throw ConfigError(not_allowed(key, given, allowed));
  };
}

void hidden_sizes(const std::string& key, json& value) {
  const auto fits = [](json& v) {
    return whole(v) && v.get<std::int64_t>() >= 1 && v.get<std::int64_t>() <= 1'000'000;
  };
  if (!value.is_array() || !std::ranges::all_of(value, fits))
    refuse(key, value, "is a list of layer sizes, such as [100] or [200, 100]");
}

void batch_size(const std::string& key, json& value) {
  if (value == "full") return;
  if (!whole(value) || value.get<std::int64_t>() < 1)
    refuse(key, value, "is \"full\" or a whole number of samples");
}

void table(const std::string& key, json& value) {
  if (!value.is_object()) refuse(key, value, fmt::format("is a table: [{}]", key));
}

}  // namespace ticopd::value_checks
