// The layers between hidden units, forwards and backwards (split.cuh).
#include "ticopd/cuda/general/layers.cuh"
#include "ticopd/cuda/general/phi.cuh"
#include "ticopd/cuda/general/split.cuh"

namespace ticopd::cuda::general {
namespace {

enum class Way { forward, back };

// out = phi(W in + b), or phi'(out) W^T in, for 16 kTiles rows and 64 samples. W is rows x inner
// forwards, inner x rows backwards.
template <int kTiles, Way kWay>
__global__ void __launch_bounds__(threads, 3) multiply_layer(LayerArgs args) {
  constexpr int tile_rows = 16 * kTiles;
  __shared__ SplitRows<kTiles> a[2];
  __shared__ __align__(16) float b[2][depth][split_lane_pitch];
  wait_for_kernel_before();
  const std::uint32_t slot = blockIdx.z, row0 = blockIdx.y * tile_rows;
  const std::uint32_t s0 = blockIdx.x * lanes;
  const float* row_of_x = args.x.row(args.owners(slot));
  const float* w = row_of_x + args.weights;

  // A thread fetches two times four samples, and of a column of W every eighth row.
  const int group = threadIdx.x % 16 * 4, first_k = threadIdx.x / 16;
  const bool inside = s0 + group < args.samples;
  const float* from = args.in + (inside ? sample_at(args, slot, s0 + group, args.inner) : 0);
  const int w_k = kWay == Way::back ? threadIdx.x / 8 : threadIdx.x % 16;
  const int w_row = kWay == Way::back ? threadIdx.x % 8 : threadIdx.x / 16;
  float4 next_b[2];
  float next_a[2 * kTiles];
  const auto fetch = [&](std::uint32_t k0) {
    fetch_samples(next_b, args, from, inside, k0 + first_k);
    const std::size_t at = k0 + w_k;
#pragma unroll
    for (int j = 0; j < 2 * kTiles; ++j) {
      const std::size_t row = row0 + w_row + 8 * j;
      const bool in_w = row < args.rows && at < args.inner;
      next_a[j] = !in_w               ? 0.0f
                  : kWay == Way::back ? w[at * args.rows + row]
                                      : w[row * args.inner + at];
    }
  };
  const auto keep = [&](int stage) {
    keep_samples(b[stage], next_b, first_k, group);
#pragma unroll
    for (int j = 0; j < 2 * kTiles; ++j) a[stage].put(w_row + 8 * j, w_k, next_a[j]);
  };

  SplitSums<kTiles> sums;
  sums.clear();
  fetch(0);
  int stage = 0;
  for (std::uint32_t k0 = 0; k0 < args.inner; k0 += depth, stage ^= 1) {
    keep(stage);
    __syncthreads();  // and nobody reads the other stage any more
    if (k0 + depth < args.inner) fetch(k0 + depth);
    sums.add(a[stage], [&](int k, int lane) {
      return make_float2(b[stage][k][lane], b[stage][k + 1][lane]);
    });
  }

  const auto phi = static_cast<Activation>(args.phi);
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    const std::uint32_t s = s0 + threadIdx.x / 32 * 16 + 8 * n + 2 * t;
    if (s >= args.samples) continue;
    float* out = args.out + sample_at(args, slot, s, args.rows);
    const auto place = [&](int i, int half) {
      return reinterpret_cast<float2*>(
          out + static_cast<std::size_t>(row0 + 16 * i + 8 * half + g) * args.chunk);
    };
    const auto is_row = [&](int i, int half) { return row0 + 16 * i + 8 * half + g < args.rows; };
    if constexpr (kWay == Way::back) {
      float2 h[kTiles][2];  // all at once: one after the other each would be waited for
#pragma unroll
      for (int i = 0; i < kTiles; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          h[i][half] = is_row(i, half) ? *place(i, half) : make_float2(0, 0);
#pragma unroll
      for (int i = 0; i < kTiles; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float* sum = &sums.of[i][n][2 * half];
          if (is_row(i, half))
            *place(i, half) = make_float2(times_derivative(phi, h[i][half].x, sum[0]),
                                          times_derivative(phi, h[i][half].y, sum[1]));
        }
    } else {
#pragma unroll
      for (int i = 0; i < kTiles; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          if (!is_row(i, half)) continue;
          const float bias = row_of_x[args.biases + row0 + 16 * i + 8 * half + g];
          const float* sum = &sums.of[i][n][2 * half];
          *place(i, half) =
              make_float2(activated(phi, sum[0] + bias), activated(phi, sum[1] + bias));
        }
    }
  }
}

template <Way kWay>
void launch(Queue& queue, const Pass& pass, const LayerArgs& args) {
  launch_layer(queue, pass, args, multiply_layer<1, kWay>, multiply_layer<2, kWay>,
               multiply_layer<4, kWay>, multiply_layer<7, kWay>);
}

}  // namespace

void record_layer(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer) {
  if (layer > pass.model.hidden()) return record_logits(queue, pass, space, layer);
  LayerArgs args = layer_args(pass, layer);
  args.in = pass.hidden(space, layer - 1);
  args.out = pass.hidden(space, layer);
  args.rows = u32(pass.model.widths[layer]);
  args.inner = u32(pass.model.widths[layer - 1]);
  launch<Way::forward>(queue, pass, args);
}

void record_layer_back(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer) {
  LayerArgs args = layer_args(pass, layer);
  args.in = pass.deltas(space, layer);
  args.out = pass.hidden(space, layer - 1);
  args.rows = u32(pass.model.widths[layer - 1]);
  args.inner = u32(pass.model.widths[layer]);
  launch<Way::back>(queue, pass, args);
}

}  // namespace ticopd::cuda::general
