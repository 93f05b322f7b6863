#pragma once

namespace ticopd {

// Whether int8 tiles can be used: a small product is tried once, in a child process, because some
// machines name the feature and fault.
bool cpu_has_amx();

}  // namespace ticopd
