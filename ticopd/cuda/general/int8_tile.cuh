#pragma once

#include "ticopd/cuda/hopper/copies.cuh"
#include "ticopd/cuda/hopper/swizzle.hpp"
#include "ticopd/cuda/hopper/wgmma.cuh"

// One thread block's tile of a product of int8 matrices. Both matrices lie along the summed
// dimension.
namespace ticopd::cuda::general {

using hopper::tile_row_bytes;

template <int kColumns>
struct Int8Tile {
  static constexpr int rows = 128;  // 64 for each of two warp groups
  static constexpr unsigned threads = 256;
  static constexpr int stages = 5;
  static constexpr int stage_bytes = (rows + kColumns) * tile_row_bytes;
  static constexpr int slack = 1024;  // to the first multiple of 1024
  static constexpr int shared_bytes = stages * stage_bytes + slack;
  static_assert(2 * (shared_bytes + 2048) <= 228 * 1024, "two blocks on a multiprocessor");
  static_assert(stage_bytes % 512 == 0, "a swizzle begins at multiples of 512");

  // The distance between columns of sums in the stages' shared memory, through which the sums
  // leave. It spreads a warp's lanes, four columns of eight rows each, over 32 different banks.
  static constexpr int column_pitch = rows + 4;
  static_assert(kColumns * column_pitch * 4 <= stages * stage_bytes);

  // In the order of wgmma_s8, per warp group.
  std::int32_t sums[kColumns / 2];

  // row_of_a(r) and row_of_b(r) return where row r of the tile begins, null if there is no such
  // row; row 0 exists. Rows have k bytes, a multiple of 16.
  template <class A, class B>
  __device__ void multiply(std::uint32_t base, std::uint32_t k, const A& row_of_a,
                           const B& row_of_b) {
    // A thread copies 16 bytes of every 64th row. Everything it needs is computed before the first
    // step, because a step should cost few instructions.
    constexpr int step_rows = threads / 4;
    constexpr int of_a = rows / step_rows, of_b = (kColumns + step_rows - 1) / step_rows;
    const int unit = threadIdx.x % 4, first = threadIdx.x / 4;
    const std::int8_t* from[of_a + of_b];
    bool is_there[of_a + of_b];
    const auto look = [&](int j, const std::int8_t* row, const std::int8_t* any) {
      is_there[j] = row != nullptr;
      from[j] = (is_there[j] ? row : any) + 16 * unit;
    };
#pragma unroll
    for (int j = 0; j < of_a; ++j) look(j, row_of_a(first + step_rows * j), row_of_a(0));
#pragma unroll
    for (int j = 0; j < of_b; ++j)
      look(of_a + j, first + step_rows * j < kColumns ? row_of_b(first + step_rows * j) : nullptr,
           row_of_b(0));
    const std::uint32_t steps = (k + tile_row_bytes - 1) / tile_row_bytes;
    const bool in_last_step = (steps - 1) * tile_row_bytes + 16 * unit < k;

    std::uint32_t fetched = 0,
                  to = base + static_cast<std::uint32_t>(hopper::swizzled(first, unit));
    const std::uint32_t end = base + stages * stage_bytes;
    const auto fetch = [&] {
      if (fetched < steps) {
        const bool in_k = fetched + 1 < steps || in_last_step;
#pragma unroll
        for (int j = 0; j < of_a + of_b; ++j) {
          const bool last_of_b = j == of_a + of_b - 1;
          if (!last_of_b || kColumns % step_rows == 0 || first < kColumns % step_rows)
            hopper::copy16_or_zeros(to + j * step_rows * tile_row_bytes, from[j],
                                    is_there[j] && in_k);
          from[j] += tile_row_bytes;
        }
        ++fetched;
        to += stage_bytes;
        if (to >= end) to -= stages * stage_bytes;
      }
      hopper::commit_copies();
    };
    constexpr int ahead = stages - 2;
#pragma unroll
    for (int step = 0; step < ahead; ++step) fetch();
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) sums[i] = 0;
    std::uint32_t stage = base;
    const std::uint32_t group = threadIdx.x / 128 * 64 * tile_row_bytes;
    for (std::uint32_t step = 0; step < steps; ++step) {
      hopper::wait_for_copies<ahead - 1>();
      hopper::fence_async_shared();  // ordinary copies, read by the asynchronous proxy
      __syncthreads();               // and the products before the last are done, in both groups
      fetch();
      const std::uint64_t a = hopper::tile_descriptor(stage + group);
      const std::uint64_t b = hopper::tile_descriptor(stage + rows * tile_row_bytes);
      hopper::wgmma_fence();
      hopper::wgmma_s8(sums, a, b);
      hopper::wgmma_s8(sums, a + 2, b + 2);
      hopper::wgmma_commit();
      hopper::wgmma_wait<1>();
      stage = stage + stage_bytes == end ? base : stage + stage_bytes;
    }
    hopper::wgmma_wait<0>();
    hopper::wait_for_copies<0>();
    __syncthreads();  // nobody reads the stages any more
  }
};

}  // namespace ticopd::cuda::general
