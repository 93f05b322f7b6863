#pragma once

#include <cstdint>

#include "ticopd/cuda/fused_kernels.cuh"
#include "ticopd/cuda/fused_ptx.cuh"
#include "ticopd/cuda/fused_wgmma.cuh"

// The int8 product that forward and backward have in common: a ring of stages in shared memory,
// filled by one warp and emptied by two warp groups of 64 rows each. The operands lie in global
// memory as images of what shared memory shall hold, so two plain bulk copies fill a stage.
namespace ticopd::cuda::fused {

inline constexpr int stage_bytes = a_bytes + b_bytes;
inline constexpr int stages = 6;  // of 27 KB

// Offsets in shared memory.
struct Shared {
  static constexpr int image = stages * stage_bytes;  // of dH, of a partial dW1
  static constexpr int parameters = image + 2 * b_bytes;
  static constexpr int largest = parameters + shared_parameter_bytes;
  static constexpr int forward_barriers = largest + 8 * sizeof(float);
  static constexpr int backward_barriers = image + w1_partial * sizeof(float);
  static constexpr int barriers = 16 * stages;
  static constexpr int slack = 1024;  // to the first multiple of 1024
  static constexpr int forward_bytes = forward_barriers + barriers + slack;
  static constexpr int backward_bytes = backward_barriers + barriers + slack;
};
static_assert(Shared::forward_bytes <= 227 * 1024 && Shared::backward_bytes <= 227 * 1024);
static_assert(Shared::forward_barriers % 8 == 0 && Shared::backward_barriers % 8 == 0);

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
};

// Who this thread is, and where its block's shared memory lies.
struct Self {
  std::uint8_t* memory;
  std::uint32_t base, full, empty;  // as addresses of shared memory
  int tid, group, warp, lane;
  int t, r;  // in an accumulator: lane of the quad, row

  __device__ __forceinline__ explicit Self(int barriers)
      : memory(dynamic_shared()),
        base(shared_address(memory)),
        full(base + barriers),
        empty(full + 8 * stages),
        tid(threadIdx.x),
        group(tid >> 7),
        warp(tid >> 5),
        lane(tid & 31),
        t(lane & 3),
        r(lane >> 2) {
    if (tid == 0) {
      for (int i = 0; i < stages; i++) {
        barrier_init(full + 8 * i, 1);
        barrier_init(empty + 8 * i, 8);  // warps
      }
      fence_barrier_init();
    }
    __syncthreads();
  }

  // Everything up to here may overlap the end of the kernel before; nothing of it was read yet.
  __device__ __forceinline__ void begin() const {
    wait_for_kernel_before();
    fence_async();  // its ordinary stores are read by bulk copies here
  }

  __device__ __forceinline__ bool produces() const { return group == 2; }
  __device__ __forceinline__ bool leads_group() const { return (tid & 127) == 0; }
  __device__ __forceinline__ std::uint32_t stage(const Place& place) const {
    return base + place.stage * stage_bytes;
  }

  // X passes once, and shall be the first to leave the L2 cache (`policy`).
  __device__ __forceinline__ void fill(const Place& place, const std::uint8_t* a,
                                       const std::uint8_t* b, std::uint64_t policy) const {
    barrier_wait(empty + 8 * place.stage, place.phase ^ 1);
    const std::uint32_t to = stage(place), barrier = full + 8 * place.stage;
    barrier_expect(barrier, stage_bytes);
    bulk_load(to, a, a_bytes, barrier, policy);
    bulk_load(to + a_bytes, b, b_bytes, barrier);
  }
  __device__ __forceinline__ void wait_full(const Place& place) const {
    barrier_wait(full + 8 * place.stage, place.phase);
  }
  __device__ __forceinline__ void release(int stage) const {
    if (lane == 0) barrier_arrive(empty + 8 * stage);
  }
};

// K-major rows of 64 bytes with 64-byte swizzle; groups of eight rows are 512 bytes apart.
__device__ __forceinline__ std::uint64_t descriptor(std::uint32_t address) {
  return static_cast<std::uint64_t>((address & 0x3FFFF) >> 4) | std::uint64_t{1} << 16 |
         std::uint64_t{32} << 32 | std::uint64_t{2} << 62;
}

struct Accumulator {
  std::int32_t low[80], high[72];  // columns 0 ... 159 and 160 ... 303

  // Cheaper than a first product that overwrites: that keeps 152 dead registers alive around the
  // loop, and they spill.
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 80; i++) low[i] = 0;
#pragma unroll
    for (int i = 0; i < 72; i++) high[i] = 0;
  }

  // The products of one stage with this group's 64 rows, still under way when it returns. Loops
  // around products must have constant trip counts, or the compiler serialises them (C7518).
  __device__ __forceinline__ void add(std::uint32_t stage, int group) {
    const std::uint64_t a = descriptor(stage + group * 64 * chunk);
    const std::uint64_t b = descriptor(stage + a_bytes);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < chunk / 32; k++) {
      wgmma_160(low, a + 2 * k, b + 2 * k);
      wgmma_144(high, a + 2 * k, b + 2 * k + 160 * chunk / 16);
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
