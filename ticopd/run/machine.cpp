#include "ticopd/run/machine.hpp"

#include <nlohmann/json.hpp>

#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"
#include "ticopd/system/cpu.hpp"

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

}  // namespace ticopd
