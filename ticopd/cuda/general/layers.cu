// The layers between hidden units, forward and backward (split.cuh).
#include "ticopd/cuda/general/layers.cuh"
#include "ticopd/cuda/general/phi.cuh"
#include "ticopd/cuda/general/split.cuh"
#include "ticopd/cuda/hopper/copies.cuh"
#include "ticopd/cuda/hopper/ptx.cuh"

namespace ticopd::cuda::general {
namespace {

enum class Way { forward, back };

// How many tiles W has in all (`all`), in a block of rows (`tiles`), and along the sum (`steps`).
struct SplitPlan {
  std::uint32_t all, tiles, steps, unused;
};

// A thread makes one lane's fragments of half a tile, a thread block four tiles. Tiles lie as
// blocks of rows x steps of `depth` x tiles. W is rows x inner forward, inner x rows backward.
template <Way kWay>
__global__ void __launch_bounds__(split_threads) split_layer(LayerArgs args, SplitPlan plan) {
  wait_for_kernel_before();
  let_next_kernel_begin();
  const std::uint32_t at = blockIdx.x * 4 + threadIdx.x / 64, slot = blockIdx.y;
  if (at >= plan.all) return;
  const int half = threadIdx.x / 32 % 2, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const std::uint32_t of_block = plan.steps * plan.tiles;
  const std::uint32_t row =
      (at / of_block * plan.tiles + at % plan.tiles) * static_cast<std::uint32_t>(tile) + g;
  const std::uint32_t k = at % of_block / plan.tiles * depth + 8 * half + 2 * t;
  const float* w = args.x.row(args.owners(slot)) + args.weights;
  const auto part = [&](std::uint32_t down, std::uint32_t on) {
    const std::size_t r = row + down, inner = k + on;
    return split(r >= args.rows || inner >= args.inner ? 0.0f
                 : kWay == Way::back                   ? w[inner * args.rows + r]
                                                       : w[r * args.inner + inner]);
  };
  const Parts of[4] = {part(0, 0), part(8, 0), part(0, 1), part(8, 1)};
  uint4* to = args.fragments +
              (static_cast<std::size_t>(slot) * plan.all + at) * fragments_of_tile + 64 * half +
              threadIdx.x % 32;
  to[0] = make_uint4(of[0].high, of[1].high, of[2].high, of[3].high);
  to[32] = make_uint4(of[0].low, of[1].low, of[2].low, of[3].low);
}

// Writes zeros if all samples of a block are padding. They are multiplied by zeros later, and a NaN
// would spread.
__device__ void store_zeros(const LayerArgs& args, std::uint32_t slot, std::uint32_t row0,
                            std::uint32_t rows, std::uint32_t s0) {
  const std::uint32_t s = s0 + threadIdx.x % 32 * 4;
  if (s >= args.samples) return;
  float* out = args.out + sample_at(args, slot, s, args.rows);
  for (std::uint32_t r = row0 + threadIdx.x / 32; r < min(row0 + rows, args.rows); r += split_warps)
    *reinterpret_cast<float4*>(out + static_cast<std::size_t>(r) * args.chunk) =
        make_float4(0, 0, 0, 0);
}

// Turns the sums into outputs, or deltas. Everything else that is needed is loaded at once, so that
// the loads are waited for only once.
template <int kTiles, Way kWay, Activation kPhi>
__device__ void finish_layer(const LayerArgs& args, const SplitSums<kTiles>& sums,
                             std::uint32_t slot, std::uint32_t row0, std::uint32_t s0) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const auto row = [&](int i, int half) { return row0 + 16 * i + 8 * half + g; };
  const auto known_row = [&](int i, int half) { return min(row(i, half), args.rows - 1); };
  float bias[kTiles][2];
  if constexpr (kWay == Way::forward) {
    const float* biases = args.x.row(args.owners(slot)) + args.biases;
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) bias[i][half] = biases[known_row(i, half)];
  }
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    const std::uint32_t s = s0 + threadIdx.x / 32 * 16 + 8 * n + 2 * t;
    if (s >= args.samples) return;
    float* out = args.out + sample_at(args, slot, s, args.rows);
    const auto place = [&](std::uint32_t r) {
      return reinterpret_cast<float2*>(out + static_cast<std::size_t>(r) * args.chunk);
    };
    float2 h[kTiles][2];
    if constexpr (kWay == Way::back)
#pragma unroll
      for (int i = 0; i < kTiles; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) h[i][half] = *place(known_row(i, half));
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float first = sums.of[i][n][2 * half], second = sums.of[i][n][2 * half + 1];
        float2 result;
        if constexpr (kWay == Way::back)
          result = make_float2(times_derivative<kPhi>(h[i][half].x, first),
                               times_derivative<kPhi>(h[i][half].y, second));
        else
          result = make_float2(activated<kPhi>(first + bias[i][half]),
                               activated<kPhi>(second + bias[i][half]));
        if (row(i, half) < args.rows) *place(row(i, half)) = result;
      }
  }
}

