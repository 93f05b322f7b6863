// The first hidden layer on u8 features: the product and the activation in one kernel. Two kernels
// would write three int32 per unit and sample, and read them again.
#include "ticopd/cuda/general/int8_tile.cuh"
#include "ticopd/cuda/general/pass.hpp"
#include "ticopd/cuda/general/phi.cuh"
#include "ticopd/cuda/general/sums.cuh"
#include "ticopd/cuda/hopper/ptx.cuh"

namespace ticopd::cuda::general {
namespace {

constexpr int tile_units = 40, tile_columns = 128;  // 3 x 40 columns, and 8 unused
using Tile = Int8Tile<tile_columns>;

struct FirstLayerArgs {
  Rows x;
  Owners owners;
  Counts counts;
  const std::int8_t* pixels;
  const std::int8_t* weights;
  const double* steps;
  const int4* digit_sums;
  float* hidden;
  std::uint64_t biases, slot_stride;
  std::uint32_t samples, chunk, chunks, units, features, unused;
};

// A tile is 128 samples and 40 units. Its columns are the units' high digits, then the other
// digits, so that a thread has all three digits of a unit. They are joined in integers, exactly,
// and rounded once.
template <Activation kPhi>
__global__ void __launch_bounds__(Tile::threads, 2) multiply_first_layer(FirstLayerArgs args) {
  __shared__ double step[tile_units], bias[tile_units];
  __shared__ long long missing[tile_units];  // 128 times the digits' sums: pixels are p - 128
  std::uint8_t* memory = hopper::dynamic_shared();
  const int tid = static_cast<int>(threadIdx.x);
  const std::uint32_t across = (args.units + tile_units - 1) / tile_units, slot = blockIdx.y;
  const std::uint32_t u0 = blockIdx.x % across * tile_units;  // neighbouring blocks share samples
  const std::uint32_t s0 = blockIdx.x / across * Tile::rows;
  if (s0 >= args.counts(slot)) return;  // all padding, which nobody reads
  wait_for_kernel_before();
  if (tid < tile_units && u0 + tid < args.units) {
    const std::size_t row = static_cast<std::size_t>(slot) * args.units + u0 + tid;
    const int4 digits = args.digit_sums[row];
    step[tid] = args.steps[row];
    bias[tid] = args.x.row(args.owners(slot))[args.biases + u0 + tid];
    missing[tid] = (static_cast<long long>(digits.x) * 65536 +
                    static_cast<long long>(digits.y) * 256 + digits.z) *
                   128;
  }
  const std::int8_t* pixels = args.pixels + slot * args.slot_stride;
  const std::int8_t* weights =
      args.weights + static_cast<std::size_t>(slot) * 3 * args.units * args.features;
  Tile tile;
  tile.multiply(
      hopper::shared_address(memory), args.features,
      [&](int r) {
        return s0 + r < args.samples ? pixels + static_cast<std::size_t>(s0 + r) * args.features
                                     : nullptr;
      },
      [&](int r) {
        const std::uint32_t unit = u0 + r % tile_units;
        return r < 3 * tile_units && unit < args.units
                   ? weights + (static_cast<std::size_t>(r / tile_units) * args.units + unit) *
                                   args.features
                   : nullptr;
      });

  auto* out = reinterpret_cast<float*>(memory);
  const int g = tid % 32 / 4, t = tid % 4, row = tid / 32 * 16 + g;
#pragma unroll
  for (int i = 0; i < tile_units / 2; ++i) {
    const int unit = i / 4 * 8 + 2 * t + i % 2;
    const long long high = tile.sums[i], middle = tile.sums[i + tile_units / 2];
    const long long whole = high * 65536 + middle * 256 + tile.sums[i + tile_units] + missing[unit];
    const double z = static_cast<double>(whole) * step[unit] + bias[unit];
    out[unit * Tile::column_pitch + row + i % 4 / 2 * 8] = activated<kPhi>(static_cast<float>(z));
  }
  __syncthreads();
  // A warp writes one unit.
  static_assert(Tile::rows == 32 * 4);
  const std::uint32_t lane = static_cast<std::uint32_t>(tid % 32) * 4, s = s0 + lane;
  if (s >= args.samples) return;
  float* to = args.hidden + lane_of(slot, s, args.chunks, args.chunk, args.units);
  for (std::uint32_t unit = tid / 32; unit < tile_units; unit += Tile::threads / 32)
    if (u0 + unit < args.units)
      *reinterpret_cast<float4*>(to + static_cast<std::size_t>(u0 + unit) * args.chunk) =
          *reinterpret_cast<const float4*>(&out[unit * Tile::column_pitch + lane]);
}

// The kernel, once allowed as much shared memory as it needs.
template <Activation kPhi>
auto* first_layer() {
  static const cudaError_t allowed = cudaFuncSetAttribute(
      multiply_first_layer<kPhi>, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::shared_bytes);
  check(allowed, "shared memory of the first layer");
  return multiply_first_layer<kPhi>;
}

}  // namespace

void record_first_layer(Queue& queue, const Pass& pass, Workspace& space) {
  const SampleLayout& layout = pass.layout;
  const FirstLayerArgs args{pass.x,
                            pass.owners,
                            pass.counts,
                            pass.samples.pixels.data() + pass.first_sample * layout.features,
                            reinterpret_cast<const std::int8_t*>(space.weights.data()),
                            space.weight_steps.data(),
                            space.weight_sums.data(),
                            space.hidden.data(),
                            pass.model.biases_at(1),
                            pass.column_stride == 0 ? 0 : layout.samples * layout.features,
                            u32(layout.samples),
                            u32(layout.chunk),
                            u32(layout.chunks),
                            u32(pass.model.units()),
                            u32(layout.features),
                            0};
  const Grid grid{
      dim3(blocks_of(pass.model.units(), tile_units) * blocks_of(layout.samples, Tile::rows),
           u32(layout.slots)),
      dim3(Tile::threads), Tile::shared_bytes, true};
  for_phi(pass.phi, [&](auto phi) { queue.launch(first_layer<phi()>(), grid, args); });
}

}  // namespace ticopd::cuda::general
