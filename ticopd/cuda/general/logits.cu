// The last of several layers. Its product is small, but its rounding matters: on a shard that is
// fitted well, a logit's error is a relative error of the gradient. So floats are read, and
// everything is summed in double (tiles.cuh).
#include "ticopd/cuda/general/layers.cuh"
#include "ticopd/cuda/general/tiles.cuh"

namespace ticopd::cuda::general {
namespace {

// Loads `depth` units of a block's samples, the input of a layer, while the units before are
// multiplied. A thread loads two times four samples, of units first_k and first_k + 8.
__device__ inline void fetch_samples(float4 (&next)[2], const LayerArgs& args, const float* from,
                                     bool inside, std::uint32_t first_k) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const std::uint32_t k = first_k + 8 * j;
    next[j] =
        inside && k < args.inner
            ? *reinterpret_cast<const float4*>(from + static_cast<std::size_t>(k) * args.chunk)
            : make_float4(0, 0, 0, 0);
  }
}

template <int kPitch>
__device__ void keep_samples(float (&to)[depth][kPitch], const float4 (&next)[2], int first_k,
                             int group) {
#pragma unroll
  for (int j = 0; j < 2; ++j) *reinterpret_cast<float4*>(&to[first_k + 8 * j][group]) = next[j];
}

// Computes 16 kTiles logits of 64 samples.
template <int kTiles>
__global__ void __launch_bounds__(threads) multiply_logits(LayerArgs args) {
  wait_for_kernel_before();
  constexpr int tile_rows = 16 * kTiles;
  __shared__ __align__(16) float a[2][tile_rows][row_pitch];
  __shared__ __align__(16) float b[2][depth][lane_pitch];
  const std::uint32_t slot = blockIdx.z, row0 = blockIdx.y * tile_rows;
  const std::uint32_t s0 = blockIdx.x * lanes;
  if (s0 >= args.counts(slot)) return;  // nobody reads the logits of padding
  const float* row_of_x = args.x.row(args.owners(slot));
  const float* w = row_of_x + args.weights;

  // A thread loads two times four samples, and 2 kTiles weights along the contiguous dimension.
  const int group = threadIdx.x % 16 * 4, first_k = threadIdx.x / 16;
  const bool inside = s0 + group < args.samples;
  const float* from = args.in + (inside ? sample_at(args, slot, s0 + group, args.inner) : 0);
  float4 next_b[2];
  float next_a[2 * kTiles];
  const int w_k = threadIdx.x % 16, w_row = threadIdx.x / 16;  // and every eighth row
  const auto fetch = [&](std::uint32_t k0) {
    fetch_samples(next_b, args, from, inside, k0 + first_k);
#pragma unroll
    for (int j = 0; j < 2 * kTiles; ++j) {
      const std::size_t row = row0 + w_row + 8 * j, at = k0 + w_k;
      next_a[j] = row < args.rows && at < args.inner ? w[row * args.inner + at] : 0.0f;
    }
  };
  const auto keep = [&](int stage) {
    keep_samples(b[stage], next_b, first_k, group);
#pragma unroll
    for (int j = 0; j < 2 * kTiles; ++j) a[stage][w_row + 8 * j][w_k] = next_a[j];
  };

  Sums<kTiles> sums;
  sums.clear();
  fetch(0);
  int stage = 0;
  for (std::uint32_t k0 = 0; k0 < args.inner; k0 += depth, stage ^= 1) {
    keep(stage);
    __syncthreads();  // and nobody reads the other stage any more
    if (k0 + depth < args.inner) fetch(k0 + depth);
    sums.add(a[stage], [&](int k, int lane) { return static_cast<double>(b[stage][k][lane]); });
  }

  sums.finish([&](int r, int lane, double first, double second) {
    const std::uint32_t row = row0 + r, s = s0 + lane;
    if (row >= args.rows || s >= args.samples) return;
    const std::size_t at =
        sample_at(args, slot, s, args.rows) + static_cast<std::size_t>(row) * args.chunk;
    const double bias = row_of_x[args.biases + row];
    *reinterpret_cast<double2*>(args.logits + at) = make_double2(first + bias, second + bias);
  });
}

}  // namespace

void record_logits(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer) {
  LayerArgs args = layer_args(pass, layer);
  args.in = pass.hidden(space, layer - 1);
  args.rows = u32(pass.model.widths[layer]);
  args.inner = u32(pass.model.widths[layer - 1]);
  args.logits = space.logits.data();
  queue.launch(
      for_tiles(args.rows, multiply_logits<1>, multiply_logits<2>, multiply_logits<4>,
                multiply_logits<7>),
      Grid{dim3(blocks_of(args.samples, lanes), u32(row_blocks(args.rows)), u32(pass.layout.slots)),
           dim3(threads), 0, true},
      args);
}

}  // namespace ticopd::cuda::general
