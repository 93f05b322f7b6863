#include "ticopd/network/wide.hpp"

#include <atomic>

namespace ticopd {
namespace {

bool has(Vectors kind) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (kind == Vectors::avx2) return __builtin_cpu_supports("avx2");
  if (kind == Vectors::avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#endif
  return kind == Vectors::plain;
}

std::atomic<Vectors>& in_use() {
  static std::atomic<Vectors> kind = has(Vectors::avx512) ? Vectors::avx512
                                     : has(Vectors::avx2) ? Vectors::avx2
                                                          : Vectors::plain;
  return kind;
}

}  // namespace

Vectors vectors() {
  return in_use().load(std::memory_order_relaxed);
}

bool use_vectors(Vectors kind) {
  if (!has(kind)) return false;
  in_use() = kind;
  return true;
}

}  // namespace ticopd
