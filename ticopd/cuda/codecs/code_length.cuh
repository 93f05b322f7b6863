#pragma once

#include <cstdint>

#include "ticopd/codecs/frequencies.hpp"

namespace ticopd::cuda {

// The length of an entropy-coded message from the counts of its tokens: level_bytes of
// ticopd/codecs/frequencies.cpp, by one thread block with one thread per token. It uses integers
// only, so the result is the same.

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Most {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// Combines one value per thread of the block; all threads get the result.
template <class Combine>
__device__ std::uint64_t over_block(std::uint64_t value, Combine combine) {
  __shared__ std::uint64_t warps[32];
#pragma unroll
  for (int half = 16; half > 0; half /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, half));
  __syncthreads();  // all have read the values of the last call
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[0];
  for (unsigned w = 1; w < blockDim.x / 32; ++w) value = combine(value, warps[w]);
  return value;
}

// Returns the sum of the values of all threads before this one; `total` is the sum of all values.
__device__ inline std::uint64_t scan_block(std::uint64_t value, std::uint64_t& total) {
  __shared__ std::uint64_t warps[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint64_t sum = value;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint64_t before = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += before;
  }
  __syncthreads();  // all have read the values of the last call
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  std::uint64_t before = 0;
  total = 0;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) {
    if (w == warp) before = total;
    total += warps[w];
  }
  return before + sum - value;
}

// The tokens that occur, one bit per token.
struct UsedTokens {
  std::uint32_t words[most_tokens / 32];

  __device__ int before(std::uint32_t t) const {  // -1: none
    std::uint32_t left = words[t / 32] & ((1u << t % 32) - 1);
    for (int w = static_cast<int>(t / 32);; left = words[w]) {
      if (left != 0) return 32 * w + static_cast<int>(exponent_of(left));
      if (--w < 0) return -1;
    }
  }
  __device__ bool any_after(std::uint32_t t) const {
    std::uint32_t left = words[t / 32] & ~((2u << t % 32) - 1);
    for (std::uint32_t w = t / 32 + 1; w < most_tokens / 32; ++w) left |= words[w];
    return left != 0;
  }
};

// `counts` has most_tokens places in shared memory, for n coordinates in all. All threads of a
// block of whole warps call it, and all get the length.
__device__ inline std::uint64_t level_bytes_of(const std::uint32_t* counts, std::uint32_t n,
                                               std::uint32_t most) {
  __shared__ UsedTokens used;
  __shared__ std::uint32_t frequencies[most_tokens];
  const std::uint64_t planes =
      1 + plane_bytes(n, static_cast<unsigned>(std::bit_width(most))) + plane_bytes(n, 1);
  if (n == 0) return planes;
  std::uint64_t tokens = 0, first_of_most = 0;
  for (std::uint32_t t = threadIdx.x; t < most_tokens; t += blockDim.x) {
    const std::uint32_t word = __ballot_sync(~0u, counts[t] != 0);
    if (t % 32 == 0) used.words[t / 32] = word;
    tokens += counts[t] != 0;
    first_of_most = Most()(first_of_most, std::uint64_t{counts[t]} << 9 | (511 - t));
  }
  tokens = over_block(tokens, Sum());
  first_of_most = over_block(first_of_most, Most());
  std::uint64_t given = 0;
  for (std::uint32_t t = threadIdx.x; t < most_tokens; t += blockDim.x) {
    const std::uint64_t share = frequency_sum - tokens;
    const std::uint32_t f = counts[t] == 0 ? 0u : token_frequency(counts[t], share, n);
    frequencies[t] = f;
    given += f;
  }
  given = over_block(given, Sum());
  if (threadIdx.x == 0)
    frequencies[511 - (first_of_most & 511)] += frequency_sum - static_cast<std::uint32_t>(given);
  __syncthreads();
  std::uint64_t table = 0, cost = 0, raw = 0;
  for (std::uint32_t t = threadIdx.x; t < most_tokens; t += blockDim.x) {
    if (counts[t] == 0) continue;
    const int before = used.before(t);
    table += gamma_bits(static_cast<std::uint32_t>(static_cast<int>(t) - before));
    const std::uint32_t f = frequencies[t], e = exponent_of(f);
    if (used.any_after(t)) {
      const std::uint32_t last = before < 0 ? frequency_bits - 1 : exponent_of(frequencies[before]);
      table += gamma_bits(exponent_change(e, last)) + e;
    }
    cost += counts[t] * token_cost(f);
    if (t > 0) raw += std::uint64_t{counts[t]} * (1 + low_bits(t));
  }
  table = over_block(table, Sum()) + gamma_bits(static_cast<std::uint32_t>(tokens));
  cost = over_block(cost, Sum());
  raw = over_block(raw, Sum());
  const std::uint64_t states = tokens == 1 ? 0 : ans_bytes_of(cost);
  const std::uint64_t coded = 1 + (table + 7) / 8 + states + (raw + 7) / 8;
  return coded < planes ? coded : planes;
}

}  // namespace ticopd::cuda
