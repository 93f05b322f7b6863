#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "ticopd/cuda/cuda.hpp"
#include "ticopd/cuda/footprint.hpp"

namespace ticopd::cuda {

// What CUDA says of this machine.
struct Found {
  cudaError_t asked = cudaSuccess;  // for the number of devices
  int devices = 0;
  int driver = 0, runtime = 0;        // 1000 major + 10 minor; no driver: 0
  cudaError_t kernels = cudaSuccess;  // asked for one of ours, of the first device:
  std::string name = {};
  int major = 0, minor = 0;  // its compute capability
};

// UnavailableError, with one line that says what is wrong, unless the device can be used.
void require_usable(const Found& found);

// UnavailableError if there is more of something than a kernel's grid counts where it stands.
// `links`: both ways, where messages go to one agent alone; `units`: of the widest layer.
void require_grids(std::size_t agents, std::size_t links, std::size_t units);

// UnavailableError, with figures, if a run with this footprint would not fit into the device's
// memory. Looked at before anything of it is allocated.
void require_memory(const Surroundings<float>& surroundings, const Options& options,
                    const Footprint& run, bool problem_is_loaded);

}  // namespace ticopd::cuda
