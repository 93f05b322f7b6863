#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ticopd {

// The deepest nesting of lists and tables in a JSON file or message that we read. Ours have six
// levels; code that walks a value recursively would overflow the stack at some ten thousand.
inline constexpr int json_depth = 64;

// JSON text as a value. Discarded (`is_discarded()`) if the text is not JSON, has a NUL in it, or
// is nested deeper than json_depth; then `why`, if given, says which.
nlohmann::json parse_json(std::string_view text, std::string* why = nullptr);

// The value at a path such as "/ledger/agents" or "graph.agents"; null if there is none, also where
// a list stands in place of a table.
const nlohmann::json* find_value(const nlohmann::json& tree, std::string_view path);

// Text for a file or a terminal, indented. Bytes that are not UTF-8 (a folder's name may have them)
// are replaced.
std::string json_text(const nlohmann::json& value);

}  // namespace ticopd
