#pragma once

#include <cstddef>
#include <cstdint>

namespace ticopd::cuda {

inline constexpr unsigned row_sum_threads = 1024;

// sum of term(k) for k in [0, count) in the frozen tree of numeric/sum.hpp, by one thread block of
// row_sum_threads; thread 0 gets it. Sixteen threads add up one block of 128 coordinates.
template <class Term>
__device__ double row_sum(std::size_t count, Term term) {
  constexpr unsigned groups = row_sum_threads / 16;
  __shared__ double sums[groups];
  const unsigned lane = threadIdx.x % 16, group = threadIdx.x / 16;
  double total = 0;  // of threads 0 ... 15: the lanes of blocks
  const std::size_t blocks = (count + 127) / 128;
  for (std::size_t first = 0; first < blocks; first += groups) {
    const std::size_t begin = (first + group) * 128;
    double sum = 0;
    for (int i = 0; i < 8; ++i) {
      const std::size_t k = begin + 16 * i + lane;
      if (k < count) sum += term(k);
    }
    for (int half = 8; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half, 16);
    if (lane == 0) sums[group] = sum;
    __syncthreads();
    if (threadIdx.x < 16)
      for (unsigned b = threadIdx.x; b < groups && first + b < blocks; b += 16) total += sums[b];
    __syncthreads();
  }
  if (threadIdx.x < 32)
    for (int half = 8; half > 0; half /= 2) total += __shfl_down_sync(~0u, total, half, 16);
  return total;
}

// The same tree in two steps, for many thread blocks. First the sum of one block of 128
// coordinates, by 128 threads with one term each (0 beyond the end of the row); thread 0 gets it. A
// kernel may call it only once.
inline constexpr unsigned part_threads = 128;

__device__ inline double part_sum(double term) {
  __shared__ double terms[part_threads];
  terms[threadIdx.x] = term;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x >= 32) return sum;
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) sum += terms[16 * i + threadIdx.x % 16];
#pragma unroll
  for (int half = 8; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half, 16);
  return sum;
}

// Then the sum of these parts, by row_sum_threads threads: sixteen add, the others fetch for them.
// Thread 0 gets it.
__device__ inline double sum_of_parts(const double* parts, std::size_t count) {
  __shared__ double stage[row_sum_threads];
  double total = 0;
  for (std::size_t first = 0; first < count; first += row_sum_threads) {
    if (first + threadIdx.x < count) stage[threadIdx.x] = parts[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16)
      for (unsigned b = threadIdx.x; b < row_sum_threads && first + b < count; b += 16)
        total += stage[b];
    __syncthreads();
  }
  if (threadIdx.x < 32)
    for (int half = 8; half > 0; half /= 2) total += __shfl_down_sync(~0u, total, half, 16);
  return total;
}

}  // namespace ticopd::cuda
