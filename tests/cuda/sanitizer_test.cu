// Mistakes that compute-sanitizer must find, so that its silence about everything else means
// something. sanitize.py runs the one of its tool first; nobody else does.
#include <gtest/gtest.h>

#include "cuda/device.hpp"
#include "ticopd/cuda/runtime/memory.hpp"

namespace ticopd::cuda {
namespace {

__global__ void race(int* out) {
  __shared__ int left[64];
  left[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = left[63 - threadIdx.x];  // of another warp, perhaps not there yet
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
