#include "ticopd/experiment/machine.hpp"

#include <malloc.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ticopd/kernels/cpu.hpp"
#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"

namespace ticopd {

const char* const version = TICOPD_VERSION;

std::string instruction_set() {
#if defined(__x86_64__)
  if (cpu_has_avx512()) return "x86-64 avx512";
  return cpu_has_avx2() ? "x86-64 avx2" : "x86-64";
#elif defined(__aarch64__)
  return "arm64";
#else
  return "other";
#endif
}

nlohmann::json machine_json() {
  return {{"version", version},
          {"instruction_set", instruction_set()},
          {"kernel", kernel_name()},
          {"blas", blas_name()}};
}

namespace {

// A line such as "VmRSS:     12345 kB".
std::size_t status_bytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name))
      return 1024 * std::strtoull(line.c_str() + name.size(), nullptr, 10);
  return 0;
}

}  // namespace

std::size_t resident_bytes() {
  return status_bytes("VmRSS:");
}

void give_memory_back() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

std::size_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

}  // namespace ticopd
