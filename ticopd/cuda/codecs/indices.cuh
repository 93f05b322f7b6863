#pragma once

#include "ticopd/cuda/codecs/code_length.cuh"
#include "ticopd/cuda/codecs/message.cuh"

namespace ticopd::cuda {

// The indices of kept coordinates, in the format of ticopd/codecs/indices.hpp.
struct IndexPart {
  Tally tally;  // of the whole message, if `values_follow` is 0
  const MessageState* states;
  const std::uint32_t* indices;  // by message, ascending
  const std::uint32_t* lengths;
  std::uint32_t* planes;  // by message
  std::uint32_t* bytes;   // by message: of the indices and what is before them
  std::uint64_t indices_stride, planes_stride;
  std::uint32_t width;          // bits of an index
  std::uint32_t count_bytes;    // that hold the number of indices
  std::uint32_t values_follow;  // another codec sends the values, and counts the message
  std::uint32_t tiles;
};

// Called by one thread.
__device__ inline void count_indices(const Exchange& e, const IndexPart& to, std::uint32_t m,
                                     std::uint32_t n, std::uint64_t bytes) {
  bytes += to.count_bytes;
  to.bytes[m] = static_cast<std::uint32_t>(bytes);
  if (to.values_follow == 0)
    count_message(e, m, bytes + 4 * std::uint64_t{n}, to.tally.paper_bits(n, 0));
}

// Writes a plane; each thread makes one word of it.
static __global__ void __launch_bounds__(block_threads) write_indices(Exchange e, IndexPart to) {
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message, n = to.lengths[m];
  if (to.states[m].verdict != travels) return;
  const std::uint64_t word = std::uint64_t{tile.index} * block_threads + threadIdx.x;
  if (word == 0) count_indices(e, to, m, n, plane_bytes(n, to.width));
  if (to.width == 0 || 32 * word >= std::uint64_t{n} * to.width) return;
  const std::uint32_t* indices = to.indices + m * to.indices_stride;
  std::uint32_t value = 0;
  for (std::uint64_t i = 32 * word / to.width; i < n && i * to.width < 32 * word + 32; ++i) {
    const auto shift = static_cast<int>(static_cast<std::int64_t>(i * to.width) -
                                        static_cast<std::int64_t>(32 * word));
    value |= shift >= 0 ? indices[i] << shift : indices[i] >> -shift;
  }
  to.planes[m * to.planes_stride + word] = value;
}

// Counts the bits of the Rice codes of the gaps; no bytes are made. One thread block per message.
static __global__ void __launch_bounds__(block_threads) count_gaps(Exchange e, IndexPart to) {
  wait_for_kernel_before();
  const std::uint32_t m = blockIdx.x, n = to.lengths[m];
  if (to.states[m].verdict != travels) return;
  const std::uint32_t* indices = to.indices + m * to.indices_stride;
  std::uint64_t best = 0;
  for (std::uint32_t b = 0; b <= to.width; ++b) {
    std::uint64_t ones = 0;
    for (std::uint32_t i = threadIdx.x; i < n; i += block_threads)
      ones += (indices[i] - (i == 0 ? 0 : indices[i - 1] + 1)) >> b;
    const std::uint64_t bits = std::uint64_t{n} * (b + 1) + over_block(ones, Sum());
    if (b == 0 || bits < best) best = bits;
  }
  if (threadIdx.x == 0) count_indices(e, to, m, n, 1 + (best + 7) / 8);
}

}  // namespace ticopd::cuda
