#pragma once

#include "ticopd/cuda/fused/pieces.cuh"
#include "ticopd/cuda/fused/product.cuh"
#include "ticopd/cuda/hopper/mma.cuh"

// The work of forward on a tile after X.W1: sigmoids, logits, softmax, and the way back through
// layer 2. Everything stays in registers, for two samples per thread, on fp16 tensor cores with hi
// and lo parts: 107 instructions per warp instead of some 1,500 multiplications per thread.
namespace ticopd::cuda::fused {

// The agent's parameters in shared memory.
struct Parameters {
  const uint4 *logit_fragments, *dh_fragments;
  const float* z_scale;  // of this quad lane
  const float *w2_scale, *bias;

  __device__ __forceinline__ Parameters(const Self& self, int offset) {
    const auto& all = *reinterpret_cast<const AgentParameters*>(self.memory + offset);
    logit_fragments = all.logit_fragments + self.lane;
    dh_fragments = all.dh_fragments + self.lane;
    z_scale = all.z_scale + 28 * self.t;
    w2_scale = &all.w2_scale;
    bias = all.bias;
  }
};

// The hidden layer in one thread: 25 units of its quad lane for two samples. Unit 25 of lane 0 is
// the constant 1, whose "weights" are b2. So the gradient of b2 needs no sums of its own.
struct Hidden {
  // h - 1/2 as fp16 hi + lo, two units per word; h(1 - h) = 1/4 - (h - 1/2)^2. h is centred because
  // tensor cores truncate: smaller sums have a smaller bias. The other half of W2.h is in the
  // logits' bias.
  std::uint32_t hi[2][14], lo[2][14];
  float slope[2][26];
};

// A sample's numbers by class. [0]: classes 2t and 2t + 1 of the first and of the second sample.
// [1]: the same for 8 + 2t and 9 + 2t, which only lane 0 of a quad has.
using ByClass = float[2][4];

// Computes unit u, the first or second of a pair, for both samples.
__device__ __forceinline__ void activate(const Accumulator& products, int u, float z_scale, int t,
                                         Hidden& hidden, float (&centred)[2][2]) {
  if (u < 25) {  // two sigmoids with one reciprocal; beyond 2^60 the product would overflow
    const float a = 1.f + exp2_fast(min_or_nan(products.value(min(u, 24), 0) * z_scale, 60.f));
    const float b = 1.f + exp2_fast(min_or_nan(products.value(min(u, 24), 1) * z_scale, 60.f));
    const float inverse = reciprocal_fast(a * b);
    const float c0 = fmaf(inverse, b, -0.5f), c1 = fmaf(inverse, a, -0.5f);
    hidden.slope[0][u] = fmaf(-c0, c0, 0.25f);
    hidden.slope[1][u] = fmaf(-c1, c1, 0.25f);
    centred[0][u & 1] = c0;
    centred[1][u & 1] = c1;
  } else {
    hidden.slope[0][u] = hidden.slope[1][u] = 0;
    centred[0][1] = centred[1][1] = t == 0 ? 1.f : 0.f;
  }
  if (u & 1) {
    split(centred[0][0], centred[0][1], hidden.hi[0][u / 2], hidden.lo[0][u / 2]);
    split(centred[1][0], centred[1][1], hidden.hi[1][u / 2], hidden.lo[1][u / 2]);
  }
}

// Hidden layer and logits, four units of every quad lane (16 terms of the sum over units) at a
// time. The special-function unit limits the sigmoids; meanwhile the tensor cores compute the
// logits. The words of `hidden` end up transposed in blocks of 8 x 8, as dW2 needs them.
__device__ __forceinline__ void hidden_and_logits(const Accumulator& products,
                                                  const Parameters& parameters, const Self& self,
                                                  Hidden& hidden, ByClass& logits) {
  float hi_lo[2][4], lo_hi[2][4];
#pragma unroll
  for (int n = 0; n < 2; n++)
#pragma unroll
    for (int k = 0; k < 4; k++) logits[n][k] = hi_lo[n][k] = lo_hi[n][k] = 0;
  hidden.hi[0][13] = hidden.hi[1][13] = hidden.lo[0][13] = hidden.lo[1][13] = 0;
#pragma unroll
  for (int g = 0; g < 7; g++) {
    float z_scale[4], centred[2][2];
    *reinterpret_cast<float4*>(z_scale) = reinterpret_cast<const float4*>(parameters.z_scale)[g];
#pragma unroll
    for (int e = 0; e < 4; e++) {
      if (4 * g + e > 25) break;
      activate(products, 4 * g + e, z_scale[e], self.t, hidden, centred);
    }
    const auto& hi = hidden.hi;
    const auto& lo = hidden.lo;
    const std::uint32_t a_hi[4] = {hi[0][2 * g], hi[1][2 * g], hi[0][2 * g + 1], hi[1][2 * g + 1]};
    const std::uint32_t a_lo[4] = {lo[0][2 * g], lo[1][2 * g], lo[0][2 * g + 1], lo[1][2 * g + 1]};
#pragma unroll
    for (int n = 0; n < 2; n++) {
      const uint4 b = parameters.logit_fragments[(g * 2 + n) * 32];
      float hi_hi[4];
      mma_new(hi_hi, a_hi, b.x, b.y);
      mma_add(hi_lo[n], a_hi, b.z, b.w);
      mma_add(lo_hi[n], a_lo, b.x, b.y);
#pragma unroll
      for (int k = 0; k < 4; k++) logits[n][k] += hi_hi[k];
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
      for (int q = 2 * g; q < 2 * g + 2 && q < 13; q++) {
        hidden.hi[k][q] = transpose8x8(hidden.hi[k][q]);
        hidden.lo[k][q] = transpose8x8(hidden.lo[k][q]);
      }
  }
  const float scale = *parameters.w2_scale;
  const auto* pairs = reinterpret_cast<const float2*>(parameters.bias);
  const float2 bias[2] = {pairs[self.t], pairs[4 + self.t]};
#pragma unroll
  for (int n = 0; n < 2; n++)
#pragma unroll
    for (int k = 0; k < 4; k++)
      logits[n][k] = fmaf(logits[n][k] + fmaf(hi_lo[n][k], 0x1p-11f, lo_hi[n][k]), scale,
                          k & 1 ? bias[n].y : bias[n].x);
}

__device__ __forceinline__ float over_quad(float v) {
  v += __shfl_xor_sync(~0u, v, 1);
  return v + __shfl_xor_sync(~0u, v, 2);
}

// Turns logits into delta = softmax - e_label. Returns the warp's largest |delta|, which is that of
// a label: delta_y = -(sum of the others), and not p_y - 1, which keeps no digit once a shard is
// overfit.
__device__ __forceinline__ float deltas(std::uint32_t labels, const Self& self, ByClass& d) {
  const int t = self.t;
  float worst = 0;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int y = (labels >> (8 * half)) & 255;
    float z0 = d[0][2 * half], z1 = d[0][2 * half + 1];
    float z2 = t == 0 ? d[1][2 * half] : -INFINITY, z3 = t == 0 ? d[1][2 * half + 1] : -INFINITY;
    float m = fmaxf(fmaxf(z0, z1), fmaxf(z2, z3));
    m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
    m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
    z0 = expf(z0 - m), z1 = expf(z1 - m), z2 = expf(z2 - m), z3 = expf(z3 - m);
    const bool y0 = y == 2 * t, y1 = y == 2 * t + 1;
    const bool y2 = t == 0 && y == 8, y3 = t == 0 && y == 9;
    const float own = over_quad((y0 ? z0 : 0) + (y1 ? z1 : 0) + (y2 ? z2 : 0) + (y3 ? z3 : 0));
    const float other =
        over_quad(((y0 ? 0 : z0) + (y1 ? 0 : z1)) + ((y2 ? 0 : z2) + (y3 ? 0 : z3)));
    const float all = own + other, guess = reciprocal_fast(all);
    const float inverse = y == no_label ? 0.f : guess * fmaf(-all, guess, 2.f);
    const float own_delta = -other * inverse;
    worst = fmaxf(worst, -own_delta);
    d[0][2 * half] = y0 ? own_delta : z0 * inverse;
    d[0][2 * half + 1] = y1 ? own_delta : z1 * inverse;
    d[1][2 * half] = y2 ? own_delta : z2 * inverse;
    d[1][2 * half + 1] = y3 ? own_delta : z3 * inverse;
  }
#pragma unroll
  for (int k = 4; k < 32; k *= 2) worst = fmaxf(worst, __shfl_xor_sync(~0u, worst, k));
  return worst;
}

// delta as operands of the tensor cores, transposed for dW2. dH takes two steps of 16 products,
// since hi.hi + hi.lo + lo.hi over ten classes are thirty. Quad lanes 1 ... 3 have room where lane
// 0 has classes 8 and 9. The first step puts their own lo parts there, the second those of lane 0
// (classes 0 and 1 in lane 1; 8 and 9 in lane 2).
struct DeltaFragments {
  std::uint32_t hi[4], lo[4];
  std::uint32_t first[4], second[4];

