#include "ticopd/cuda/general/int8.hpp"
#include "ticopd/cuda/general/int8_tile.cuh"
#include "ticopd/cuda/general/pass.hpp"
#include "ticopd/cuda/hopper/ptx.cuh"

namespace ticopd::cuda::general {
namespace {

constexpr int tile_columns = 160;
using Tile = Int8Tile<tile_columns>;
constexpr int tile_rows = Tile::rows;
constexpr unsigned threads = Tile::threads;

struct Int8Args {
  const std::int8_t* a;
  const std::int8_t* b;
  std::int32_t* c;
  std::uint64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
  std::uint32_t m, n, k, unused;
};

// One tile of c per thread block.
__global__ void __launch_bounds__(threads, 2) multiply_tiles(Int8Args args) {
  std::uint8_t* memory = hopper::dynamic_shared();
  const std::uint32_t base = hopper::shared_address(memory);
  const int tid = static_cast<int>(threadIdx.x);
  const std::uint32_t row0 = blockIdx.y * tile_rows, column0 = blockIdx.x * tile_columns;
  wait_for_kernel_before();
  const std::int8_t* a = args.a + blockIdx.z * args.stride_a;
  const std::int8_t* b = args.b + blockIdx.z * args.stride_b;
  Tile tile;
  tile.multiply(
      base, args.k, [&](int r) { return row0 + r < args.m ? a + (row0 + r) * args.lda : nullptr; },
      [&](int r) { return column0 + r < args.n ? b + (column0 + r) * args.ldb : nullptr; });

  auto* out = reinterpret_cast<std::int32_t*>(memory);
  const int g = tid % 32 / 4, t = tid % 4, row = tid / 32 * 16 + g;
#pragma unroll
  for (int i = 0; i < 80; ++i)
    out[(i / 4 * 8 + 2 * t + i % 2) * Tile::column_pitch + row + i % 4 / 2 * 8] = tile.sums[i];
  __syncthreads();
  // A warp writes one column.
  const std::uint32_t lane_row = static_cast<std::uint32_t>(tid % 32) * 4;
  if (row0 + lane_row >= args.m) return;
  std::int32_t* to = args.c + blockIdx.z * args.stride_c + row0 + lane_row;
  for (std::uint32_t column = tid / 32; column < tile_columns; column += threads / 32)
    if (column0 + column < args.n)
      *reinterpret_cast<int4*>(to + (column0 + column) * args.ldc) =
          *reinterpret_cast<const int4*>(&out[column * Tile::column_pitch + lane_row]);
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
                           Tile::shared_bytes) == cudaSuccess;
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
  config.dynamicSmemBytes = Tile::shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = early ? 1 : 0;
  return cudaLaunchKernelEx(&config, multiply_tiles, args) == cudaSuccess;
}

}  // namespace ticopd::cuda::general
