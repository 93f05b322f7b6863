// Mistakes that compute-sanitizer must find: otherwise a clean result for the other tests would
// prove nothing. Only sanitize.py runs them, first the one for its tool.
#include <gtest/gtest.h>

#include "cuda/device.hpp"
#include "ticopd/cuda/runtime/memory.hpp"

namespace ticopd::cuda {
namespace {

__global__ void race(int* out) {
  __shared__ int left[64];
  left[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = left[63 - threadIdx.x];  // written by another warp, perhaps not yet
}

__global__ void overrun(int* out) {
  out[threadIdx.x] = 1;
}

TEST(DISABLED_Sanitizer, FindsTheMistakeOf_racecheck) {
  TICOPD_NEEDS_DEVICE();
  Buffer<int> out(64);
  race<<<1, 64>>>(out.data());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(DISABLED_Sanitizer, FindsTheMistakeOf_memcheck) {
  TICOPD_NEEDS_DEVICE();
  Buffer<int> out(32);
  overrun<<<1, 64>>>(out.data());
  cudaDeviceSynchronize();
}

}  // namespace
}  // namespace ticopd::cuda
