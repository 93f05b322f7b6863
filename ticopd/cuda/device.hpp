#pragma once

#include "ticopd/cuda/cuda.hpp"

namespace ticopd::cuda {

// UnavailableError, with figures, if a run of this kind would not fit into the device's memory.
// Looked at before anything is allocated.
void require_memory(const Surroundings<float>& surroundings, const Options& options,
                    bool problem_is_loaded);

}  // namespace ticopd::cuda
