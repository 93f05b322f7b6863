#pragma once

#include "ticopd/cuda/codecs/message.cuh"
#include "ticopd/cuda/codecs/philox.cuh"

namespace ticopd::cuda {

// Loads coordinates k ... k + count - 1 of a row, at most four; k is a multiple of four.
__device__ __forceinline__ void load_four(const float* row, std::uint32_t k, std::uint32_t count,
                                          float (&to)[4]) {
  if (count == 4) {
    const float4 all = *reinterpret_cast<const float4*>(row + k);
    to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
    return;
  }
#pragma unroll
  for (std::uint32_t j = 0; j < 4; ++j) to[j] = j < count ? row[k + j] : 0.0f;
}

__device__ __forceinline__ void store_four(float* row, std::uint32_t k, std::uint32_t count,
                                           const float (&from)[4]) {
  if (count == 4) {
    *reinterpret_cast<float4*>(row + k) = {from[0], from[1], from[2], from[3]};
    return;
  }
#pragma unroll
  for (std::uint32_t j = 0; j < 4; ++j)
    if (j < count) row[k + j] = from[j];
}

__device__ __forceinline__ std::uint32_t count_of_four(std::uint32_t k, std::uint32_t n) {
  return k >= n ? 0u : min(4u, n - k);
}

// The row of message m to encode, four coordinates at a time.
struct InputRow {
  const float* x;
  float* h;         // the surrogate; null if an outer codec kept the values
  bool difference;  // h is subtracted

  __device__ InputRow(const Exchange& e, const Input& from, const Message& message, std::uint32_t m)
      : x(from.kept != nullptr ? from.kept + m * from.stride : e.v.row(message.row)),
        h(from.kept != nullptr ? nullptr : e.h.row(message.slot)),
        difference(from.kept == nullptr && e.raw == 0) {}

  __device__ float at(std::uint32_t k) const { return difference ? __fsub_rn(x[k], h[k]) : x[k]; }

  // Loads both the values to encode and the surrogate, which moves afterwards.
  __device__ void load(std::uint32_t k, std::uint32_t count, float (&v)[4],
                       float (&surrogate)[4]) const {
    load_four(x, k, count, v);
    if (h != nullptr) load_four(h, k, count, surrogate);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (difference) v[j] = __fsub_rn(v[j], surrogate[j]);
  }
};

// CpuMirror::apply_disturbed on four coordinates. `lossless`: q is the vector, not a difference.
template <bool noisy, bool lossless = false>
__device__ __forceinline__ void apply_four(const Exchange& e, const Message& message,
                                           const DeviceNoise& name, std::uint32_t k,
                                           std::uint32_t count, float (&q)[4], float (&h)[4]) {
  if constexpr (noisy) {
    const float4 noise = channel_noise(e, name, k / 4);
    q[0] = __fadd_rn(q[0], noise.x), q[1] = __fadd_rn(q[1], noise.y);
    q[2] = __fadd_rn(q[2], noise.z), q[3] = __fadd_rn(q[3], noise.w);
  }
  const bool raw = e.raw != 0, whole = lossless || raw;
  float to[4];
  if (e.sent.data != nullptr) {
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j] = whole && !raw ? __fsub_rn(q[j], h[j]) : q[j];
    store_four(e.sent.row(message.slot), k, count, to);
  }
  if (e.estimate.data != nullptr) {
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j] = whole ? q[j] : __fadd_rn(h[j], q[j]);
    store_four(e.estimate.row(message.slot), k, count, to);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float change = whole ? __fsub_rn(q[j], h[j]) : q[j];
    to[j] = whole && e.gain == 1.0f ? q[j] : __fadd_rn(h[j], __fmul_rn(e.gain, change));
  }
  store_four(e.h.row(message.slot), k, count, to);
}

// CpuMirror::stay: without a message q = 0.
__device__ __forceinline__ void stay_four(const Exchange& e, const Message& message,
                                          std::uint32_t k, std::uint32_t count,
                                          const float (&h)[4]) {
  if (e.estimate.data != nullptr) store_four(e.estimate.row(message.slot), k, count, h);
  const float zeros[4] = {};
  if (e.sent.data != nullptr) store_four(e.sent.row(message.slot), k, count, zeros);
}

inline bool is_noisy(const Exchange& e) {
  return e.noise_kind != 0 && e.noise_scale > 0;
}

}  // namespace ticopd::cuda