// out = phi(W in + b) forward, phi'(out) W^T in backward, for 16 kTiles rows and 128 samples.
template <int kTiles, Way kWay>
__global__ void __launch_bounds__(split_threads, 2) multiply_layer(LayerArgs args) {
  constexpr int fragments = kTiles * static_cast<int>(fragments_of_tile);
  constexpr unsigned last = (fragments - 1) % split_threads + 1;  // threads of the last copy
  constexpr int pitch = split_lanes + 4;  // a warp then reads b from 32 different banks
  __shared__ uint4 a[2][fragments];
  __shared__ __align__(16) float b[2][depth][pitch];
  wait_for_kernel_before();
  const std::uint32_t slot = blockIdx.z, row0 = blockIdx.y * 16 * kTiles;
  const std::uint32_t s0 = blockIdx.x * split_lanes;
  if (s0 >= args.counts(slot)) return store_zeros(args, slot, row0, 16 * kTiles, s0);

  // A thread copies every 256th fragment, and two times four samples. Pointers move with the steps,
  // because a step should cost few instructions besides its products.
  const std::uint32_t steps = (args.inner + depth - 1) / depth;
  const int group = threadIdx.x % 32 * 4, first_k = threadIdx.x / 32;
  const bool inside = s0 + group < args.samples;
  const std::uint32_t known = inside ? args.inner : 0;
  const std::size_t eight = static_cast<std::size_t>(8) * args.chunk;
  const uint4* w = args.fragments +
                   (static_cast<std::size_t>(slot) * gridDim.y + blockIdx.y) * steps * fragments +
                   threadIdx.x;
  const float* from = args.in + (inside ? sample_at(args, slot, s0 + group, args.inner) : 0) +
                      static_cast<std::size_t>(first_k) * args.chunk;
  std::uint32_t k = first_k;
  const std::uint32_t to_a = hopper::shared_address(&a[0][threadIdx.x]);
  const std::uint32_t to_b = hopper::shared_address(&b[0][first_k][group]);
  const auto copy = [&](int stage) {
    const std::uint32_t here = to_a + stage * static_cast<int>(sizeof a[0]);
#pragma unroll
    for (int j = 0; j * static_cast<int>(split_threads) < fragments; ++j)
      if ((j + 1) * static_cast<int>(split_threads) <= fragments || threadIdx.x < last)
        hopper::copy16_or_zeros(here + j * split_threads * 16, w + j * split_threads, true);
    const std::uint32_t there = to_b + stage * static_cast<int>(sizeof b[0]);
    hopper::copy16_or_zeros(there, from, k < known);
    hopper::copy16_or_zeros(there + 8 * pitch * 4, from + eight, k + 8 < known);
    hopper::commit_copies();
    w += fragments;
    from += 2 * eight;
    k += depth;
  };

  SplitSums<kTiles> sums;
  sums.clear();
  copy(0);
  int stage = 0;
  for (std::uint32_t step = 0; step < steps; ++step, stage ^= 1) {
    hopper::wait_for_copies<0>();
    __syncthreads();  // and nobody reads the other stage any more
    if (step + 1 < steps) copy(stage ^ 1);
    sums.add(
        [&](int i, int half) {
          const uint4* of = &a[stage][(2 * i + half) * 64 + threadIdx.x % 32];
          return Left{of[0], of[32]};
        },
        [&](int k, int lane) { return make_float2(b[stage][k][lane], b[stage][k + 1][lane]); });
  }

  for_phi(static_cast<Activation>(args.phi),
          [&](auto phi) { finish_layer<kTiles, kWay, phi()>(args, sums, slot, row0, s0); });
}

// Splits W once, then multiplies all samples with it.
template <Way kWay>
void launch(Queue& queue, const Pass& pass, Workspace& space, LayerArgs args) {
  const std::uint32_t slots = u32(pass.layout.slots);
  args.fragments = space.fragments.data();
  const SplitPlan plan{u32(fragments_of(args.rows, args.inner) / fragments_of_tile),
                       u32(tiles_for(args.rows)), u32(count_of(args.inner, tile)), 0};
  queue.launch(split_layer<kWay>,
               Grid{dim3(blocks_of(plan.all, 4), slots), dim3(split_threads), 0, true}, args, plan);
  queue.launch(for_tiles(args.rows, multiply_layer<1, kWay>, multiply_layer<2, kWay>,
                         multiply_layer<4, kWay>, multiply_layer<7, kWay>),
               Grid{dim3(blocks_of(args.samples, block_lanes), u32(row_blocks(args.rows)), slots),
                    dim3(split_threads), 0, true},
               args);
}

}  // namespace

void record_layer(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer) {
  if (layer > pass.model.hidden()) return record_logits(queue, pass, space, layer);
  LayerArgs args = layer_args(pass, layer);
  args.in = pass.hidden(space, layer - 1);
  args.out = pass.hidden(space, layer);
  args.rows = u32(pass.model.widths[layer]);
  args.inner = u32(pass.model.widths[layer - 1]);
  launch<Way::forward>(queue, pass, space, args);
}

void record_layer_back(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer) {
  LayerArgs args = layer_args(pass, layer);
  args.in = pass.deltas(space, layer);
  args.out = pass.hidden(space, layer - 1);
  args.rows = u32(pass.model.widths[layer - 1]);
  args.inner = u32(pass.model.widths[layer]);
  launch<Way::back>(queue, pass, space, args);
}

}  // namespace ticopd::cuda::general
