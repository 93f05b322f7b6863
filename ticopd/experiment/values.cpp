#include "ticopd/experiment/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// [figure] format = ["pdf", "png"]
void check_texts(const std::string& key, const Domain& domain, const json& value) {
  if (!value.is_array() || value.empty() ||
      !std::ranges::all_of(value, [](const json& v) { return v.is_string(); }))
    refuse(key, value, domain.in_words());
  const std::vector<std::string_view> allowed = domain.allowed_words();
  for (const json& text : value)
    if (!allowed.empty() && std::ranges::find(allowed, text.get<std::string>()) == allowed.end())
      throw ConfigError(not_allowed(key, text.get<std::string>(), allowed));
}

// JSON has no word for nan and inf.
std::string shown(const json& value) {
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

// 5e1 is a whole number, too. Beyond 2^53 nobody can tell which one was meant.
void make_whole(json& value) {
  if (!value.is_number_float()) return;
  const double v = value.get<double>();
  if (std::trunc(v) == v && std::abs(v) < 0x1p53) value = static_cast<std::int64_t>(v);
}

void normalise(const Domain& domain, json& value) {
  if (domain.kind == Domain::Kind::number && value.is_number()) value = value.get<double>();
  if (domain.kind == Domain::Kind::integer) make_whole(value);
  if ((domain.kind == Domain::Kind::integers || domain.or_list) && value.is_array())
    for (json& item : value) make_whole(item);
}

// A list of numbers may be long: the message names the one that is wrong.
void check_numbers(const std::string& key, const Domain& domain, json& value) {
  if (!value.is_array() || value.empty()) refuse_value(key, shown(value), domain);
  Domain each = domain;
  each.kind = Domain::Kind::number;
  for (std::size_t i = 0; i < value.size(); ++i)
    check_value(fmt::format("{}[{}]", key, i), each, value[i]);
}

}  // namespace

void refuse(const std::string& key, const json& given, const std::string& allowed) {
  throw ConfigError(fmt::format("{} = {}: allowed {}", key, shown(given), allowed));
}

void check_value(const std::string& key, const Domain& domain, json& value) {
  if (domain.kind == Domain::Kind::table) {
    if (!value.is_object()) refuse(key, value, fmt::format("is a table: [{}]", key));
    return;
  }
  if (domain.kind == Domain::Kind::text_table) {
    if (!value.is_object() ||
        !std::ranges::all_of(value, [](const json& v) { return v.is_string(); }))
      refuse(key, value, domain.in_words());
    return;
  }
  if (domain.kind == Domain::Kind::texts) return check_texts(key, domain, value);
  if (domain.kind == Domain::Kind::numbers) return check_numbers(key, domain, value);
  normalise(domain, value);
  if (!domain.allows(option_value(value))) refuse_value(key, shown(value), domain);
}

OptionValue option_value(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return {};
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() &&
      std::ranges::all_of(value, [](const json& v) { return v.is_number_integer(); }))
    return value.get<std::vector<std::int64_t>>();
  if (value.is_array() && std::ranges::all_of(value, [](const json& v) { return v.is_number(); }))
    return value.get<std::vector<double>>();
  return {};
}

json to_json(const OptionValue& value) {
  return std::visit(
      [](const auto& v) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
          return nullptr;
        else
          return v;
      },
      value);
}

json::json_pointer pointer_to(std::string_view key) {
  std::string path = "/" + std::string(key);
  std::ranges::replace(path, '.', '/');
  return json::json_pointer(path);
}

}  // namespace ticopd
