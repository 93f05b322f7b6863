#pragma once

#include <cstdint>

// Sums and maxima over the threads of a block, in a fixed order: the same bits on every run. Every
// thread calls them and gets the result. Blocks have at most 1,024 threads, in whole warps.
namespace ticopd::cuda::general {

// `fold` joins two values; `identity` stands for missing threads.
template <class T, class Fold>
__device__ T over_block(T mine, T identity, Fold fold) {
  __shared__ T of_warp[32];
  for (int distance = 16; distance > 0; distance /= 2)
    mine = fold(mine, __shfl_xor_sync(0xffffffffu, mine, distance));
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  __syncthreads();  // the last use of of_warp is over
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();
  mine = lane < blockDim.x / 32 ? of_warp[lane] : identity;
  for (int distance = 16; distance > 0; distance /= 2)
    mine = fold(mine, __shfl_xor_sync(0xffffffffu, mine, distance));
  return mine;
}

template <class T>
__device__ T block_sum(T mine) {
  return over_block(mine, T(0), [](T a, T b) { return a + b; });
}

__device__ inline int block_max(int mine) {
  return over_block(mine, 0, [](int a, int b) { return a > b ? a : b; });
}

// Magnitudes as integers have the order of the numbers, with infinity above them and NaN above
// infinity. A maximum of floats could lose a NaN.
__device__ inline int magnitude_bits(float v) {
  return __float_as_int(v) & 0x7fffffff;
}
__device__ inline bool finite_bits(int bits) {
  return bits < 0x7f800000;
}

// The place of sample s of unit 0 in slots x chunks x units x chunk; the next unit is `chunk`
// further.
__device__ inline std::size_t lane_of(std::uint32_t slot, std::uint32_t s, std::uint32_t chunks,
                                      std::uint32_t chunk, std::uint32_t units) {
  const std::uint32_t c = s / chunk;
  return (static_cast<std::size_t>(slot) * chunks + c) * units * chunk + (s - c * chunk);
}

}  // namespace ticopd::cuda::general
