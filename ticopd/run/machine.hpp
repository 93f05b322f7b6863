#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ticopd {

// The widest vector instructions of this processor: equal digests are promised only for equal ones.
std::string instruction_set();

extern const char* const version;

// What equal digests need, beside equal configs and devices, as run.json has it: version,
// instruction set, kernel, BLAS.
nlohmann::json machine_json();

}  // namespace ticopd
