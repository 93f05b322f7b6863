#include <cstdio>

#include "ticopd/cuda/device.hpp"
#include "ticopd/cuda/gradients/objective.hpp"
#include "ticopd/cuda/metrics.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
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

void require_usable(const Found& found) {
  if (found.driver == 0) refuse("there is no NVIDIA driver here");
  if (found.asked == cudaErrorInsufficientDriver || found.driver / 1000 < found.runtime / 1000)
    refuse("the driver knows CUDA " + version(found.driver) + ", and this build needs " +
           version(found.runtime));
  if (found.asked == cudaErrorNoDevice || (found.asked == cudaSuccess && found.devices == 0))
    refuse("there is no GPU here");
  if (found.asked != cudaSuccess)
    refuse(std::string("the driver does not work (") + cudaGetErrorString(found.asked) + ")");
  if (found.kernels == cudaErrorNoKernelImageForDevice ||
      found.kernels == cudaErrorInvalidDeviceFunction)
    refuse(found.name + " has compute capability " + std::to_string(found.major) + "." +
           std::to_string(found.minor) + ", for which this build has no kernels");
  if (found.kernels != cudaSuccess)
    refuse(found.name + " cannot be used (" + cudaGetErrorString(found.kernels) + ")");
}

void require_device() {
  Found found;
  found.asked = cudaGetDeviceCount(&found.devices);
  cudaRuntimeGetVersion(&found.runtime);
  cudaDriverGetVersion(&found.driver);
  require_usable(found);
  cudaFuncAttributes attributes{};
  found.kernels = cudaFuncGetAttributes(&attributes, nothing);
  if (found.kernels == cudaSuccess) return;
  cudaDeviceProp of{};
  if (cudaGetDeviceProperties(&of, 0) == cudaSuccess) {
    found.name = of.name;
    found.major = of.major;
    found.minor = of.minor;
  } else {
    found.name = "the GPU";
  }
  require_usable(found);
}

std::string device_name() {
  return properties().name;
}

void require_grids(std::size_t agents, std::size_t links, std::size_t units) {
  constexpr std::size_t most = 65535;  // of a grid in y and z
  const auto require = [&](std::size_t count, const char* of) {
    if (count > most)
      refuse(std::to_string(count) + " " + of + ", and this build's kernels take at most " +
             std::to_string(most));
  };
  require(agents, "agents");
  require(links, "links (both ways) that come and go");
  require(units, "units in a layer");
}

void require_memory(const Surroundings<float>& s, const Options& options, const Footprint& run,
                    bool problem_is_loaded) {
  const std::size_t d = s.objective.dimension();
  const std::size_t agents = static_cast<std::size_t>(s.graph.agents());
  const std::size_t links = s.links.varies() ? 2 * s.graph.edges() : 0;
  std::size_t needed = run.state_bytes(agents, links, d);
  if (const CodecOptions* codec = s.codec.options())
    needed += run.codec_bytes(agents, links, d, *codec);
  if (options.problem) needed += MetricsRoom::bytes(agents, d);
  if (options.problem && s.metric_scope.samples > 0)
    needed += general_objective_bytes(measured_problem(s, *options.problem));
  if (options.problem && !problem_is_loaded)
    needed +=
        general_objective_bytes(*options.problem, s.batch) + fused_gradient_bytes(*options.problem);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "ask for free memory");
  if (needed > free)
    refuse("this run needs about " + gigabytes(needed) + " of memory on " + device_name() +
           ", and " + gigabytes(free) + " are free");
}

}  // namespace ticopd::cuda
