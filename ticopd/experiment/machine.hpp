#pragma once

#include <string>

namespace ticopd {

// The widest vector instructions of this processor: equal digests are promised only for equal ones.
std::string instruction_set();

// Cores this process may use (its affinity mask, not what the machine has).
int usable_cores();

extern const char* const version;

}  // namespace ticopd