  __device__ __forceinline__ DeltaFragments(const ByClass& d, float inverse, const Self& self) {
    std::uint32_t h[4], l[4];
    split(d[0][0] * inverse, d[0][1] * inverse, h[0], l[0]);
    split(d[0][2] * inverse, d[0][3] * inverse, h[1], l[1]);
    split(d[1][0] * inverse, d[1][1] * inverse, h[2], l[2]);
    split(d[1][2] * inverse, d[1][3] * inverse, h[3], l[3]);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int from = k == 1 ? 2 : k == 2 ? 1 : k;
      hi[k] = transpose8x8(h[from]);
      lo[k] = transpose8x8(l[from]);
    }
    const int t = self.t;
#pragma unroll
    for (int k = 0; k < 2; k++) {
      first[k] = second[k] = h[k];
      first[2 + k] = t ? l[k] : h[2 + k];
      const std::uint32_t a = __shfl_sync(~0u, l[k], self.lane & ~3);
      const std::uint32_t b = __shfl_sync(~0u, l[2 + k], self.lane & ~3);
      second[2 + k] = t == 0 ? h[2 + k] : t == 1 ? a : t == 2 ? b : 0;
    }
  }
};

// The running dW2 of a warp: rows are classes r and r + 8, columns units 2q and 2q + 1.
using RunningW2 = float[13][4];

