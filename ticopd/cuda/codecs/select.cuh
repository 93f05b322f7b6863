#pragma once

#include "ticopd/codecs/arithmetic/kept.hpp"
#include "ticopd/cuda/codecs/apply.cuh"
#include "ticopd/cuda/codecs/code_length.cuh"
#include "ticopd/cuda/codecs/quantisers.cuh"

namespace ticopd::cuda {

// The kept coordinates: those whose magnitude, as bits, is above `least`, and the first `ties` of
// those equal to it.
struct Cut {
  std::uint32_t least, ties;
};

// Finds the k-th largest magnitude digit by digit, from the highest. Each pass counts the next
// digit of the coordinates that agree with all digits before. The last thread block of a message
// then finds this digit of the k-th. Magnitudes are compared as bits, which have the order of the
// numbers.
inline constexpr unsigned select_threads = 512;
inline constexpr unsigned select_coordinates = 8 * select_threads;
inline constexpr std::uint32_t select_bins = 2048;

// The bits of a magnitude that a pass looks at.
template <int pass>
struct RadixDigit {
  static constexpr std::uint32_t shift = pass == 0 ? 20 : pass == 1 ? 10 : 0;
  static constexpr std::uint32_t bits = pass == 0 ? 11 : 10;
  static constexpr std::uint32_t bins = 1u << bits;
};

struct Selection {
  MessageState* states;
  Cut* cuts;                  // by message: the digits found so far, and the rank among their ties
  std::uint32_t* histograms;  // by message, all zero between kernels
  std::uint32_t k, tiles;
};

template <int pass>
__global__ void __launch_bounds__(select_threads)
    select_digit(Round round, Exchange e, Selection to) {
  using Now = RadixDigit<pass>;
  __shared__ std::uint32_t counts[Now::bins];
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message;
  const bool idle = pass == 0 ? is_skipped(e, m) : to.states[m].verdict != travels;
  if (pass > 0 && idle) return;
  const Cut before = pass == 0 ? Cut{0, to.k} : to.cuts[m];
  for (std::uint32_t i = threadIdx.x; i < Now::bins; i += select_threads) counts[i] = 0;
  __syncthreads();
  const InputRow row(e, Input{}, e.messages[m], m);
  const auto d = idle ? 0 : static_cast<std::uint32_t>(e.d);
  bool bad = false;
#pragma unroll
  for (std::uint32_t part = 0; part < 2; ++part) {
    const std::uint32_t k =
        tile.index * select_coordinates + 4 * (part * select_threads + threadIdx.x);
    const std::uint32_t count = count_of_four(k, d);
    float v[4], h[4];
    row.load(k, count, v, h);
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::uint32_t bits = magnitude_bits(v[j]);
      if (j >= count || (bits ^ before.least) >> (Now::shift + Now::bits) != 0) continue;
      bad = bad || bits >= 0x7f800000u;
      atomicAdd(&counts[bits >> Now::shift & (Now::bins - 1)], 1u);
    }
  }
  if (pass == 0 && bad) atomicOr(&to.states[m].bad, 1u);
  __syncthreads();
  std::uint32_t* histogram = to.histograms + std::uint64_t{m} * select_bins;
  for (std::uint32_t i = threadIdx.x; i < Now::bins; i += select_threads)
    if (counts[i] != 0) atomicAdd(&histogram[i], counts[i]);
  if (!last_to_arrive(to.states[m], to.tiles)) return;
  if (pass == 0 && threadIdx.x == 0) settle(e, m, to.states[m], true, round.number());
  // Each thread has some bins, the highest first.
  constexpr std::uint32_t some = Now::bins / select_threads;
  const std::uint32_t highest = Now::bins - 1 - some * threadIdx.x;
  std::uint32_t mine[some], sum = 0;
  for (std::uint32_t i = 0; i < some; ++i) {
    mine[i] = histogram[highest - i];
    histogram[highest - i] = 0;
    sum += mine[i];
  }
  std::uint64_t total;
  auto above = static_cast<std::uint32_t>(scan_block(sum, total));
  for (std::uint32_t i = 0; i < some; ++i) {
    if (above < before.ties && before.ties <= above + mine[i])
      to.cuts[m] = {before.least | (highest - i) << Now::shift, before.ties - above};
    above += mine[i];
  }
}

// The destination of the kept coordinates of each message.
struct Keeping {
  MessageState* states;
  const Cut* cuts;               // null: a share of the largest magnitude
  const Finite::Gauge* largest;  // by message
  uint2* tiles_before;           // by message and tile: coordinates above and at the cut before it
  float* values;                 // by message, in ascending order of index
  std::uint32_t* indices;
  std::uint32_t* lengths;
  std::uint64_t tiles_stride, values_stride;
  float share;
  std::uint32_t tiles;

