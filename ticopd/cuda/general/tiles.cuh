#pragma once

// Tiles of products of floats, summed in double by tensor cores, which multiply doubles as fast as
// the other cores multiply floats.
namespace ticopd::cuda::general {

constexpr int warps = 4;
constexpr unsigned threads = 32 * warps;
constexpr int depth = 16;          // terms of a sum at a time
constexpr int lanes = 16 * warps;  // columns of a block, 16 for each warp
// With these row lengths in shared memory, a warp's fragments come from 32 different banks.
constexpr int row_pitch = depth + 4;
constexpr int lane_pitch = lanes + 8;

// c += a b, a 16 x 16, b 16 x 8: the largest shape there is, and the only one that comes near the
// peak. In lane 4 g + t, a[2 j] is (g, t + 4 j), a[2 j + 1] is (g + 8, t + 4 j), b[j] is (t + 4 j,
// g), and c is (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1).
__device__ inline void multiply_add(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

// A thread's part of a block's sums: the c of multiply_add for every 16 rows and for both eights of
// its warp's lanes.
template <class T, int kTiles>
struct TileSums {
  T of[kTiles][2][4];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) of[i][n][e] = T{};
  }

  // Calls take(row, lane, first, second) for two neighbouring lanes of a row of the block's tile.
  template <class Take>
  __device__ void finish(const Take& take) const {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int first_lane = static_cast<int>(threadIdx.x) / 32 * 16;
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          take(16 * i + g + 8 * half, first_lane + 8 * n + 2 * t, of[i][n][2 * half],
               of[i][n][2 * half + 1]);
  }
};

// Sums in double.
template <int kTiles>
struct Sums : TileSums<double, kTiles> {
  // a: 16 kTiles rows of `depth`. b(k, lane) reads the other operand.
  template <class B>
  __device__ void add(const float (*a)[row_pitch], const B& b) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int first_lane = static_cast<int>(threadIdx.x) / 32 * 16;
    double right[2][4];
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int j = 0; j < 4; ++j) right[n][j] = b(t + 4 * j, first_lane + 8 * n + g);
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      double left[8];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        left[2 * j] = a[16 * i + g][t + 4 * j];
        left[2 * j + 1] = a[16 * i + g + 8][t + 4 * j];
      }
      multiply_add(this->of[i][0], left, right[0]);
      multiply_add(this->of[i][1], left, right[1]);
    }
  }
};

}  // namespace ticopd::cuda::general
