#pragma once

#include <cstdint>

#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/cuda/codecs/report.cuh"

namespace ticopd::cuda {

// Threads per block in kernels with four coordinates per thread.
inline constexpr unsigned block_threads = 256;
inline constexpr unsigned block_coordinates = 4 * block_threads;

// The decision about a message: it is sent, it could not be encoded, or it was skipped.
enum Verdict : std::uint32_t { travels = 0, refused = 1, stays = 2 };

// The state of a message that the kernels of one exchange share. Every exchange writes `verdict`
// anew; `bad` and `arrived` are 0 between kernels.
struct MessageState {
  std::uint32_t verdict;
  std::uint32_t bad;      // something in it cannot be sent
  std::uint32_t arrived;  // thread blocks so far
  std::uint32_t sent;     // random_gossip: 1 if the row was sent
};

// The rows to encode: v - h of the exchange (v if raw), or rows that an outer codec kept.
struct Input {
  float* kept = nullptr;  // null: of the exchange; rows begin at multiples of 512 bytes
  std::uint64_t stride = 0;
  const std::uint32_t* lengths = nullptr;  // by message; null: all are `length`
  std::uint64_t length = 0;

  __device__ std::uint32_t length_of(std::uint32_t m) const {
    return lengths != nullptr ? lengths[m] : static_cast<std::uint32_t>(length);
  }
};

// The counts of a message with n encoded coordinates, besides its own bytes. Paper bits: `all`, or,
// if n depends on the row, n level + n + 32 norms (if there are any) + n index.
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

// The place of a thread block in a grid that has `tiles` blocks per message.
struct Tile {
  std::uint32_t message, index;
  __device__ explicit Tile(std::uint32_t tiles)
      : message(blockIdx.x / tiles), index(blockIdx.x - message * tiles) {}
};

// The number of tiles for so much work. It is at least one, so that every message is decided.
inline std::uint32_t tiles_of(std::size_t work, std::size_t of_one) {
  return work == 0 ? 1 : static_cast<std::uint32_t>((work - 1) / of_one + 1);
}

inline Grid grid_of(std::uint32_t tiles, const Exchange& e, unsigned threads = block_threads) {
  return {.blocks = tiles * e.count, .threads = threads, .early = true};
}

__device__ __forceinline__ bool is_skipped(const Exchange& e, std::uint32_t m) {
  return e.skipped != nullptr && e.skipped[m] != 0;
}

// Called by one thread only.
__device__ inline void count_message(const Exchange& e, std::uint32_t m, std::uint64_t bytes,
                                     double paper_bits) {
  Counters& c = e.counters[e.messages[m].slot];
  c.messages += 1;
  c.bytes += bytes;
  c.paper_bits = __dadd_rn(c.paper_bits, __dadd_rn(e.flag_bits, paper_bits));
}

// Decides if a message is sent. Called by one thread, after all that could find something bad have
// arrived. `first`: nothing was decided before.
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

// True in the last of `blocks` thread blocks that arrive; it then sees what the others wrote
// before. All threads of a block call it.
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
