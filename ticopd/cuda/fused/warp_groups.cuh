#pragma once

#include <cstdint>

// How the warp groups of a fused kernel share registers and take turns. Barrier numbers are per
// block, and these kernels use 1 to 5.
namespace ticopd::cuda::fused {

// A block has two warp groups that compute and one that fetches for them. The registers go to those
// that compute.
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
}
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
}
// Syncs the groups that compute and the warp that fetches.
__device__ __forceinline__ void product_sync() {
  asm volatile("bar.sync 1, 288;" ::: "memory");
}
// The two groups take turns: a group waits until the other gives it the turn.
__device__ __forceinline__ void wait_for_turn(int group) {
  asm volatile("bar.sync %0, 256;" ::"r"(4 + group) : "memory");
}
__device__ __forceinline__ void give_turn_to(int group) {
  asm volatile("bar.arrive %0, 256;" ::"r"(4 + group) : "memory");
}
__device__ __forceinline__ void group_sync(int group) {
  if (group)
    asm volatile("bar.sync 3, 128;" ::: "memory");
  else
    asm volatile("bar.sync 2, 128;" ::: "memory");
}

}  // namespace ticopd::cuda::fused
