#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace ticopd {

// The deepest nesting of lists and tables in a JSON file or message that we read. Ours have six
// levels; code that walks a value recursively would overflow the stack at some ten thousand.
inline constexpr int json_depth = 64;

// JSON text as a value. Discarded (`is_discarded()`) if the text is not JSON, has a NUL in it, or
// is nested deeper than json_depth; then `why`, if given, says which.
nlohmann::json parse_json(std::string_view text, std::string* why = nullptr);

}  // namespace ticopd
