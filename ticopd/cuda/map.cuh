#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "ticopd/cuda/field.hpp"
#include "ticopd/cuda/runtime/queue.hpp"

namespace ticopd::cuda {

// M h on the device, recomputed every time it is read, like the CPU's Mixture.
struct MixingTerm {
  std::uint32_t slot;
  float weight;
};
struct Mixture {
  Rows h;
  const std::uint32_t* begin;  // of each row's terms; one more than rows
  const MixingTerm* terms;
};

// One number per agent.
struct PerAgent {
  const float* values;
};

// A field that the formula only reads.
struct Read {
  Rows rows;
};
// A field that the formula writes.
struct Written {
  Rows rows;
};

// The part of an operand's row that no kernel ever writes. A map reads it before the previous
// kernel has ended.
template <class View>
struct Head {
  __device__ Head(const View&, std::size_t) {}
};

template <>
struct Head<Mixture> {
  static constexpr std::uint32_t kept = 4;
  std::uint32_t first, last;
  MixingTerm terms[kept];  // the first ones
  __device__ Head(const Mixture& from, std::size_t row)
      : first(from.begin[row]), last(from.begin[row + 1]) {
#pragma unroll
    for (std::uint32_t i = 0; i < kept; ++i)
      if (first + i < last) terms[i] = from.terms[first + i];
  }
};

template <>
struct Head<PerAgent> {
  float value;
  __device__ Head(const PerAgent& from, std::size_t row) : value(from.values[row]) {}
};

// Four coordinates of one operand: the share of one thread.
template <class View>
struct Four;

template <>
struct Four<Read> {
  float v[4];
  __device__ Four(const Read& from, const Head<Read>&, std::size_t row, std::size_t k) {
    *reinterpret_cast<float4*>(v) = *reinterpret_cast<const float4*>(from.rows.row(row) + k);
  }
  __device__ float operator[](int j) const { return v[j]; }
  __device__ void store(const Read&, std::size_t, std::size_t, std::size_t) const {}
};

template <>
struct Four<Written> {
  float v[4];
  __device__ Four(const Written& from, const Head<Written>&, std::size_t row, std::size_t k) {
    *reinterpret_cast<float4*>(v) = *reinterpret_cast<const float4*>(from.rows.row(row) + k);
  }
  __device__ float& operator[](int j) { return v[j]; }
  __device__ void store(const Written& to, std::size_t row, std::size_t k, std::size_t d) const {
    float* at = to.rows.row(row) + k;
    if (k + 4 <= d)
      *reinterpret_cast<float4*>(at) = *reinterpret_cast<const float4*>(v);
    else
      for (int j = 0; k + j < d; ++j) at[j] = v[j];
  }
};

template <>
struct Four<Mixture> {
  float v[4] = {0, 0, 0, 0};
  // Terms are added one by one in order, as on the CPU: the first is not added to zero.
  __device__ Four(const Mixture& from, const Head<Mixture>& head, std::size_t, std::size_t k) {
#pragma unroll
    for (std::uint32_t i = 0; i < Head<Mixture>::kept; ++i)
      if (head.first + i < head.last) add(from, head.terms[i], k, i == 0);
    for (std::uint32_t t = head.first + Head<Mixture>::kept; t < head.last; ++t)
      add(from, from.terms[t], k, false);
  }
  __device__ void add(const Mixture& from, const MixingTerm& term, std::size_t k, bool first) {
    const float4 h = *reinterpret_cast<const float4*>(from.h.row(term.slot) + k);
    const float part[4] = {h.x, h.y, h.z, h.w};
    for (int j = 0; j < 4; ++j) v[j] = first ? term.weight * part[j] : v[j] + term.weight * part[j];
  }
  __device__ float operator[](int j) const {
    return v[j];
  }
  __device__ void store(const Mixture&, std::size_t, std::size_t, std::size_t) const {}
};

template <>
struct Four<PerAgent> {
  float value;
  __device__ Four(const PerAgent&, const Head<PerAgent>& head, std::size_t, std::size_t)
      : value(head.value) {}
  __device__ float operator[](int) const { return value; }
  __device__ void store(const PerAgent&, std::size_t, std::size_t, std::size_t) const {}
};

// Tells which parameters a formula writes: those it takes by reference.
template <class>
struct Signature;
template <class F, class... A>
struct Signature<void (F::*)(A...) const> {
  template <std::size_t i>
  static constexpr bool writes =
      std::is_lvalue_reference_v<std::tuple_element_t<i, std::tuple<A...>>>;
};

// A field that a mirror will send next. The map that writes it also leaves the sums of (v - h)^2
// over blocks of 128 coordinates. The codec computes its norm from them without a sweep of its own.
struct Watch {
  Rows v, h;
  double* squares = nullptr;  // by row; null: nothing is watched
  std::uint64_t stride = 0;
};

inline constexpr unsigned map_threads = 128;

// The sum of one block in the frozen tree of numeric/sum.hpp, by a warp with 4 coordinates per
// thread: sixteen lanes add up every sixteenth coordinate, then fold.
__device__ __forceinline__ void sum_block_squares(const float (&difference)[4], double* to) {
  __shared__ float4 all[map_threads / 32][32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  all[warp][lane] = *reinterpret_cast<const float4*>(difference);
  __syncwarp();
  const float* block = reinterpret_cast<const float*>(all[warp]);
  double sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const double a = block[16 * i + lane % 16];
    sum += a * a;
  }
#pragma unroll
  for (int half = 8; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half, 16);
  if (lane == 0) *to = sum;
}

// Stores the difference to the surrogate if this operand is the watched one.
template <class View>
__device__ __forceinline__ void take_difference(const Four<View>&, const View&, const Watch&,
                                                std::size_t, std::size_t, std::size_t,
                                                float (&)[4]) {}
__device__ __forceinline__ void take_difference(const Four<Written>& four, const Written& view,
                                                const Watch& watch, std::size_t row, std::size_t k,
                                                std::size_t d, float (&difference)[4]) {
  if (view.rows.data != watch.v.data) return;
  const float4 h4 = *reinterpret_cast<const float4*>(watch.h.row(row) + k);
  const float h[4] = {h4.x, h4.y, h4.z, h4.w};
  for (int j = 0; j < 4; ++j) difference[j] = k + j < d ? four.v[j] - h[j] : 0.0f;
}

// Applies the formula at every coordinate of every row, as a CPU network does chunk by chunk.
template <class F, class... Views>
__global__ void __launch_bounds__(map_threads)
    map_rows(F formula, std::size_t d, Watch watch, Views... views) {
  let_next_kernel_begin();
  const std::size_t k = 4 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  const std::size_t row = blockIdx.y;
  float difference[4] = {0, 0, 0, 0};
  const auto sweep = [&](auto&&... fours) {
    for (int j = 0; j < 4; ++j) formula(fours[j]...);
    (fours.store(views, row, k, d), ...);
    if (watch.squares) (take_difference(fours, views, watch, row, k, d, difference), ...);
  };
  const auto begin = [&](const Head<Views>&... heads) {
    wait_for_kernel_before();
    if (k < d) sweep(Four<Views>(views, heads, row, k)...);
  };
  begin(Head<Views>(views, row)...);
  if (watch.squares && k - 4 * (threadIdx.x % 32) < d)
    sum_block_squares(difference, watch.squares + row * watch.stride + k / 128);
}

}  // namespace ticopd::cuda
