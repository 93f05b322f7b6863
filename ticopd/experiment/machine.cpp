#include "ticopd/experiment/machine.hpp"

#include <sched.h>

#include <thread>

namespace ticopd {

const char* const version = TICOPD_VERSION;

std::string instruction_set() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
    return "x86-64 avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "x86-64 avx2";
  return "x86-64";
#elif defined(__aarch64__)
  return "arm64";
#else
  return "other";
#endif
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  const unsigned cores = std::thread::hardware_concurrency();
  return cores > 0 ? static_cast<int>(cores) : 1;
}

}  // namespace ticopd
