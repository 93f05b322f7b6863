#pragma once

#include <cstdint>

#include "ticopd/cuda/general/tiles.cuh"

// Tiles of products of floats on tensor cores that multiply TF32. Every factor is split into two
// parts of 11 bits. The product of both low parts is left out; it is 2^-22 of the whole. This is
// three times the work at sixteen times the speed of doubles. Tensor cores truncate what they sum,
// so that long chains drift. So sums over `depth` begin anew, and are added in rounded floats.
namespace ticopd::cuda::general {

constexpr int split_warps = 8;
constexpr unsigned split_threads = 32 * split_warps;
constexpr int split_lanes = 16 * split_warps;  // columns of a block
static_assert(split_lanes == block_lanes && depth == tile);

// The two parts of a float.
struct Parts {
  std::uint32_t high, low;
};

// The high part is rounded, in integers. The low part is exact; the product truncates it. NaN and
// infinities are NaN in one of the parts.
__device__ inline Parts split(float v) {
  const std::uint32_t high = (static_cast<std::uint32_t>(__float_as_int(v)) + 0x1000u) & ~0x1fffu;
  const float low = v - __int_as_float(static_cast<int>(high));
  return {high, static_cast<std::uint32_t>(__float_as_int(low))};
}

// c += a b, a 16 x 8, b 8 x 8. Lane 4 g + t has (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4) of
// a, (t, g), (t + 4, g) of b, and (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1) of c.
__device__ inline void multiply_add(float (&c)[4], const uint4& a, const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]));
}

// c = a b, without registers that hold zeros.
__device__ inline void multiply(float (&c)[4], const uint4& a, const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

// A lane's part of a left operand of 16 x 8, in the order of multiply_add.
struct Left {
  uint4 high, low;
};

// Like Sums, in split floats. The terms of a sum come in another order: the two of eight that a
// lane has are neighbours, 2 t and 2 t + 1 instead of t and t + 4, and are read as one.
template <int kTiles>
struct SplitSums : TileSums<float, kTiles> {
  // a(i, half) is this lane's part of the left operand, for tile i and half of the depth. b(k,
  // lane) reads k and k + 1 of the other operand.
  template <class A, class B>
  __device__ void add(const A& a, const B& b) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int first_lane = static_cast<int>(threadIdx.x) / 32 * 16;
    std::uint32_t high[2][2][2], low[2][2][2];  // half of the depth, lanes, k
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const float2 two = b(8 * half + 2 * t, first_lane + 8 * n + g);
        const Parts first = split(two.x), second = split(two.y);
        high[half][n][0] = first.high, high[half][n][1] = second.high;
        low[half][n][0] = first.low, low[half][n][1] = second.low;
      }
#pragma unroll
    for (int i = 0; i + 1 < kTiles; i += 2) add_tiles<2>(i, a, high, low);
    if constexpr (kTiles % 2 != 0) add_tiles<1>(kTiles - 1, a, high, low);
  }

 private:
  // Two tiles at a time: a product waits for the one before it in the same sum, so there should be
  // others to do meanwhile.
  template <int kMany, class A>
  __device__ void add_tiles(int first, const A& a, const std::uint32_t (&high)[2][2][2],
                            const std::uint32_t (&low)[2][2][2]) {
    Left left[kMany][2];
#pragma unroll
    for (int i = 0; i < kMany; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) left[i][half] = a(first + i, half);
    float fresh[kMany][2][4];
    const auto each = [&](const auto& act) {
#pragma unroll
      for (int i = 0; i < kMany; ++i)
#pragma unroll
        for (int n = 0; n < 2; ++n) act(i, n);
    };
    each([&](int i, int n) { multiply(fresh[i][n], left[i][0].low, high[0][n]); });
    each([&](int i, int n) { multiply_add(fresh[i][n], left[i][0].high, low[0][n]); });
    each([&](int i, int n) { multiply_add(fresh[i][n], left[i][1].low, high[1][n]); });
    each([&](int i, int n) { multiply_add(fresh[i][n], left[i][1].high, low[1][n]); });
    each([&](int i, int n) { multiply_add(fresh[i][n], left[i][0].high, high[0][n]); });
    each([&](int i, int n) { multiply_add(fresh[i][n], left[i][1].high, high[1][n]); });
    each([&](int i, int n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) this->of[first + i][n][e] += fresh[i][n][e];
    });
  }
};

}  // namespace ticopd::cuda::general
