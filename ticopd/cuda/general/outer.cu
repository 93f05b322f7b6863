// Gradients of the layers after the first: sums over samples of what their outputs want times their
// inputs (split.cuh), part by part; the parts are added in double.
#include "ticopd/cuda/general/layers.cuh"
#include "ticopd/cuda/general/split.cuh"

namespace ticopd::cuda::general {
namespace {

struct OuterArgs {
  const float* deltas;
  const float* in;
  float* partial;
  std::uint32_t rows, inputs, chunk, parts;
};

// partial(r, k) = sum over a part of a chunk of deltas(r, s) in(k, s). One input more, which is
// always 1, makes the gradient of the bias.
template <int kTiles>
__global__ void __launch_bounds__(threads, 3) multiply_outer(OuterArgs args) {
  constexpr int tile_rows = 16 * kTiles;
  constexpr int fours = (tile_rows * depth / 4 + threads - 1) / threads;  // of deltas, a thread's
  __shared__ SplitRows<kTiles> a[2];
  __shared__ __align__(16) float b[2][lanes][split_depth_pitch];
  wait_for_kernel_before();
  const std::uint32_t row0 = blockIdx.y * tile_rows, input0 = blockIdx.z * lanes;
  const std::size_t entry = blockIdx.x / args.parts;  // slot and chunk
  const std::uint32_t steps = args.chunk / depth, part = blockIdx.x % args.parts;
  const std::uint32_t begin = steps * part / args.parts * depth;
  const std::uint32_t end = steps * (part + 1) / args.parts * depth;
  const float* deltas = args.deltas + entry * args.rows * args.chunk;
  const float* in = args.in + entry * args.inputs * args.chunk;

  float4 next_a[fours], next_b[2];
  const auto fetch = [&](std::uint32_t s0) {
#pragma unroll
    for (int j = 0; j < fours; ++j) {
      const std::uint32_t i = threadIdx.x + threads * j, row = row0 + i / 4;
      next_a[j] = i / 4 < tile_rows && row < args.rows
                      ? *reinterpret_cast<const float4*>(
                            deltas + static_cast<std::size_t>(row) * args.chunk + s0 + i % 4 * 4)
                      : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const std::uint32_t i = threadIdx.x + threads * j, input = input0 + i / 4;
      const float always = input == args.inputs ? 1.0f : 0.0f;
      next_b[j] = input < args.inputs
                      ? *reinterpret_cast<const float4*>(
                            in + static_cast<std::size_t>(input) * args.chunk + s0 + i % 4 * 4)
                      : make_float4(always, always, always, always);
    }
  };
  const auto keep = [&](int stage) {
#pragma unroll
    for (int j = 0; j < fours; ++j) {
      const std::uint32_t i = threadIdx.x + threads * j;
      if (i / 4 >= tile_rows) continue;
      a[stage].put(i / 4, i % 4 * 4, next_a[j].x, next_a[j].y);
      a[stage].put(i / 4, i % 4 * 4 + 2, next_a[j].z, next_a[j].w);
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const std::uint32_t i = threadIdx.x + threads * j;
      *reinterpret_cast<float4*>(&b[stage][i / 4][i % 4 * 4]) = next_b[j];
    }
  };

  SplitSums<kTiles> sums;
  sums.clear();
  fetch(begin);
  int stage = 0;
  for (std::uint32_t s0 = begin; s0 < end; s0 += depth, stage ^= 1) {
    keep(stage);
    __syncthreads();
    if (s0 + depth < end) fetch(s0 + depth);
    sums.add(a[stage],
             [&](int k, int lane) { return *reinterpret_cast<const float2*>(&b[stage][lane][k]); });
  }
  sums.finish([&](int r, int lane, float first, float second) {
    const std::uint32_t row = row0 + r, input = input0 + lane;
    if (row >= args.rows || input > args.inputs) return;
    float* to = args.partial +
                (static_cast<std::size_t>(blockIdx.x) * args.rows + row) * (args.inputs + 1) +
                input;
    to[0] = first;
    if (input < args.inputs) to[1] = second;
  });
}

struct FoldArgs {
  Rows x, g;
  Owners owners;
  const float* partial;
  std::uint64_t weights, biases;
  double l2;
  std::uint32_t rows, inputs, parts, unused;  // parts of all chunks
};

__global__ void fold_gradient(FoldArgs args) {
  wait_for_kernel_before();
  let_next_kernel_begin();
  const std::uint32_t each = args.rows * (args.inputs + 1);
  const std::uint32_t e = blockIdx.x * blockDim.x + threadIdx.x, slot = blockIdx.y;
  if (e >= each) return;
  const float* partial = args.partial + static_cast<std::size_t>(slot) * args.parts * each + e;
  double sum = 0;
#pragma unroll 8
  for (std::uint32_t part = 0; part < args.parts; ++part)
    sum += static_cast<double>(partial[static_cast<std::size_t>(part) * each]);
  const std::uint32_t row = e / (args.inputs + 1), input = e % (args.inputs + 1);
  const std::size_t at = input < args.inputs
                             ? args.weights + static_cast<std::size_t>(row) * args.inputs + input
                             : args.biases + row;
  const std::uint32_t owner = args.owners(slot);
  args.g.row(owner)[at] =
      static_cast<float>(sum + args.l2 * static_cast<double>(args.x.row(owner)[at]));
}

}  // namespace

void record_layer_gradient(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer) {
  const std::size_t rows = pass.model.widths[layer], inputs = pass.model.widths[layer - 1];
  const std::size_t parts = parts_of_chunk(pass.layout, rows, inputs);
  const OuterArgs outer{pass.deltas(space, layer),
                        pass.hidden(space, layer - 1),
                        space.partial.data(),
                        u32(rows),
                        u32(inputs),
                        u32(pass.layout.chunk),
                        u32(parts)};
  const int tiles = tiles_for(rows);
  const Grid grid{
      dim3(u32(pass.layout.slots * pass.layout.chunks * parts),
           blocks_of(rows, 16 * static_cast<std::size_t>(tiles)), blocks_of(inputs + 1, lanes)),
      dim3(threads), 0, true};
  if (tiles == 1) queue.launch(multiply_outer<1>, grid, outer);
  if (tiles == 2) queue.launch(multiply_outer<2>, grid, outer);
  if (tiles == 4) queue.launch(multiply_outer<4>, grid, outer);
  if (tiles == 7) queue.launch(multiply_outer<7>, grid, outer);

  const FoldArgs fold{pass.x,
                      pass.g,
                      pass.owners,
                      space.partial.data(),
                      pass.model.weights_at(layer),
                      pass.model.biases_at(layer),
                      pass.l2,
                      u32(rows),
                      u32(inputs),
                      u32(pass.layout.chunks * parts),
                      0};
  queue.launch(
      fold_gradient,
      Grid{dim3(blocks_of(rows * (inputs + 1), 256), u32(pass.layout.slots)), dim3(256), 0, true},
      fold);
}

}  // namespace ticopd::cuda::general
