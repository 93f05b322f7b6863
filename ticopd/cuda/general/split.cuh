#pragma once

#include <cstdint>

#include "ticopd/cuda/general/tiles.cuh"

// Tiles of products of floats on tensor cores that multiply TF32: every factor is two parts of 11
// bits, and of their four products the one of both low parts is left out (2^-22 of the whole).
// Three times the work, but of sixteen times the speed of doubles. Tensor cores truncate what they
// sum, so that long chains drift: sums over `depth` begin anew, and are added in rounded floats.
namespace ticopd::cuda::general {

// Such that a warp reads b(k, lane) from 32 different banks.
constexpr int split_lane_pitch = lanes + 4;   // of rows of lanes
constexpr int split_depth_pitch = depth + 8;  // of lanes of k

struct Parts {
  std::uint32_t high, low;
};

// The high part is rounded, in integers; the low one is exact, and cut where it is multiplied. NaN
// and infinities are NaN in one of them.
__device__ inline Parts split(float v) {
  const std::uint32_t high = (static_cast<std::uint32_t>(__float_as_int(v)) + 0x1000u) & ~0x1fffu;
  const float low = v - __int_as_float(static_cast<int>(high));
  return {high, static_cast<std::uint32_t>(__float_as_int(low))};
}

// c += a b, a 16 x 8, b 8 x 8. Of lane 4 g + t: a is (g, t), (g + 8, t), (g, t + 4), (g + 8, t +
// 4), b is (t, g), (t + 4, g), and c is (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1).
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The left operand in shared memory, split once for all warps: rows of `depth` pairs. Neighbours
// in k stay so, but where they lie differs from row to row: a quarter of a warp reads two rows, and
// writes two columns of eight, from and to 32 different banks.
template <int kTiles>
struct alignas(16) SplitRows {
  uint2 of[16 * kTiles][depth];

  __device__ static int place(int r, int k) { return k ^ (r % 2 * 8 | (r & 6)); }
  __device__ void put(int r, int k, float v) {
    const Parts parts = split(v);
    of[r][place(r, k)] = make_uint2(parts.high, parts.low);
  }
  __device__ void put(int r, int even_k, float v, float next) {
    const Parts a = split(v), b = split(next);
    *reinterpret_cast<uint4*>(&of[r][place(r, even_k)]) = make_uint4(a.high, a.low, b.high, b.low);
  }
};

// As Sums is in doubles. What is summed over comes in another order than there: a lane's two of
// eight are neighbours, t and t + 4 being 2 t and 2 t + 1, and are read as one.
template <int kTiles>
struct SplitSums : TileSums<float, kTiles> {
  // b(k, lane) reads k and k + 1 of the other operand.
  template <class B>
  __device__ void add(const SplitRows<kTiles>& a, const B& b) {
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
    for (int i = 0; i < kTiles; ++i) {
      std::uint32_t left_high[2][4], left_low[2][4];
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int down = 0; down < 2; ++down) {
          const int r = 16 * i + g + 8 * down;
          const uint4 two = *reinterpret_cast<const uint4*>(
              &a.of[r][SplitRows<kTiles>::place(r, 8 * half + 2 * t)]);
          left_high[half][down] = two.x, left_low[half][down] = two.y;
          left_high[half][down + 2] = two.z, left_low[half][down + 2] = two.w;
        }
      float fresh[2][4] = {};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int n = 0; n < 2; ++n) multiply_add(fresh[n], left_low[half], high[half][n]);
#pragma unroll
        for (int n = 0; n < 2; ++n) multiply_add(fresh[n], left_high[half], low[half][n]);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int n = 0; n < 2; ++n) multiply_add(fresh[n], left_high[half], high[half][n]);
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) this->of[i][n][e] += fresh[n][e];
    }
  }
};

}  // namespace ticopd::cuda::general
