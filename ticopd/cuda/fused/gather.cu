#include "ticopd/cuda/fused/kernels.cuh"

namespace ticopd::cuda::fused {
namespace {

// v plus the gradient of (l2 / 2) ||x||^2 at x.
__device__ __forceinline__ float regularised(float v, float l2, const float* x) {
  return l2 != 0 ? fmaf(l2, *x, v) : v;
}

// dW1 and db1 of two units, from `first` on. The parts lie by rank and g lies by pixel: both are
// read and written in their own order, with shared memory between them. A warp has the 64 ranks of
// one warp group for both units. Each thread adds up four ranks, and starts all its loads together,
// even the last few, because latency limits this kernel.
__device__ void gather_units(const Data& data, const Work& work, int agent, int first,
                             const float* x, float* g, float l2, float* sums) {
  const int tid = threadIdx.x, units = min(gather_units_per_block, data.hidden - first);
  const int quad = tid & 15, unit = (tid >> 4) & 1, group = tid >> 5;
  const std::int16_t* rank_of = data.rank_of + static_cast<std::size_t>(agent) * data.features;
  int rank[gather_pixels];  // -1: never set, gradient zero
#pragma unroll
  for (int i = 0; i < gather_pixels; i++) {
    const int pixel = tid + i * gather_threads;
    rank[i] = pixel < data.features ? rank_of[pixel] : -1;
  }
  const Slots parts = data.w1_slots[agent * max_rank_tiles + (group >> 1)];
  wait_for_kernel_before();
  if (group < data.chunks && unit < units) {
    const float* from = work.w1_partials + static_cast<std::size_t>(parts.first) * w1_partial +
                        (group & 1) * group_partial + (first + unit) * partial_stride + 4 * quad;
    const float s = work.parameters[agent].w1_scale[first + unit];
    float4 sum = {0, 0, 0, 0};
    for (int k = 0; k < parts.count; k += 4) {
      float4 v[4];
#pragma unroll
      for (int i = 0; i < 4; i++)
        v[i] = k + i < parts.count ? *reinterpret_cast<const float4*>(
                                         from + static_cast<std::size_t>(k + i) * w1_partial)
                                   : float4{0, 0, 0, 0};
#pragma unroll
      for (int i = 0; i < 4; i++)
        sum.x += v[i].x, sum.y += v[i].y, sum.z += v[i].z, sum.w += v[i].w;
    }
    *reinterpret_cast<float4*>(sums + unit * max_ranks + group * chunk + 4 * quad) = {
        s * sum.x, s * sum.y, s * sum.z, s * sum.w};
  }
  __syncthreads();

#pragma unroll
  for (int i = 0; i < gather_pixels; i++) {
    const int pixel = tid + i * gather_threads;
    if (pixel >= data.features) break;
    for (int j = 0; j < units; j++) {
      const int at = (first + j) * data.features + pixel;
      g[at] = regularised(rank[i] >= 0 ? sums[j * max_ranks + rank[i]] : 0.f, l2, x + at);
    }
  }
  if (tid < units) {  // rank 0
    const int at = data.hidden * data.features + first + tid;
    g[at] = regularised(sums[tid * max_ranks], l2, x + at);
  }
}

// Element e of dW2 and db2.
__device__ void gather_layer2(const Data& data, const Work& work, int agent, int e, const float* x,
                              float* g, float l2) {
  const Slots parts = data.w2_slots[agent];
  wait_for_kernel_before();
  if (e >= w2_partial) return;
  const float* from = work.w2_partials + static_cast<std::size_t>(parts.first) * w2_partial + e;
  float sum = 0;
  for (int k = 0; k < parts.count; k += 16) {
    float v[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
      v[i] = k + i < parts.count ? from[static_cast<std::size_t>(k + i) * w2_partial] : 0.f;
#pragma unroll
    for (int i = 0; i < 16; i++) sum += v[i];
  }
  const int f = e - w2_partial_8;
  const int unit = 4 * (f < 0 ? e >> 5 : f >> 3) + (e & 3);
  const int c = f < 0 ? (e >> 2) & 7 : 8 + ((f >> 2) & 1);
  if (c >= data.classes || (unit >= data.hidden && unit != max_hidden)) return;
  const int at = data.hidden * (data.features + 1) +
                 (unit < data.hidden ? c * data.hidden + unit : data.classes * data.hidden + c);
  g[at] = regularised(data.scale[agent] * sum, l2, x + at);
}

}  // namespace

// Sums in the order of the slots, so every run gives the same bits.
__global__ void __launch_bounds__(gather_threads, 3)
    gather(Data data, Work work, Rows x, Rows g, float l2) {
  alignas(16) __shared__ float sums[gather_units_per_block * max_ranks];
  let_next_kernel_begin();  // tables are constant: they are read before the wait
  const int blocks = gather_blocks_per_agent(data.hidden);
  const int agent = blockIdx.x / blocks, part = blockIdx.x % blocks;
  if (part < gather_layer2_blocks)
    gather_layer2(data, work, agent, part * gather_threads + threadIdx.x, x.row(agent),
                  g.row(agent), l2);
  else
    gather_units(data, work, agent, gather_units_per_block * (part - gather_layer2_blocks),
                 x.row(agent), g.row(agent), l2, sums);
}

}  // namespace ticopd::cuda::fused
