#pragma once

#include "ticopd/codecs/buckets.hpp"
#include "ticopd/codecs/plane_offsets.hpp"
#include "ticopd/cuda/codecs/apply.cuh"
#include "ticopd/cuda/codecs/code_length.cuh"
#include "ticopd/cuda/codecs/measure.cuh"
#include "ticopd/cuda/codecs/pack.cuh"
#include "ticopd/cuda/codecs/quantisers.cuh"
#include "ticopd/cuda/codecs/ternary.cuh"

namespace ticopd::cuda {

// The second sweep over a row. Coordinates become symbols, and symbols become bytes or a histogram.
// Their decoded values are applied, or kept for an outer codec.
enum class Sink { apply, apply_with_noise, keep };

template <class Q>
struct Symbols {
  Q how;
  Tally tally;
  const MessageState* states;
  const typename Q::Gauge* gauges;
  std::uint64_t gauges_stride;
  std::uint32_t bucket, tiles;
};

// The share of one thread: four coordinates of message m, and their symbols.
template <class Q, Sink sink>
struct FourSymbols {
  Message message;
  DeviceNoise name;
  std::uint32_t n, k, count;
  float v[4], h[4];
  uint4 words;  // of noise: drawn while the coordinates are being loaded
  Symbol symbols[4];

  __device__ FourSymbols(const Round& round, const Exchange& e, const Input& from, const Tile& tile)
      : message(e.messages[tile.message]),
        name(e, message, round.number()),
        n(from.length_of(tile.message)),
        k(4 * (tile.index * block_threads + threadIdx.x)),
        count(count_of_four(k, n)) {
    InputRow(e, from, message, tile.message).load(k, count, v, h);
    words = Q::traits.has_noise ? name.block(k / 4) : uint4{};
  }

  __device__ void stay(const Exchange& e) const {
    if constexpr (sink != Sink::keep) stay_four(e, message, k, count, h);
  }

  // Makes the symbols and their decoded values. `zeros_have_signs`: a level 0 keeps its sign, as in
  // a plane of signs.
  template <bool zeros_have_signs>
  __device__ typename Q::Gauge make(const Symbols<Q>& to, std::uint32_t m, float (&q)[4]) {
    const std::uint32_t draws[4] = {words.x, words.y, words.z, words.w};
    // A thread without coordinates takes the bucket of the last coordinate, because that one
    // exists.
    std::uint32_t b = to.bucket == 0 ? 0 : (count == 0 ? n - 1 : k) / to.bucket;
    std::uint32_t next = to.bucket == 0 ? ~0u : (b + 1) * to.bucket;
    const typename Q::Gauge* gauges = to.gauges + m * to.gauges_stride;
    typename Q::Gauge gauge = gauges[b];
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j) {
      if (j < count && k + j == next) {
        gauge = gauges[++b];
        next += to.bucket;
      }
      symbols[j] = to.how.symbol(v[j], draws[j], gauge);
      if (!zeros_have_signs && symbols[j].level == 0) symbols[j].negative = false;
      q[j] = to.how.value(symbols[j], gauge);
    }
    return gauge;  // the last one
  }

  // Makes the symbols and applies their decoded values.
  template <bool zeros_have_signs>
  __device__ void move(const Exchange& e, const Input& from, const Symbols<Q>& to,
                       std::uint32_t m) {
    float q[4];
    [[maybe_unused]] const typename Q::Gauge gauge = make<zeros_have_signs>(to, m, q);
    if constexpr (Q::traits.saturates) count_outside(e, to, gauge);
    if constexpr (sink == Sink::keep)
      store_four(from.kept + m * from.stride, k, count, q);
    else
      apply_four<sink == Sink::apply_with_noise>(e, message, name, k, count, q, h);
  }

  __device__ std::uint32_t digit_count() const {
    std::uint32_t sum = 0;
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j)
      if (j < count) sum += ternary_digits(symbols[j].level);
    return sum;
  }

 private:
  __device__ void count_outside(const Exchange& e, const Symbols<Q>& to,
                                const typename Q::Gauge& gauge) const {
    unsigned outside = 0;
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j) outside += j < count && to.how.outside(v[j], gauge);
    if (outside > 0)
      atomicAdd(&e.counters[message.slot].saturated, static_cast<unsigned long long>(outside));
  }
};

// Writes bytes of a fixed length: planes of levels and of signs, after the norms, which are there
// already.
template <class Q, Sink sink>
__global__ void __launch_bounds__(block_threads, sink == Sink::apply ? 6 : 1)
    write_planes(Round round, Exchange e, Input from, Symbols<Q> to, std::uint8_t* payload,
                 std::uint64_t payload_stride) {
  let_next_kernel_begin();
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message;
  FourSymbols<Q, sink> four(round, e, from, tile);
  const std::uint32_t verdict = to.states[m].verdict;
  if (verdict == stays) four.stay(e);
  if (verdict != travels) return;
  const std::uint32_t buckets = bucket_count(four.n, to.bucket);
  const PlaneOffsets at(Q::traits.has_norms ? buckets : 0, four.n, to.how.bits,
                        Q::traits.has_signs);
  if (four.k == 0)
    count_message(e, m, at.bytes + to.tally.other_bytes(m), to.tally.paper_bits(four.n, buckets));
  const std::uint32_t first = four.k - 4 * (threadIdx.x % 32);  // of the warp
  if (first >= four.n) return;
  four.template move<true>(e, from, to, m);
  payload += m * payload_stride;
  std::uint64_t fields = 0;
  std::uint32_t signs = 0;
#pragma unroll
  for (std::uint32_t j = 0; j < 4; ++j)
    if (j < four.count) {
      const std::uint64_t field = to.how.field(four.symbols[j]);
      if constexpr (Q::traits.has_levels) fields |= field << (j * to.how.bits);
      signs |= (four.symbols[j].negative ? 1u : 0u) << j;
    }
  if constexpr (Q::traits.has_levels) {
    const std::uint64_t before = first / 8 * std::uint64_t{to.how.bits};
    store_fields(fields, to.how.bits, payload + at.levels_at + before,
                 at.signs_at - at.levels_at - before);
  }
  if constexpr (Q::traits.has_signs)
    store_signs(signs, payload + at.signs_at + first / 8, at.bytes - at.signs_at - first / 8);
}

