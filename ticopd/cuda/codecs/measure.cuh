#pragma once

#include "ticopd/cuda/codecs/apply.cuh"
#include "ticopd/cuda/codecs/quantisers.cuh"
#include "ticopd/numeric/sum.hpp"

namespace ticopd::cuda {

// The first sweep over a row. It measures the buckets, in the frozen tree of numeric/sum.hpp, and
// decides if the message is sent.
template <class Q>
struct Measure {
  Q how;
  MessageState* states;
  typename Q::Gauge* gauges;         // by message and bucket
  typename Q::Reduce::Value* parts;  // by message and block of 128 coordinates
  std::uint8_t* payload;             // by message; null: no norms are sent
  std::uint64_t gauges_stride, parts_stride, payload_stride;
  std::uint32_t bucket;  // 0: the row
  std::uint32_t tiles;   // thread blocks per message
};

// Sixteen threads measure one block of 128 coordinates, this one as `lane`; all get the result.
// Called by whole warps.
template <class Reduce>
__device__ typename Reduce::Value measure_block(const InputRow& row, std::uint32_t first,
                                                std::uint32_t end, std::uint32_t lane) {
  float v[8];
  const bool full = first + sum_block <= end;
#pragma unroll
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t k = first + lane + 16 * i;
    v[i] = full || k < end ? row.at(k) : 0.0f;
  }
  typename Reduce::Value sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = Reduce::join(sum, Reduce::term(v[i]));
#pragma unroll
  for (int half = 8; half > 0; half /= 2)
    sum = Reduce::join(sum, __shfl_xor_sync(~0u, sum, half, 16));
  return sum;
}

// Called by one thread: turns the measure of bucket b, of n coordinates, into its gauge and its
// norm.
template <class Q>
__device__ void give_gauge(const Measure<Q>& to, std::uint32_t m, std::uint32_t b,
                           typename Q::Reduce::Value total, std::uint32_t n, std::uint32_t round) {
  const double measured = to.how.measure(total, n);
  if (!(measured <= to.how.limit())) {  // rejects NaN too
    atomicOr(&to.states[m].bad, 1u);
    return;
  }
  const typename Q::Gauge gauge = to.how.gauge(measured, n, round);
  to.gauges[m * to.gauges_stride + b] = gauge;
  if constexpr (Q::traits.has_norms)
    *reinterpret_cast<float*>(to.payload + m * to.payload_stride + 4 * std::uint64_t{b}) =
        gauge.norm;
}

inline constexpr unsigned measured_at_once = block_threads / 16;  // blocks of 128 coordinates

// Buckets of at most this many coordinates are measured by sixteen threads each, longer ones by
// many thread blocks.
inline constexpr std::uint32_t short_bucket = 2048;

template <class Q>
__global__ void __launch_bounds__(block_threads)
    measure_short_buckets(Round round, Exchange e, Input from, Measure<Q> to) {
  using Reduce = typename Q::Reduce;
  let_next_kernel_begin();
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message, lane = threadIdx.x % 16;
  const std::uint32_t b = tile.index * measured_at_once + threadIdx.x / 16;
  const bool idle = from.kept != nullptr ? to.states[m].verdict != travels : is_skipped(e, m);
  const std::uint32_t n = idle ? 0 : from.length_of(m);
  const InputRow row(e, from, e.messages[m], m);
  const std::uint32_t first = min(b * to.bucket, n), end = min(first + to.bucket, n);
  typename Reduce::Value lanes = 0;
  // Both halves of a warp take the same number of turns.
  for (std::uint32_t i = 0; i < (to.bucket + sum_block - 1) / sum_block; ++i) {
    const auto sum = measure_block<Reduce>(row, first + i * sum_block, end, lane);
    if (lane == i % sum_lanes && first + i * sum_block < end) lanes = Reduce::join(lanes, sum);
  }
#pragma unroll
  for (int half = 8; half > 0; half /= 2)
    lanes = Reduce::join(lanes, __shfl_xor_sync(~0u, lanes, half, 16));
  // A row of 0 coordinates has one bucket.
  if (lane == 0 && !idle && (first < end || b == 0))
    give_gauge(to, m, b, lanes, end - first, round.number());
  if (last_to_arrive(to.states[m], to.tiles) && threadIdx.x == 0)
    settle(e, m, to.states[m], from.kept == nullptr, round.number());
}

// The sum over the parts of one bucket, by sixteen threads; all get it.
template <class Reduce>
__device__ typename Reduce::Value measure_parts(const typename Reduce::Value* parts,
                                                std::uint32_t count, std::uint32_t lane) {
  typename Reduce::Value sum = 0;
#pragma unroll 8
  for (std::uint32_t i = lane; i < count; i += sum_lanes) sum = Reduce::join(sum, parts[i]);
  __syncwarp();
#pragma unroll
  for (int half = 8; half > 0; half /= 2)
    sum = Reduce::join(sum, __shfl_xor_sync(~0u, sum, half, 16));
  return sum;
}

