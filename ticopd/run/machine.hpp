#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ticopd {

// The widest vector instructions of this processor. Digests are guaranteed to be equal only on the
// same instruction set.
std::string instruction_set();

extern const char* const version;

// What must be equal for equal digests, besides config and device: version, instruction set,
// kernel, BLAS. In the format of run.json.
nlohmann::json machine_json();

}  // namespace ticopd
