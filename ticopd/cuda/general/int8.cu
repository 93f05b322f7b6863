#include "ticopd/cuda/general/int8.hpp"
#include "ticopd/cuda/general/pass.hpp"
#include "ticopd/cuda/general/wgmma.cuh"

namespace ticopd::cuda::general {
namespace {

constexpr int tile_rows = 128;  // 64 for each of two warp groups
constexpr int tile_columns = int8_columns;
constexpr unsigned threads = 256;
constexpr int stages = 5;
constexpr int stage_bytes = (tile_rows + tile_columns) * int8_depth;
// Sums leave through the stages' memory, column by column: 32 lanes to 32 different banks.
constexpr int column_pitch = tile_rows + 4;
constexpr int slack = 1024;  // to the first multiple of 1024
constexpr int shared_bytes = stages * stage_bytes + slack;
static_assert(tile_columns * column_pitch * 4 <= stages * stage_bytes);
static_assert(2 * (shared_bytes + 1024) <= 228 * 1024, "two blocks on a multiprocessor");

struct Int8Args {
  const std::int8_t* a;
  const std::int8_t* b;
  std::int32_t* c;
  std::uint64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
  std::uint32_t m, n, k, unused;
};

__global__ void __launch_bounds__(threads, 2) multiply_tiles(Int8Args args) {
  std::uint8_t* memory = fused::dynamic_shared();
  const std::uint32_t base = fused::shared_address(memory);
  const int tid = static_cast<int>(threadIdx.x);
  const std::uint32_t row0 = blockIdx.y * tile_rows, column0 = blockIdx.x * tile_columns;
  wait_for_kernel_before();

  // A thread copies 16 bytes of every 64th row: two of a, and two or three of b.
  const int unit = tid % 4, first = tid / 4;
  const auto* a = args.a + blockIdx.z * args.stride_a + 16 * unit;
  const auto* b = args.b + blockIdx.z * args.stride_b + 16 * unit;
  const auto fetch = [&](std::uint32_t step) {
    const std::uint32_t to = base + step % stages * stage_bytes, k0 = step * int8_depth;
    const bool in_k = k0 + 16 * static_cast<std::uint32_t>(unit) < args.k;
#pragma unroll
    for (int r = first; r < tile_rows; r += 64) {
      const bool is_there = in_k && row0 + r < args.m;
      copy16_or_zeros(to + swizzled(r, unit), is_there ? a + (row0 + r) * args.lda + k0 : args.a,
                      is_there);
    }
#pragma unroll
    for (int j = 0; j < (tile_columns + 63) / 64; ++j) {
      const int r = first + 64 * j;
      if (r >= tile_columns) continue;
      const bool is_there = in_k && column0 + r < args.n;
      copy16_or_zeros(to + tile_rows * int8_depth + swizzled(r, unit),
                      is_there ? b + (column0 + r) * args.ldb + k0 : args.b, is_there);
    }
  };

  const std::uint32_t steps = (args.k + int8_depth - 1) / int8_depth;
  constexpr int ahead = stages - 2;
#pragma unroll
  for (int step = 0; step < ahead; ++step) {
    if (static_cast<std::uint32_t>(step) < steps) fetch(static_cast<std::uint32_t>(step));
    commit_copies();
  }
  std::int32_t sums[80];
#pragma unroll
  for (int i = 0; i < 80; ++i) sums[i] = 0;
  const int group = tid / 128;
  for (std::uint32_t step = 0; step < steps; ++step) {
    wait_for_copies<ahead - 1>();
    fused::fence_async_shared();  // ordinary copies, read by the asynchronous proxy
    __syncthreads();              // and the products before the last are done, in both groups
    if (step + ahead < steps) fetch(step + ahead);
    commit_copies();
    const std::uint32_t stage = base + step % stages * stage_bytes;
    const std::uint64_t rows = int8_rows(stage + group * 64 * int8_depth);
    const std::uint64_t columns = int8_rows(stage + tile_rows * int8_depth);
    fused::wgmma_fence();
    multiply_add_int8(sums, rows, columns);
    multiply_add_int8(sums, rows + 2, columns + 2);
    fused::wgmma_commit();
    fused::wgmma_wait<1>();
  }
  fused::wgmma_wait<0>();
  wait_for_copies<0>();
  __syncthreads();  // nobody reads the stages any more

  auto* out = reinterpret_cast<std::int32_t*>(memory);
  const int g = tid % 32 / 4, t = tid % 4, row = tid / 32 * 16 + g;
#pragma unroll
  for (int i = 0; i < 80; ++i)
    out[(i / 4 * 8 + 2 * t + i % 2) * column_pitch + row + i % 4 / 2 * 8] = sums[i];
  __syncthreads();
  // A warp writes a column.
  const std::uint32_t lane_row = static_cast<std::uint32_t>(tid % 32) * 4;
  if (row0 + lane_row >= args.m) return;
  std::int32_t* to = args.c + blockIdx.z * args.stride_c + row0 + lane_row;
  for (std::uint32_t column = tid / 32; column < tile_columns; column += threads / 32)
    if (column0 + column < args.n)
      *reinterpret_cast<int4*>(to + (column0 + column) * args.ldc) =
          *reinterpret_cast<const int4*>(&out[column * column_pitch + lane_row]);
}

}  // namespace

bool int8_fits(const ProductShape& shape) {
  const std::size_t bytes = shape.k | shape.lda | shape.ldb | shape.stride_a | shape.stride_b;
  const std::size_t sums = shape.m | shape.ldc | shape.stride_c;
  return shape.kind == ProductShape::Kind::int8 && shape.a_transposed && bytes % 16 == 0 &&
         sums % 4 == 0 && shape.batch <= 65535 && blocks_of(shape.m, tile_rows) <= 65535;
}

bool multiply_int8(cudaStream_t stream, const ProductShape& shape, const void* a, const void* b,
                   void* c, bool early) {
  static const bool allowed =
      cudaFuncSetAttribute(multiply_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           shared_bytes) == cudaSuccess;
  if (!allowed) return false;
  const Int8Args args{static_cast<const std::int8_t*>(a),
                      static_cast<const std::int8_t*>(b),
                      static_cast<std::int32_t*>(c),
                      shape.lda,
                      shape.ldb,
                      shape.ldc,
                      shape.stride_a,
                      shape.stride_b,
                      shape.stride_c,
                      u32(shape.m),
                      u32(shape.n),
                      u32(shape.k),
                      0};
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim =
      dim3(blocks_of(shape.n, tile_columns), blocks_of(shape.m, tile_rows), u32(shape.batch));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = early ? 1 : 0;
  return cudaLaunchKernelEx(&config, multiply_tiles, args) == cudaSuccess;
}

}  // namespace ticopd::cuda::general
