#pragma once

#include <nlohmann/json_fwd.hpp>

namespace ticopd {

// The JSON Schema (draft 2020-12) of a config and of a file with [[run]] entries, from the tables
// that the config reader uses. It takes whatever the reader takes; what depends on the graph or on
// the data is only checked by the reader.
nlohmann::json config_schema();

}  // namespace ticopd
