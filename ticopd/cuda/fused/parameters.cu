#include "ticopd/cuda/fused/kernels.cuh"
#include "ticopd/cuda/fused/pieces.cuh"
#include "ticopd/cuda/hopper/base256.cuh"
#include "ticopd/cuda/hopper/ptx.cuh"

namespace ticopd::cuda::fused {

using namespace hopper;
namespace {

constexpr int warps = prepare_threads / 32;

// Called before x is read.
__device__ __forceinline__ void begin() {
  wait_for_kernel_before();
  let_next_kernel_begin();  // only then: see Queue::room_aside
}

// Rows `first` ... first + 3 of W1, with zeros for units that do not exist. The rows are
// contiguous, and begin at a multiple of 16 bytes because there are four of them.
__device__ __forceinline__ void load_rows(const Data& data, const float* w1, int first,
                                          float* rows) {
  const int there = min(units_per_block, data.hidden - first) * data.features;
  const float* from = w1 + first * data.features;
  for (int i = 4 * threadIdx.x; i < units_per_block * data.features; i += 4 * prepare_threads) {
    float4 v = {0, 0, 0, 0};
    if (i + 4 <= there) {
      v = *reinterpret_cast<const float4*>(from + i);
    } else {
      if (i < there) v.x = from[i];
      if (i + 1 < there) v.y = from[i + 1];
      if (i + 2 < there) v.z = from[i + 2];
    }
    *reinterpret_cast<float4*>(rows + i) = v;
  }
}

// The k-th digits of a unit for four ranks: one word of an image.
__device__ __forceinline__ std::uint32_t digit_word(const std::uint32_t (&of)[4], int k) {
  const std::uint32_t low = __byte_perm(of[0], of[1], k | (k + 4) << 4);
  const std::uint32_t high = __byte_perm(of[2], of[3], k | (k + 4) << 4);
  return __byte_perm(low, high, 0x5410);
}

// Digits of W1 and b1 for hidden units 4u ... 4u + 3, each scaled by its own maximum. Rows are read
// as they lie and sorted by rank in shared memory, because reads by rank would be of single floats.
__device__ void prepare_units(const Data& data, const Work& work, const float* x, int agent,
                              int u) {
  alignas(16) __shared__ float rows[units_per_block * max_features];
  __shared__ float largest[4][warps];
  const int tid = threadIdx.x, first = units_per_block * u;
  const short4 pixels =
      *reinterpret_cast<const short4*>(data.pixel_of + agent * max_ranks + 4 * tid);
  begin();
  load_rows(data, x, first, rows);
  __syncthreads();

  const float* b1 = x + data.hidden * data.features;
  const int pixel[4] = {pixels.x, pixels.y, pixels.z, pixels.w};
  float v[4][4], m[4] = {0, 0, 0, 0};  // [rank][unit]
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int t = 0; t < 4; t++) {
      v[i][t] = 0;
      if (pixel[i] == data.features)
        v[i][t] = first + t < data.hidden ? b1[first + t] : 0.f;
      else if (pixel[i] >= 0)
        v[i][t] = rows[t * data.features + pixel[i]];
      m[t] = max_or_nan(m[t], fabsf(v[i][t]));
    }
#pragma unroll
  for (int t = 0; t < 4; t++) {
    for (int k = 16; k; k >>= 1) m[t] = max_or_nan(m[t], __shfl_xor_sync(~0u, m[t], k));
    if ((tid & 31) == 0) largest[t][tid >> 5] = m[t];
  }
  __syncthreads();

  // Ranks beyond the shard's pixels are zero from the start.
  const int k = (4 * tid) & (chunk - 1);
  std::uint8_t* image =
      work.w1_digits + (static_cast<std::size_t>(agent) * data.chunks + 4 * tid / chunk) * b_bytes;
#pragma unroll
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < warps; i++) m[t] = max_or_nan(m[t], largest[t][i]);
    const float scale = m[t] > 0 ? most_of_three_digits / m[t] : 0.f;
    if (tid == t)  // digits are always finite: only this scale can say NaN
      work.parameters[agent].z_scale[28 * t + u] =
          isfinite(m[t])
              ? m[t] * static_cast<float>(-1.4426950408889634 / (255.0 * most_of_three_digits))
              : NAN;
    std::uint32_t of[4];
#pragma unroll
    for (int i = 0; i < 4; i++) of[i] = digit_bytes(__float2int_rn(v[i][t] * scale));
    if (pixel[0] < 0) continue;
#pragma unroll
    for (int digit = 0; digit < 3; digit++) {
      const int i = 3 * u + digit, column = 8 * (i >> 1) + 2 * t + (i & 1);
      *reinterpret_cast<std::uint32_t*>(image + image_at(column, k)) = digit_word(of, digit);
    }
  }
}

// W2 and b2 as [unit][class], with zeros for missing units and classes.
struct Layer2 {
  float w[max_hidden * max_classes];
  float inverse;  // of w2_scale
  int classes;

  __device__ __forceinline__ float operator()(int u, int t, int c) const {
    return c >= max_classes || u > 24 ? 0.f : w[(4 * u + t) * max_classes + c] * inverse;
  }
};

__device__ __forceinline__ float block_max(float v, float* scratch) {
  for (int k = 16; k; k >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, k));
  if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = v;
  __syncthreads();
  for (int i = 0; i < warps; i++) v = fmaxf(v, scratch[i]);
  return v;
}

