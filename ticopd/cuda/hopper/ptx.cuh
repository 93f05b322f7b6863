#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// Arithmetic and addresses of one thread, by instructions that C++ has no words for.
namespace ticopd::cuda::hopper {

// The launch's shared memory from the first multiple of 1024 bytes on, where the swizzle of a tile
// begins.
__device__ __forceinline__ std::uint8_t* dynamic_shared() {
  extern __shared__ std::uint8_t raw[];
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  return raw + (((address + 1023) & ~1023u) - address);
}
__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// fmaxf and fminf would drop a NaN.
__device__ __forceinline__ float max_or_nan(float a, float b) {
  float m;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
  return m;
}
__device__ __forceinline__ float min_or_nan(float a, float b) {
  float m;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
  return m;
}

__device__ __forceinline__ float exp2_fast(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
__device__ __forceinline__ float reciprocal_fast(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

}  // namespace ticopd::cuda::hopper