// Counts a message from its histogram. The last thread block of the message calls it.
template <class Q>
__device__ void count_coded(const Exchange& e, const Symbols<Q>& to, std::uint32_t m,
                            std::uint32_t n, std::uint32_t coding, std::uint32_t* counts) {
  std::uint32_t most = to.how.most;
  if constexpr (Q::traits.counts_from_largest) {  // levels are counted from the largest exponent
    std::uint64_t found = 0;
    for (std::uint32_t t = threadIdx.x; t < most_tokens; t += blockDim.x)
      if (counts[t] != 0) found = Most()(found, std::uint64_t{t});
    const auto largest = static_cast<std::uint32_t>(over_block(found, Most()));
    const std::uint32_t t = threadIdx.x;  // of block_threads = 256
    const std::uint32_t turned = t >= 1 && t <= largest ? counts[turned_power(t, largest)] : 0;
    __syncthreads();
    if (t > 0) counts[t] = turned;
    __syncthreads();
    most = most_turned_power(largest);
  }
  const std::uint32_t buckets = bucket_count(n, to.bucket);
  double paper_bits = to.tally.paper_bits(n, buckets);
  std::uint64_t bytes = to.tally.other_bytes(m);
  if constexpr (Q::traits.is_ternary) {
    std::uint64_t digits = 0;
    for (std::uint32_t t = threadIdx.x; t < most_tokens; t += blockDim.x)
      digits += std::uint64_t{counts[t]} * ternary_digits(lowest_level(t));  // as of all its levels
    digits = over_block(digits, Sum());
    paper_bits = __dmul_rn(to.tally.all, static_cast<double>(digits));
    bytes += coding == static_cast<std::uint32_t>(Coding::fixed) ? ternary_bytes(digits)
                                                                 : level_bytes_of(counts, n, most);
  } else {
    if constexpr (Q::traits.has_norms) bytes += 4 * std::uint64_t{buckets};
    if constexpr (Q::traits.counts_from_largest) bytes += 1;
    bytes += level_bytes_of(counts, n, most);
  }
  if (threadIdx.x == 0) count_message(e, m, bytes, paper_bits);
}

// The first sweep if bytes are made of digits: counts the digits of each tile.
template <class Q, Sink sink>
__global__ void __launch_bounds__(block_threads)
    count_digits(Round round, Exchange e, Input from, Symbols<Q> to, TernaryDigits digits) {
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message;
  if (to.states[m].verdict != travels) return;
  digits.clear(tile);
  FourSymbols<Q, sink> four(round, e, from, tile);
  float q[4];
  if (four.count > 0) four.template make<false>(to, m, q);
  const std::uint64_t all = over_block(four.digit_count(), Sum());
  if (threadIdx.x == 0)
    digits.of_tiles[std::uint64_t{m} * to.tiles + tile.index] = static_cast<std::uint32_t>(all);
}

// For codes whose length follows from a histogram of tokens. Only digits become bytes.
template <class Q, Sink sink>
__global__ void __launch_bounds__(block_threads)
    count_symbols(Round round, Exchange e, Input from, Symbols<Q> to, MessageState* states,
                  std::uint32_t* histograms, std::uint32_t coding, TernaryDigits digits) {
  __shared__ std::uint32_t counts[most_tokens];
  let_next_kernel_begin();
  wait_for_kernel_before();
  for (std::uint32_t t = threadIdx.x; t < most_tokens; t += block_threads) counts[t] = 0;
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message;
  FourSymbols<Q, sink> four(round, e, from, tile);
  const std::uint32_t verdict = states[m].verdict;
  if (verdict == stays) four.stay(e);
  if (verdict != travels) return;
  __syncthreads();
  if (four.count > 0) {
    four.template move<false>(e, from, to, m);
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j)
      if (j < four.count) atomicAdd(&counts[token_of(four.symbols[j].level)], 1u);
  }
  if constexpr (Q::traits.is_ternary)
    if (digits.payload != nullptr) {
      std::uint64_t at = digits.begin(tile, four.digit_count());
#pragma unroll
      for (std::uint32_t j = 0; j < 4; ++j)
        if (j < four.count) digits.put(m, at, four.symbols[j]);
    }
  __syncthreads();
  std::uint32_t* histogram = histograms + m * most_tokens;
  for (std::uint32_t t = threadIdx.x; t < most_tokens; t += block_threads)
    if (counts[t] != 0) atomicAdd(&histogram[t], counts[t]);
  if (!last_to_arrive(states[m], to.tiles)) return;
  for (std::uint32_t t = threadIdx.x; t < most_tokens; t += block_threads) {
    counts[t] = histogram[t];
    histogram[t] = 0;
  }
  __syncthreads();
  count_coded(e, to, m, four.n, coding, counts);
}

}  // namespace ticopd::cuda