template <class Q>
__global__ void __launch_bounds__(block_threads)
    measure_long_buckets(Round round, Exchange e, Input from, Measure<Q> to) {
  using Reduce = typename Q::Reduce;
  constexpr std::uint32_t stage_size = 1024;
  __shared__ typename Reduce::Value stage[stage_size];
  let_next_kernel_begin();
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message, lane = threadIdx.x % 16;
  const bool idle = from.kept != nullptr ? to.states[m].verdict != travels : is_skipped(e, m);
  const std::uint32_t n = idle ? 0 : from.length_of(m);
  const std::uint32_t length = to.bucket == 0 || to.bucket > n ? max(n, 1u) : to.bucket;
  const std::uint32_t blocks = (length + sum_block - 1) / sum_block;  // of a bucket
  typename Reduce::Value* parts = to.parts + m * to.parts_stride;
  {
    const InputRow row(e, from, e.messages[m], m);
    const std::uint32_t part = tile.index * measured_at_once + threadIdx.x / 16;
    const std::uint32_t b = to.bucket == 0 ? 0 : part / blocks, block = part - b * blocks;
    const std::uint32_t end = min((b + 1) * std::uint64_t{length}, std::uint64_t{n});
    const std::uint32_t first =
        min(b * std::uint64_t{length} + block * sum_block, std::uint64_t{end});
    const auto sum = measure_block<Reduce>(row, first, end, lane);
    if (lane == 0 && first < end) parts[part] = sum;
  }
  if (!last_to_arrive(to.states[m], to.tiles)) return;
  const std::uint32_t buckets = n == 0 ? 1 : (n - 1) / length + 1;
  // One bucket keeps only sixteen threads busy: the others fetch for them.
  const bool staged = buckets == 1 && blocks <= stage_size;
  for (std::uint32_t i = threadIdx.x; staged && i < blocks; i += block_threads) stage[i] = parts[i];
  __syncthreads();
  const typename Reduce::Value* here_parts = staged ? stage : parts;
  // Both halves of a warp take the same number of turns.
  for (std::uint32_t turn = 0; turn < buckets && !idle; turn += measured_at_once) {
    const std::uint32_t b = turn + threadIdx.x / 16;
    const std::uint32_t here = b < buckets ? min(length, n - b * length) : 0;
    const auto sum = measure_parts<Reduce>(here_parts + std::uint64_t{b} * blocks,
                                           (here + sum_block - 1) / sum_block, lane);
    if (lane == 0 && b < buckets) give_gauge(to, m, b, sum, here, round.number());
  }
  __syncthreads();
  if (threadIdx.x == 0) settle(e, m, to.states[m], from.kept == nullptr, round.number());
}

// The same for rows of n coordinates in one bucket whose parts exist already: the kernel that wrote
// the rows left them (Exchange::squares). One thread block per message.
template <class Q>
__global__ void __launch_bounds__(block_threads)
    measure_squares(Round round, Exchange e, Measure<Q> to, std::uint32_t n) {
  constexpr std::uint32_t stage_size = 1024;
  __shared__ double stage[stage_size];
  let_next_kernel_begin();
  const std::uint32_t m = blockIdx.x, blocks = (n + sum_block - 1) / sum_block;
  const double* parts = e.squares + e.messages[m].row * e.squares_stride;
  for (std::uint32_t i = threadIdx.x; i < min(blocks, stage_size); i += block_threads)
    stage[i] = parts[i];
  __syncthreads();
  if (threadIdx.x < 32) {
    const double sum =
        measure_parts<SumOfSquares>(blocks <= stage_size ? stage : parts, blocks, threadIdx.x % 16);
    if (threadIdx.x == 0) {
      if (!is_skipped(e, m)) give_gauge(to, m, 0, sum, n, round.number());
      settle(e, m, to.states[m], true, round.number());
    }
  }
  wait_for_kernel_before();  // only here: see Grid::small
}

// The most parts that a row of `length` coordinates can have.
inline std::size_t most_parts(std::size_t length, std::size_t bucket) {
  return length / sum_block + (bucket == 0 ? 1 : length / bucket + 1) + 1;
}

// Records the sweep over rows of at most `length` coordinates.
template <class Q>
void record_measure(Queue& queue, const Exchange& e, const Input& from, Measure<Q> to,
                    std::size_t length) {
  const bool is_short = to.bucket != 0 && to.bucket <= short_bucket;
  const std::size_t bucket = to.bucket == 0 || to.bucket > length ? length : to.bucket;
  const std::size_t buckets = length == 0 ? 1 : (length + bucket - 1) / bucket;
  const std::size_t work = is_short ? buckets : buckets * ((bucket + sum_block - 1) / sum_block);
  to.tiles = tiles_of(work, measured_at_once);
  queue.launch(is_short ? measure_short_buckets<Q> : measure_long_buckets<Q>, grid_of(to.tiles, e),
               ThisRound{}, e, from, to);
}

// For codecs that need to know only if the rows of an exchange are finite.
class FiniteRows {
 public:
  FiniteRows(std::size_t d, std::size_t messages)
      : d_(d), gauges_(messages), parts_(messages * most_parts(d, 0)) {}

  void record(Queue& queue, const Exchange& e, MessageState* states) {
    record_measure<Finite>(queue, e, Input{.length = d_},
                           {.how = {},
                            .states = states,
                            .gauges = gauges_.data(),
                            .parts = parts_.data(),
                            .payload = nullptr,
                            .gauges_stride = 1,
                            .parts_stride = most_parts(d_, 0),
                            .payload_stride = 0,
                            .bucket = 0,
                            .tiles = 0},
                           d_);
  }
  const Finite::Gauge* largest() const { return gauges_.data(); }  // magnitudes, by message

 private:
  std::size_t d_;
  Buffer<Finite::Gauge> gauges_;
  Buffer<Finite::Reduce::Value> parts_;
};

}  // namespace ticopd::cuda
