#pragma once

#include <cstdint>

#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/cuda/codecs/report.cuh"

namespace ticopd::cuda {

// Threads of a block in kernels where each thread has four coordinates.
inline constexpr unsigned block_threads = 256;
inline constexpr unsigned block_coordinates = 4 * block_threads;

enum Verdict : std::uint32_t { travels = 0, refused = 1, stays = 2 };

// What the kernels of one exchange tell each other of a message. `verdict` is written anew in every
// exchange; `bad` and `arrived` are 0 between kernels.
struct MessageState {
  std::uint32_t verdict;
  std::uint32_t bad;      // something in it cannot be sent
  std::uint32_t arrived;  // blocks
  std::uint32_t sent;     // random_gossip: whether the row went out
};

// The rows that are encoded: v - h of the exchange (v where raw), or rows that an outer codec kept.
struct Input {
  float* kept = nullptr;  // null: of the exchange; rows begin at multiples of 512 bytes
  std::uint64_t stride = 0;
  const std::uint32_t* lengths = nullptr;  // by message; null: all are `length`
  std::uint64_t length = 0;

  __device__ std::uint32_t length_of(std::uint32_t m) const {
    return lengths != nullptr ? lengths[m] : static_cast<std::uint32_t>(length);
  }
};

// What is counted for a message of n coordinates that are encoded, besides its own bytes. Paper
// bits: `all`, or, where n depends on the row, n level + n + 32 norms (if any travel) + n index.
struct Tally {
  double all = 0;
  double level = 0, norm = 0, index = 0;
  const std::uint32_t* more = nullptr;  // bytes of other parts, by message
  std::uint32_t more_in_each = 0;
  std::uint32_t depends = 0;

  __device__ double paper_bits(std::uint32_t n, std::uint32_t norms) const {
    if (depends == 0) return all;
    const double c = n;
    const double inner = __dadd_rn(__dadd_rn(__dmul_rn(c, level), c), norm * norms);
    return __dadd_rn(inner, __dmul_rn(c, index));
  }
  __device__ std::uint64_t other_bytes(std::uint32_t m) const {
    return more_in_each + (more != nullptr ? more[m] : 0u);
  }
};

// Blocks of a grid: `tiles` of them for each message.
struct Tile {
  std::uint32_t message, index;
  __device__ explicit Tile(std::uint32_t tiles)
      : message(blockIdx.x / tiles), index(blockIdx.x - message * tiles) {}
};

inline std::uint32_t tiles_of(std::size_t work, std::size_t of_one) {
  return work == 0 ? 1 : static_cast<std::uint32_t>((work - 1) / of_one + 1);
}

inline Grid grid_of(std::uint32_t tiles, const Exchange& e, unsigned threads = block_threads) {
  return {.blocks = tiles * e.count, .threads = threads, .early = true};
}

__device__ __forceinline__ bool is_skipped(const Exchange& e, std::uint32_t m) {
  return e.skipped != nullptr && e.skipped[m] != 0;
}

// By one thread of all.
__device__ inline void count_message(const Exchange& e, std::uint32_t m, std::uint64_t bytes,
                                     double paper_bits) {
  Counters& c = e.counters[e.messages[m].slot];
  c.messages += 1;
  c.bytes += bytes;
  c.paper_bits = __dadd_rn(c.paper_bits, __dadd_rn(e.flag_bits, paper_bits));
}

// By one thread, once all who could find something bad have arrived. `first`: nobody judged before.
__device__ inline Verdict settle(const Exchange& e, std::uint32_t m, MessageState& state,
                                 bool first, std::uint32_t round) {
  const bool bad = atomicExch(&state.bad, 0u) != 0;
  const auto before =
      static_cast<Verdict>(first ? (is_skipped(e, m) ? stays : travels) : state.verdict);
  const Verdict verdict = before == travels && bad ? refused : before;
  if (verdict == refused && before == travels) report(e.trouble, e.messages[m], round);
  if (verdict == stays && first) count_message(e, m, 0, 0.0);
  state.verdict = verdict;
  return verdict;
}

// True in the last of `blocks` blocks that come here; it then sees what the others wrote before.
// All threads of a block come.
__device__ inline bool last_to_arrive(MessageState& state, std::uint32_t blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&state.arrived, 1u) == blocks - 1;
    if (last) state.arrived = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

}  // namespace ticopd::cuda
