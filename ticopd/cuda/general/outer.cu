// Gradients of the layers after the first: sums over samples of the deltas of their outputs times
// their inputs (split.cuh), part by part. The parts are added in double.
#include "ticopd/cuda/general/layers.cuh"
#include "ticopd/cuda/general/split.cuh"
#include "ticopd/cuda/hopper/copies.cuh"
#include "ticopd/cuda/hopper/ptx.cuh"

namespace ticopd::cuda::general {
namespace {

// Deltas in shared memory, split once for all warps, in the form that products take. The halves of
// a tile have their lanes in different orders, so that a quarter of a warp writes to 32 different
// banks.
template <int kTiles>
struct SplitTiles {
  uint4 of[kTiles][2][2][32];  // half, part, lane

  // Puts four numbers of row g of a tile and four of row g + 8, from column 4 quarter on.
  __device__ void put(int i, int g, int quarter, const float4& up, const float4& down) {
    const int half = quarter / 2, lane = 4 * g + quarter % 2 * 2;
    put(of[i][half], lane ^ half, up.x, down.x, up.y, down.y);
    put(of[i][half], lane + 1 ^ half, up.z, down.z, up.w, down.w);
  }
  __device__ Left operator()(int i, int half) const {
    const int lane = static_cast<int>(threadIdx.x % 32) ^ half;
    return {of[i][half][0][lane], of[i][half][1][lane]};
  }

 private:
  __device__ static void put(uint4 (&to)[2][32], int lane, float x, float y, float z, float w) {
    const Parts a = split(x), b = split(y), c = split(z), d = split(w);
    to[0][lane] = make_uint4(a.high, b.high, c.high, d.high);
    to[1][lane] = make_uint4(a.low, b.low, c.low, d.low);
  }
};

// Inputs in shared memory, not split. Their order lets half a warp read pairs of k of four
// neighbours from 32 different banks.
struct alignas(16) Inputs {
  float of[split_lanes][depth];