// delta.W2^T of units 2q and 2q + 1, up to their scales, for both samples.
__device__ __forceinline__ void back_through_w2(const DeltaFragments& delta,
                                                const Parameters& parameters, int q,
                                                float (&v)[4]) {
  const uint4 b = parameters.dh_fragments[q * 32];
  mma_new(v, delta.second, b.z, b.w);
  mma_add(v, delta.first, b.x, b.y);
}

// dW2 += delta^T h, and dH = (delta.W2^T) h (1 - h) as digits into the image in shared memory. Each
// product begins one step before it is read.
__device__ __forceinline__ void layer2(const Hidden& hidden, const DeltaFragments& delta,
                                       float scale, const Parameters& parameters,
                                       std::uint32_t image, RunningW2& w2) {
  std::uint32_t blocks[40];  // 8 digit columns x 16 samples each
  float ahead[4];
  back_through_w2(delta, parameters, 0, ahead);
#pragma unroll
  for (int q = 0; q < 13; q++) {
    float g[4] = {0, 0, 0, 0}, v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = ahead[k];
    mma_add(g, delta.hi, hidden.lo[0][q], hidden.lo[1][q]);
    if (q < 12) back_through_w2(delta, parameters, q + 1, ahead);
    mma_add(g, delta.lo, hidden.hi[0][q], hidden.hi[1][q]);
    mma_add(g, delta.hi, hidden.hi[0][q], hidden.hi[1][q]);
    std::uint32_t dg[4];  // units 2q, 2q + 1, of both samples each
#pragma unroll
    for (int e = 0; e < 2; e++)
#pragma unroll
      for (int half = 0; half < 2; half++)
        dg[2 * e + half] = offset_digits(v[2 * half + e] * hidden.slope[half][2 * q + e], dh_most);
    blocks[3 * q] = signed_digits(__byte_perm(dg[0], dg[1], 0x5140));
    blocks[3 * q + 1] = signed_digits(
        __byte_perm(__byte_perm(dg[0], dg[1], 0x0062), __byte_perm(dg[2], dg[3], 0x0040), 0x5410));
    blocks[3 * q + 2] = signed_digits(__byte_perm(dg[2], dg[3], 0x6251));
#pragma unroll
    for (int k = 0; k < 4; k++) w2[q][k] = fmaf(scale, g[k], w2[q][k]);
#pragma unroll
    for (int n = 0; n < 9; n++)  // four blocks leave as soon as they are complete
      if (4 * n + 3 <= 3 * q + 2 && 4 * n + 3 > 3 * q - 1)
        store_blocks4(image + n * 4 * 8 * chunk, blocks[4 * n], blocks[4 * n + 1],
                      blocks[4 * n + 2], blocks[4 * n + 3]);
  }
  store_blocks2(image + 36 * 8 * chunk, blocks[36], blocks[37]);
}

}  // namespace ticopd::cuda::fused
