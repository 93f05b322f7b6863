#pragma once

namespace ticopd {

// True if int8 tiles can be used. Tries a small product once, in a child process, because some
// machines report the feature and fault.
bool cpu_has_amx();

}  // namespace ticopd