  __device__ float* at(int lane, int k) { return &of[lane][k ^ (lane & 2) << 2]; }
};

struct OuterArgs {
  const float* deltas;
  const float* in;
  float* partial;
  Counts counts;
  std::uint32_t rows, inputs, chunk, chunks, parts;
  std::uint32_t lanes;  // inputs of a block, the bias counted as one
};

// partial(r, k) = sum over a part of the samples of deltas(r, s) in(k, s). One more input, which is
// always 1, gives the gradient of the bias.
template <int kTiles>
__global__ void __launch_bounds__(split_threads, 2) multiply_outer(OuterArgs args) {
  constexpr int tile_rows = 16 * kTiles;
  static_assert(tile_rows * depth / 8 <= split_threads);
  __shared__ SplitTiles<kTiles> a[2];
  __shared__ Inputs b[2];
  wait_for_kernel_before();
  const std::uint32_t row0 = blockIdx.y * tile_rows, input0 = blockIdx.z * args.lanes;
  const std::uint32_t slot = blockIdx.x / args.parts, part = blockIdx.x % args.parts;
  const std::uint32_t steps = (args.counts(slot) + depth - 1) / depth;
  const auto before = [&](std::uint64_t parts) {
    return static_cast<std::uint32_t>(steps * parts / args.parts);
  };
  const std::uint32_t begin = before(part), end = before(part + 1);
  for (int i = static_cast<int>(threadIdx.x); i < split_lanes * depth; i += split_threads) {
    const std::uint32_t input = input0 + i / depth;
    if (input < args.inputs) continue;
    const float always = input == args.inputs ? 1.0f : 0.0f;
    *b[0].at(i / depth, i % depth) = *b[1].at(i / depth, i % depth) = always;
  }

  // A thread has deltas of two rows, g and g + 8 of a tile, and inputs of two lanes. Pointers move
  // with the steps, and past the end of a chunk.
  const int g = threadIdx.x / 4 % 8, quarter = threadIdx.x % 4, i = threadIdx.x / 32;
  const std::uint32_t row = row0 + 16 * i + g, lane = threadIdx.x / 4;
  const bool is_up = i < kTiles && row < args.rows, is_down = i < kTiles && row + 8 < args.rows;
  const auto is_input = [&](std::uint32_t l) { return l < args.lanes && input0 + l < args.inputs; };
  const bool is_first = is_input(lane), is_second = is_input(lane + 64);
  const std::size_t entry = slot * args.chunks + begin * depth / args.chunk;
  std::uint32_t s = begin * depth % args.chunk;
  const float* deltas = args.deltas + (entry * args.rows + row) * args.chunk + s + 4 * quarter;
  const float* in = args.in + (entry * args.inputs + input0 + lane) * args.chunk + s + 4 * quarter;
  const std::uint32_t to_b =
      hopper::shared_address(b[0].at(static_cast<int>(lane), static_cast<int>(4 * quarter)));
  float4 up = make_float4(0, 0, 0, 0), down = up;
  const auto fetch = [&](int stage) {
    if (is_up) up = *reinterpret_cast<const float4*>(deltas);
    if (is_down) down = *reinterpret_cast<const float4*>(deltas + std::size_t{8} * args.chunk);
    const std::uint32_t to = to_b + stage * static_cast<int>(sizeof b[0]);
    if (is_first) hopper::copy16_or_zeros(to, in, true);
    if (is_second)
      hopper::copy16_or_zeros(to + 64 * depth * 4, in + std::size_t{64} * args.chunk, true);
    hopper::commit_copies();
    deltas += depth, in += depth, s += depth;
    if (s < args.chunk) return;
    s = 0;
    deltas += static_cast<std::size_t>(args.rows - 1) * args.chunk;
    in += static_cast<std::size_t>(args.inputs - 1) * args.chunk;
  };
  const std::uint32_t first_lane = threadIdx.x / 32 * 16;
  const bool needed = first_lane < args.lanes && input0 + first_lane <= args.inputs;
  SplitSums<kTiles> sums;
  sums.clear();
  if (begin < end) fetch(0);
  int stage = 0;
  for (std::uint32_t step = begin; step < end; ++step, stage ^= 1) {
    if (i < kTiles) a[stage].put(i, g, quarter, up, down);
    hopper::wait_for_copies<0>();
    __syncthreads();  // and nobody reads the other stage any more
    if (step + 1 < end) fetch(stage ^ 1);
    if (needed)
      sums.add(a[stage], [&](int k, int lane) {
        return *reinterpret_cast<const float2*>(b[stage].at(lane, k));
      });
  }
  if (!needed) return;
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
  std::uint32_t rows, inputs, parts, unused;
};

// Adds the parts in double, then the l2 term.
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
  const std::size_t parts = parts_of_samples(pass.layout, rows, inputs);
  const std::size_t across = count_of(inputs + 1, block_lanes);
  const OuterArgs outer{pass.deltas(space, layer),
                        pass.hidden(space, layer - 1),
                        space.partial.data(),
                        pass.counts,
                        u32(rows),
                        u32(inputs),
                        u32(pass.layout.chunk),
                        u32(pass.layout.chunks),
                        u32(parts),
                        u32(count_of(count_of(inputs + 1, across), tile) * tile)};
  const Grid grid{dim3(u32(pass.layout.slots * parts), u32(row_blocks(rows)), u32(across)),
                  dim3(split_threads), 0, true};
  queue.launch(
      for_tiles(rows, multiply_outer<1>, multiply_outer<2>, multiply_outer<4>, multiply_outer<7>),
      grid, outer);

  const FoldArgs fold{pass.x,
                      pass.g,
                      pass.owners,
                      space.partial.data(),
                      pass.model.weights_at(layer),
                      pass.model.biases_at(layer),
                      pass.l2,
                      u32(rows),
                      u32(inputs),
                      u32(parts),
                      0};
  queue.launch(
      fold_gradient,
      Grid{dim3(blocks_of(rows * (inputs + 1), 256), u32(pass.layout.slots)), dim3(256), 0, true},
      fold);
}

}  // namespace ticopd::cuda::general
