#include <cstdio>

#include "ticopd/cuda/device.hpp"
#include "ticopd/cuda/memory.hpp"
#include "ticopd/cuda/objective.hpp"
#include "ticopd/error.hpp"

namespace ticopd::cuda {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw UnavailableError("--device cuda: " + why + "; run with --device cpu");
}

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string gigabytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

__global__ void nothing() {}

cudaDeviceProp properties() {
  cudaDeviceProp found{};
  check(cudaGetDeviceProperties(&found, 0), "ask for the device");
  return found;
}

}  // namespace

void require_device() {
  int count = 0, runtime = 0, driver = 0;
  const cudaError_t asked = cudaGetDeviceCount(&count);
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  if (driver == 0) refuse("there is no NVIDIA driver here");
  if (asked == cudaErrorInsufficientDriver || driver / 1000 < runtime / 1000)
    refuse("the driver knows CUDA " + version(driver) + ", and this build needs " +
           version(runtime));
  if (asked != cudaSuccess || count == 0)
    refuse(std::string("there is no GPU here (") + cudaGetErrorString(asked) + ")");
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, nothing) != cudaSuccess) {
    const cudaDeviceProp found = properties();
    refuse(std::string(found.name) + " has compute capability " + std::to_string(found.major) +
           "." + std::to_string(found.minor) + ", for which this build has no kernels");
  }
}

std::string device_name() {
  return properties().name;
}

void require_memory(const Surroundings<float>& s, const Options& options, bool problem_is_loaded) {
  // Fields, surrogates and payloads of the method that has most of them, and what metrics need.
  constexpr std::size_t fields = 20;
  const std::size_t d = (s.objective.dimension() + 127) / 128 * 128;
  const std::size_t agents = static_cast<std::size_t>(s.graph.agents());
  const std::size_t links = s.links.varies() ? 2 * s.graph.edges() : agents;
  std::size_t needed = (fields * agents + 4 * links) * d * sizeof(float);
  if (options.problem && !problem_is_loaded)
    needed += general_objective_bytes(*options.problem) + fused_gradient_bytes(*options.problem);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "ask for free memory");
  if (needed > free)
    refuse("this run needs about " + gigabytes(needed) + " of memory on " + device_name() +
           ", and " + gigabytes(free) + " are free");
}

}  // namespace ticopd::cuda
