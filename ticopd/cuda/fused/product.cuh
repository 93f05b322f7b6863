#pragma once

#include <cstdint>

#include "ticopd/cuda/fused/kernels.cuh"
#include "ticopd/cuda/fused/warp_groups.cuh"
#include "ticopd/cuda/hopper/barriers.cuh"
#include "ticopd/cuda/hopper/copies.cuh"
#include "ticopd/cuda/hopper/ptx.cuh"
#include "ticopd/cuda/hopper/wgmma.cuh"

// The int8 product that forward and backward share: a ring of stages in shared memory, filled by
// one warp and emptied by two warp groups, each of which multiplies 64 rows at a time. The operands
// lie in global memory as images of shared memory, so plain bulk copies fill a stage.
namespace ticopd::cuda::fused {

using namespace hopper;  // these kernels are written in its instructions

// The place of this thread in its block, and the block's shared memory.
struct Self {
  std::uint8_t* memory;
  std::uint32_t base;  // its address
  int tid, group, warp, lane;
  int t, r;  // in an accumulator: lane of the quad, row

  __device__ __forceinline__ Self()
      : memory(dynamic_shared()),
        base(shared_address(memory)),
        tid(threadIdx.x),
        group(tid >> 7),
        warp(tid >> 5),
        lane(tid & 31),
        t(lane & 3),
        r(lane >> 2) {}

  __device__ __forceinline__ bool produces() const { return group == 2; }
  __device__ __forceinline__ bool leads_group() const { return (tid & 127) == 0; }
};

inline constexpr int stages = 6;

// A place in the ring.
struct Place {
  int stage = 0;
  std::uint32_t phase = 0;
  __device__ __forceinline__ void next() {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ __forceinline__ void skip(int count) {
    stage += count;
    while (stage >= stages) {
      stage -= stages;
      phase ^= 1;
    }
  }
};

// Says who waits for whom. A stage is free when the four warps of a group have released it in every
// block of the cluster (forward), or all eight warps of a block (backward). Weights make the number
// of releases the same.
inline constexpr int ring_releases = cluster_blocks > 2 ? 4 * cluster_blocks : 8;
struct Ring {
  std::uint32_t full, empty;
  float2* notes;  // one per stage, by the warp that fills it
  static constexpr int bytes = 24 * stages;

  __device__ __forceinline__ Ring(const Self& self, int offset)
      : full(self.base + offset),
        empty(full + 8 * stages),
        notes(reinterpret_cast<float2*>(self.memory + offset + 16 * stages)) {}
  __device__ __forceinline__ void init() const {  // by one thread
    for (int i = 0; i < stages; i++) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, ring_releases);
    }
    fence_barrier_init();
  }

  __device__ __forceinline__ std::uint32_t filled(const Place& place) const {
    return full + 8 * place.stage;
  }
  // Waits until the stage is free, then expects so many bytes.
  __device__ __forceinline__ void begin_fill(const Place& place, int awaited) const {
    barrier_wait(empty + 8 * place.stage, place.phase ^ 1);
    barrier_expect(filled(place), awaited);
  }
  __device__ __forceinline__ void begin_fill(const Place& place, int awaited, float2 note) const {
    barrier_wait(empty + 8 * place.stage, place.phase ^ 1);
    notes[place.stage] = note;
    barrier_expect(filled(place), awaited);
  }
  __device__ __forceinline__ void wait_full(const Place& place) const {
    barrier_wait(filled(place), place.phase);
  }
  __device__ __forceinline__ float2 note(const Place& place) const { return notes[place.stage]; }
};

// The stages, from the start of shared memory on: `rows` rows of A, then all of B.
template <int rows>
struct Stages {
  static constexpr int a_size = rows * chunk;
  static constexpr int stage_bytes = a_size + b_bytes;
  static constexpr int bytes = stages * stage_bytes;
  static __device__ __forceinline__ std::uint32_t a(const Self& self, const Place& place) {
    return self.base + place.stage * stage_bytes;
  }
  static __device__ __forceinline__ std::uint32_t b(const Self& self, const Place& place) {
    return a(self, place) + a_size;
  }
};

// The int32 sums of 64 rows and all digit columns, spread over a warp group.
struct Accumulator {
  std::int32_t low[80], high[72];  // columns 0 ... 159 and 160 ... 303

  // Cheaper than a first product that overwrites: that would keep 152 dead registers alive around
  // the loop, and they would spill.
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 80; i++) low[i] = 0;
#pragma unroll
    for (int i = 0; i < 72; i++) high[i] = 0;
  }

  // Starts the products of 64 rows at these addresses; they are still running when it returns.
  // Loops around products must have constant trip counts, or the compiler serialises them (C7518).
  __device__ __forceinline__ void add(std::uint32_t a_rows, std::uint32_t b_rows) {
    const std::uint64_t a = tile_descriptor(a_rows);
    const std::uint64_t b = tile_descriptor(b_rows);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < chunk / 32; k++) {
      wgmma_u8(low, a + 2 * k, b + 2 * k);
      wgmma_u8(high, a + 2 * k, b + 2 * k + 160 * chunk / 16);
    }
    wgmma_commit();
  }

  // This lane's i-th column in row r + 8 half; constant indices once loops are unrolled.
  __device__ __forceinline__ std::int32_t column(int i, int half) const {
    const int b = i >> 1, k = half * 2 + (i & 1);
    return b < 20 ? low[b * 4 + k] : high[(b - 20) * 4 + k];
  }
  __device__ __forceinline__ float value(int unit, int half) const {
    const auto digit = [&](int k) { return static_cast<float>(column(3 * unit + k, half)); };
    return fmaf(digit(2), 65536.f, fmaf(digit(1), 256.f, digit(0)));
  }
};

}  // namespace ticopd::cuda::fused