// Operands of the tensor cores for the logits: classes n, four units of a quad lane per step. The
// lo parts are multiplied by 2^11, because fp16 would round them as subnormals.
__device__ __forceinline__ void logit_fragments(const Layer2& w2, AgentParameters& out) {
  for (int i = threadIdx.x; i < 7 * 2 * 32; i += prepare_threads) {
    const int lane = i & 31, n = ((i >> 5) & 1) * 8 + (lane >> 2), step = i >> 6, t = lane & 3;
    uint4 f;
    split(w2(4 * step, t, n), w2(4 * step + 1, t, n), f.x, f.z, 2048.f);
    split(w2(4 * step + 2, t, n), w2(4 * step + 3, t, n), f.y, f.w, 2048.f);
    out.logit_fragments[i] = f;
  }
}

// The same for dH, in the order of DeltaFragments. x and y belong to its first step: hi parts. z
// and w belong to its second: lo parts, and hi parts where delta's lo parts are. A unit's weights
// are taken relative to the middle of their range: delta.1 = 0, so what all classes have in common
// cancels.
__device__ __forceinline__ void dh_fragments(const Layer2& layer2, const float* middle,
                                             const float* spread, AgentParameters& out) {
  const auto w2 = [&](int u, int t, int c) {
    const int unit = 4 * u + t;
    return c >= layer2.classes ? 0.f
                               : (layer2.w[unit * max_classes + c] - middle[unit]) * spread[unit];
  };
  for (int i = threadIdx.x; i < 13 * 32; i += prepare_threads) {
    const int lane = i & 31, q = i >> 5, n = lane >> 2, t = lane & 3;
    const int u = 2 * q + (n & 1), quad = n >> 1;
    uint4 f = {0, 0, 0, 0};
    if (u < 25) {
      std::uint32_t hi8, lo8, spare;
      split(w2(u, quad, 2 * t), w2(u, quad, 2 * t + 1), f.x, f.z);
      split(w2(u, quad, 8), w2(u, quad, 9), hi8, lo8);
      f.y = t ? f.x : hi8;
      split(w2(u, quad, 0), w2(u, quad, 1), f.w, spare);
      f.w = t == 0 ? lo8 : t == 1 ? f.w : t == 2 ? hi8 : 0;
    }
    out.dh_fragments[i] = f;
  }
}

// The logits' bias takes in what h - 1/2 leaves out of them. Sixteen threads add up a class: one
// thread alone would take longer than everything else here.
__device__ __forceinline__ void write_bias(const Data& data, const Layer2& w2, const float* b2,
                                           AgentParameters& out) {
  const int c = threadIdx.x / 16, lane = threadIdx.x % 16;
  double sum = 0;
  for (int j = lane; c < max_classes && j < max_hidden; j += 16) sum += w2.w[j * max_classes + c];
  for (int half = 8; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half, 16);
  if (lane == 0 && c < data.classes) out.bias[c] = static_cast<float>(0.5 * sum + b2[c]);
  // A missing class has probability exactly 0.
  const int absent = static_cast<int>(threadIdx.x);
  if (absent >= data.classes && absent < 16) out.bias[absent] = -INFINITY;
}

// W2 over a power of two; the logits' bias; and a scale for the digits of dH. The scale follows
// from the range of W2_j over the classes, since delta.1 = 0: |delta.(W2_j - middle) / (range / 2)|
// <= 2 |delta_y|.
__device__ void prepare_layer2(const Data& data, const Work& work, const float* x, int agent) {
  __shared__ Layer2 w2;
  __shared__ float b2[max_classes], scratch[warps], middle[max_hidden], spread[max_hidden];
  const int tid = threadIdx.x;
  const float* from = x + data.hidden * (data.features + 1);
  float m = 0;
  begin();
  for (int i = tid; i < max_hidden * max_classes; i += prepare_threads) {
    const int c = i / max_hidden, j = i - c * max_hidden;
    const float w = c < data.classes && j < data.hidden ? from[c * data.hidden + j] : 0.f;
    w2.w[j * max_classes + c] = w;
    m = fmaxf(m, fabsf(w));
  }
  if (tid < data.classes) b2[tid] = from[data.classes * data.hidden + tid];
  const PowerOfTwo scale(block_max(m, scratch));
  if (tid == 0) {
    w2.inverse = scale.inverse();
    w2.classes = data.classes;
  }
  AgentParameters& out = work.parameters[agent];
  if (tid < max_hidden) {
    float low = w2.w[tid * max_classes], high = low;
    for (int c = 1; c < data.classes; c++) {
      low = fminf(low, w2.w[tid * max_classes + c]);
      high = fmaxf(high, w2.w[tid * max_classes + c]);
    }
    const float half = 0.5f * (high - low);
    middle[tid] = low + half;
    spread[tid] = half > 0 ? 1.f / half : 0.f;
    out.w1_scale[tid] = half / (dh_most * 255.f) * data.scale[agent];
  }
  __syncthreads();

  logit_fragments(w2, out);
  dh_fragments(w2, middle, spread, out);
  if (tid == 0) {
    out.w2_scale = scale.value();
    work.done[agent] = 0;
  }
  write_bias(data, w2, b2, out);
}

}  // namespace

// Tables are constant, so they are read before the wait.
__global__ void __launch_bounds__(prepare_threads) prepare(Data data, Work work, Rows x) {
  const int blocks = blocks_per_agent(data.hidden);
  const int agent = blockIdx.x / blocks, part = blockIdx.x % blocks;
  if (part == 0)  // it takes longest
    prepare_layer2(data, work, x.row(agent), agent);
  else
    prepare_units(data, work, x.row(agent), agent, part - 1);
}

}  // namespace ticopd::cuda::fused
