// The backward product with the features: makes its operand, and finishes its sums.
#include <math_constants.h>

#include "ticopd/cuda/general/pass.hpp"
#include "ticopd/cuda/general/sums.cuh"
#include "ticopd/cuda/hopper/base256.cuh"

namespace ticopd::cuda::general {
namespace {

constexpr unsigned threads = 256;
constexpr int fours_kept = 8;
constexpr std::size_t most_kept = 4 * threads * fours_kept;

struct DeltaArgs {
  Rows x, g;
  Owners owners;
  const float* deltas;
  std::int8_t* digits;  // null: floats, only the bias is wanted
  double* steps;
  int4* sums;
  std::uint64_t biases;
  double l2;
  std::uint32_t samples, chunk, chunks, units;
  std::uint32_t piece, pieces;
};

// Multiplies floats by 2^exponent, exactly. There are two factors, because no float holds all the
// powers that are needed.
struct Power {
  float first, second;
  __device__ explicit Power(int exponent)
      : first(ldexpf(1.0f, min(exponent, 100))), second(ldexpf(1.0f, max(exponent - 100, 0))) {}
  __device__ int nearest(float v) const { return __float2int_rn(v * first * second); }
};

// One thread block per unit. The largest of its deltas over the whole shard sets the scale, so that
// sums over the shard are sums of integers. Four digits, not three: if a few samples dominate a
// shard that is fitted well, the many others must still keep digits of their own. Otherwise the sum
// of what they lose exceeds 1e-6 of the gradient. The scale is a power of two, so that only the
// last digit is rounded. In shards of up to most_kept samples the deltas are read once and kept.
template <bool kKept>
__global__ void __launch_bounds__(threads) split_deltas(DeltaArgs args) {
  wait_for_kernel_before();
  const std::uint32_t u = blockIdx.x, slot = blockIdx.y;
  const auto four_at = [&](std::uint32_t s) {
    return *reinterpret_cast<const float4*>(args.deltas +
                                            lane_of(slot, s, args.chunks, args.chunk, args.units) +
                                            static_cast<std::size_t>(u) * args.chunk);
  };
  int most = 0;
  double total = 0;
  const auto look = [&](const float4& v) {
    most = max(max(most, max(magnitude_bits(v.x), magnitude_bits(v.y))),
               max(magnitude_bits(v.z), magnitude_bits(v.w)));
    total += (static_cast<double>(v.x) + v.y) + (static_cast<double>(v.z) + v.w);
  };
  float4 kept[kKept ? fours_kept : 1];
  if constexpr (kKept) {
#pragma unroll
    for (int i = 0; i < fours_kept; ++i) {
      const std::uint32_t s = 4 * (threadIdx.x + threads * i);
      kept[i] = s < args.samples ? four_at(s) : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < fours_kept; ++i) look(kept[i]);
  } else {
    for (std::uint32_t s = 4 * threadIdx.x; s < args.samples; s += 4 * threads) look(four_at(s));
  }
  total = block_sum(total);
  const std::uint32_t owner = args.owners(slot);
  if (args.biases != no_biases && threadIdx.x == 0)
    args.g.row(owner)[args.biases + u] = static_cast<float>(
        total + args.l2 * static_cast<double>(args.x.row(owner)[args.biases + u]));
  if (args.digits == nullptr) return;

  most = block_max(most);
  const bool empty = most == 0 || !finite_bits(most);
  const int exponent = empty ? 0 : ilogbf(__int_as_float(most));
  const Power scale(29 - exponent);  // |q| <= 2^30
  const std::size_t row = static_cast<std::size_t>(slot) * args.units + u;
  if (threadIdx.x == 0)
    args.steps[row] = !finite_bits(most) ? CUDART_NAN
                      : most == 0        ? 0.0
                                         : ldexp(1.0, exponent - 29) / 255.0;
  std::int8_t* digits =
      args.digits + (static_cast<std::size_t>(slot) * 4 * args.units + u) * args.samples;
  int sum[4];
  const auto write = [&](std::uint32_t s, const float4& v) {
    std::uint32_t of[4] = {0, 0, 0, 0};
    if (!empty) {
      of[0] = hopper::digit_bytes(scale.nearest(v.x)),
      of[1] = hopper::digit_bytes(scale.nearest(v.y));
      of[2] = hopper::digit_bytes(scale.nearest(v.z)),
      of[3] = hopper::digit_bytes(scale.nearest(v.w));
    }
    hopper::turn_bytes(of);
#pragma unroll
    for (int d = 0; d < 4; ++d) {
      sum[d] = __dp4a(static_cast<int>(of[d]), 0x01010101, sum[d]);
      *reinterpret_cast<std::uint32_t*>(
          digits + static_cast<std::size_t>(d) * args.units * args.samples + s) = of[d];
    }
  };
  for (std::uint32_t piece = 0; piece < args.pieces; ++piece) {
    sum[0] = sum[1] = sum[2] = sum[3] = 0;
    if constexpr (kKept) {  // one piece
#pragma unroll
      for (int i = 0; i < fours_kept; ++i) {
        const std::uint32_t s = 4 * (threadIdx.x + threads * i);
        if (s < args.samples) write(s, kept[i]);
      }
    } else {
      const std::uint32_t end = (piece + 1) * args.piece;
      for (std::uint32_t s = piece * args.piece + 4 * threadIdx.x; s < end; s += 4 * threads)
        write(s, four_at(s));
    }
#pragma unroll
    for (int d = 0; d < 4; ++d) sum[d] = block_sum(sum[d]);
    if (threadIdx.x == 0)
      args.sums[(static_cast<std::size_t>(slot) * args.pieces + piece) * args.units + u] =
          make_int4(sum[0], sum[1], sum[2], sum[3]);
  }
}

struct GradientArgs {
  Rows x, g;
  Owners owners;
  const void* sums;
  const double* steps;
  const int4* digit_sums;
  const std::int32_t* places;
  double l2;
  std::uint32_t slots, units, given, features;
  std::uint32_t parts, unused;  // pieces, or chunks of floats
};

// Joins the sums of one weight, exactly if they are digits, and adds the l2 term.
template <bool kDigits>
__global__ void __launch_bounds__(threads) finish_first_gradient(GradientArgs args) {
  wait_for_kernel_before();
  const std::uint32_t f = blockIdx.x * threads + threadIdx.x, u = blockIdx.y, slot = blockIdx.z;
  if (f >= args.given) return;
  const std::int32_t place = args.places[static_cast<std::size_t>(slot) * args.given + f];
  double sum = 0;
  if constexpr (kDigits) {
    long long whole = 0;
    if (place >= 0)
      for (std::uint32_t piece = 0; piece < args.parts; ++piece) {
        const auto* sums =
            static_cast<const std::int32_t*>(args.sums) +
            ((static_cast<std::size_t>(piece) * args.slots + slot) * 4 * args.units + u) *
                args.features +
            place;
        const int4 missing =
            args.digit_sums[(static_cast<std::size_t>(slot) * args.parts + piece) * args.units + u];
        const int of_digit[4] = {missing.x, missing.y, missing.z, missing.w};
        long long joined = 0;
#pragma unroll
        for (int d = 0; d < 4; ++d)
          joined =
              joined * 256 + (static_cast<long long>(
                                  sums[static_cast<std::size_t>(d) * args.units * args.features]) +
                              static_cast<long long>(of_digit[d]) * 128);
        whole += joined;
      }
    // Multiplies even if there is nothing to sum, because a NaN step must show.
    sum = static_cast<double>(whole) * args.steps[static_cast<std::size_t>(slot) * args.units + u];
  } else {
    const auto* sums =
        static_cast<const float*>(args.sums) +
        (static_cast<std::size_t>(slot) * args.parts * args.units + u) * args.features + place;
    for (std::uint32_t chunk = 0; chunk < args.parts; ++chunk)
      sum +=
          static_cast<double>(sums[static_cast<std::size_t>(chunk) * args.units * args.features]);
  }
  const std::uint32_t owner = args.owners(slot);
  const std::size_t at = static_cast<std::size_t>(u) * args.given + f;
  args.g.row(owner)[at] =
      static_cast<float>(sum + args.l2 * static_cast<double>(args.x.row(owner)[at]));
}

}  // namespace

void record_first_deltas(Queue& queue, const Pass& pass, Workspace& space) {
  if (!pass.model.in_base256 && !pass.model.cross_entropy) return;  // no digits, no bias
  const DeltaArgs args{pass.x,
                       pass.g,
                       pass.owners,
                       pass.deltas(space, 1),
                       pass.model.in_base256 ? space.delta_digits.data() : nullptr,
                       space.delta_steps.data(),
                       space.delta_sums.data(),
                       pass.model.first_biases(),
                       pass.l2,
                       u32(pass.layout.samples),
                       u32(pass.layout.chunk),
                       u32(pass.layout.chunks),
                       u32(pass.model.units()),
                       u32(pass.layout.samples / pass.layout.pieces),
                       u32(pass.layout.pieces)};
  const bool kept = pass.layout.samples <= most_kept && pass.layout.pieces == 1;
  queue.launch(kept ? split_deltas<true> : split_deltas<false>,
               Grid{dim3(u32(pass.model.units()), u32(pass.layout.slots)), dim3(threads), 0, true},
               args);
}

void record_first_gradient(Queue& queue, const Pass& pass, Workspace& space) {
  const GradientArgs args{pass.x,
                          pass.g,
                          pass.owners,
                          space.sums.data(),
                          space.delta_steps.data(),
                          space.delta_sums.data(),
                          pass.samples.places.data(),
                          pass.l2,
                          u32(pass.layout.slots),
                          u32(pass.model.units()),
                          u32(pass.model.features()),
                          u32(pass.layout.features),
                          u32(pass.model.in_base256 ? pass.layout.pieces : pass.layout.chunks),
                          0};
  const Grid grid{dim3(blocks_of(pass.model.features(), threads), u32(pass.model.units()),
                       u32(pass.layout.slots)),
                  dim3(threads), 0, true};
  queue.launch(pass.model.in_base256 ? finish_first_gradient<true> : finish_first_gradient<false>,
               grid, args);
}

}  // namespace ticopd::cuda::general
