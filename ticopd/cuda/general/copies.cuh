#pragma once

#include <cstdint>

// Copies from global into shared memory that nobody waits for until their data are wanted.
namespace ticopd::cuda::general {

// 16 bytes, or as many zeros; by whoever waits for them.
__device__ __forceinline__ void copy16_or_zeros(std::uint32_t to, const void* from, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(is_there ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copy16(std::uint32_t to, const void* from) {
  copy16_or_zeros(to, from, true);
}
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int pending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

}  // namespace ticopd::cuda::general
