#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ticopd {

// The widest vector instructions of this processor: equal digests are promised only for equal ones.
std::string instruction_set();

// Bytes of this process in memory, now and at its peak; 0 where the system does not say.
std::size_t resident_bytes();
std::size_t peak_resident_bytes();

// What was freed and is still held by the allocator goes back to the system: after data has been
// read and laid out anew, that is as much as the data.
void give_memory_back();

extern const char* const version;

// What equal digests need, beside equal configs and devices, as run.json has it: version,
// instruction set, kernel, BLAS.
nlohmann::json machine_json();

}  // namespace ticopd
