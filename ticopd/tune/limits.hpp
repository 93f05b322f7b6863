#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ticopd/experiment/prepare.hpp"

namespace ticopd {

// What `ticopd theory` says of the answer of a search:
//   {"L", "L_of_f", "lambda_max", "contracts", "limits": [{"what", "why", "value", "bound",
//    "holds"}, ...]}
// `limits` are TiCoPD's; empty for other algorithms. Null if nothing can be said, or if stopped.
nlohmann::json theory_of(const Config& answer, const PrepareOptions& options,
                         const std::atomic<bool>* stop);

// The limits as lines of a table; one line on L for algorithms without.
std::vector<std::string> limits_in_words(const nlohmann::json& theory);

}  // namespace ticopd
