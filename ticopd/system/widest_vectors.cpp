#include "ticopd/system/widest_vectors.hpp"

#include <atomic>

#include "ticopd/system/cpu.hpp"

namespace ticopd {
namespace {

bool has(Vectors kind) {
  if (kind == Vectors::avx512) return cpu_has_avx512();
  return kind == Vectors::plain || cpu_has_avx2();
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
