#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "ticopd/cuda/cuda.hpp"
#include "ticopd/cuda/footprint.hpp"

namespace ticopd::cuda {

// The state of this machine, as CUDA reports it.
struct Found {
  cudaError_t asked = cudaSuccess;  // asked for the number of devices
  int devices = 0;
  int driver = 0, runtime = 0;        // 1000 major + 10 minor; no driver: 0
  cudaError_t kernels = cudaSuccess;  // asked for one of our kernels
  std::string name = {};
  int major = 0, minor = 0;  // its compute capability
};

// Throws UnavailableError, with one line that says what is wrong, unless the device can be used.
void require_usable(const Found& found);

// Throws UnavailableError if a count is larger than the dimension of a grid that it becomes.
// `links` counts both directions, if messages go to single agents; `units` is the width of the
// widest layer.
void require_grids(std::size_t agents, std::size_t links, std::size_t units);

// Throws UnavailableError, with figures, if a run with this footprint does not fit into the
// device's memory. Call it before anything is allocated.
void require_memory(const Surroundings<float>& surroundings, const Options& options,
                    const Footprint& run, bool problem_is_loaded);

}  // namespace ticopd::cuda