  __device__ Cut cut(std::uint32_t m) const {
    if (cuts != nullptr) return cuts[m];
    return {least_kept(share, largest[m].norm), ~0u};
  }
};

// Four coordinates of a row, and which of them are above the cut or at it.
struct FourKept {
  Message message;
  std::uint32_t k, count, above = 0, at = 0;  // masks of four bits
  float v[4], h[4];

  __device__ FourKept(const Exchange& e, const Tile& tile, const Cut& cut)
      : message(e.messages[tile.message]),
        k(4 * (tile.index * block_threads + threadIdx.x)),
        count(count_of_four(k, static_cast<std::uint32_t>(e.d))) {
    InputRow(e, Input{}, message, tile.message).load(k, count, v, h);
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::uint32_t bits = magnitude_bits(v[j]);
      above |= (j < count && bits > cut.least ? 1u : 0u) << j;
      at |= (j < count && bits == cut.least ? 1u : 0u) << j;
    }
  }
  __device__ std::uint64_t counts() const {
    return std::uint64_t(__popc(above)) << 32 | static_cast<std::uint32_t>(__popc(at));
  }
};

static __global__ void __launch_bounds__(block_threads) count_kept(Exchange e, Keeping to) {
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message;
  if (to.states[m].verdict != travels) {
    if (tile.index == 0 && threadIdx.x == 0) to.lengths[m] = 0;
    return;
  }
  const Cut cut = to.cut(m);
  const FourKept four(e, tile, cut);
  const std::uint64_t here = over_block(four.counts(), Sum());
  uint2* before = to.tiles_before + m * to.tiles_stride;
  if (threadIdx.x == 0)
    before[tile.index] = {static_cast<std::uint32_t>(here >> 32), static_cast<std::uint32_t>(here)};
  if (!last_to_arrive(to.states[m], to.tiles)) return;
  std::uint64_t all = 0;
  for (std::uint32_t first = 0; first < to.tiles; first += block_threads) {
    const std::uint32_t i = first + threadIdx.x;
    const uint2 counts = i < to.tiles ? before[i] : uint2{0, 0};
    std::uint64_t total;
    const std::uint64_t sum = all + scan_block(std::uint64_t{counts.x} << 32 | counts.y, total);
    if (i < to.tiles)
      before[i] = {static_cast<std::uint32_t>(sum >> 32), static_cast<std::uint32_t>(sum)};
    all += total;
  }
  if (threadIdx.x == 0)
    to.lengths[m] =
        static_cast<std::uint32_t>(all >> 32) + min(static_cast<std::uint32_t>(all), cut.ties);
}

enum class Place { gather, gather_and_apply, apply };

// Moves kept coordinates to their places in ascending order of index, or back from there.
template <Place place, bool noisy>
__global__ void __launch_bounds__(block_threads) place_kept(Round round, Exchange e, Keeping to) {
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message, verdict = to.states[m].verdict;
  const Cut cut = verdict == travels ? to.cut(m) : Cut{};
  FourKept four(e, tile, cut);
  if (place != Place::gather && verdict == stays)
    stay_four(e, four.message, four.k, four.count, four.h);
  if (verdict != travels) return;
  std::uint64_t total;
  const std::uint64_t before = scan_block(four.counts(), total);
  const uint2 start = to.tiles_before[m * to.tiles_stride + tile.index];
  std::uint32_t above = start.x + static_cast<std::uint32_t>(before >> 32);
  std::uint32_t at = start.y + static_cast<std::uint32_t>(before);
  const std::uint64_t values = m * to.values_stride;
  float q[4];
#pragma unroll
  for (std::uint32_t j = 0; j < 4; ++j) {
    const bool is_above = (four.above >> j & 1) != 0, is_at = (four.at >> j & 1) != 0;
    const bool kept = is_above || (is_at && at < cut.ties);
    const std::uint64_t to_place = values + above + min(at, cut.ties);
    q[j] = kept ? four.v[j] : 0.0f;
    if (place != Place::apply && kept) {
      to.values[to_place] = four.v[j];
      to.indices[to_place] = four.k + j;
    }
    if (place == Place::apply && kept) q[j] = to.values[to_place];
    above += is_above;
    at += is_at;
  }
  if constexpr (place != Place::gather)
    apply_four<noisy>(e, four.message, DeviceNoise(e, four.message, round.number()), four.k,
                      four.count, q, four.h);
}

}  // namespace ticopd::cuda
