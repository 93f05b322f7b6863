// The forward product with the features: makes its operand, and finishes its sums.
#include "ticopd/cuda/general/pass.hpp"
#include "ticopd/cuda/general/phi.cuh"
#include "ticopd/cuda/general/sums.cuh"
#include "ticopd/cuda/hopper/base256.cuh"

namespace ticopd::cuda::general {
namespace {

constexpr unsigned threads = 256;
constexpr double most_of_three_digits = hopper::most_of_three_digits;

struct WeightArgs {
  Rows x;
  Owners owners;
  const std::uint32_t* columns;
  void* weights;
  double* steps;
  int4* sums;
  std::uint32_t column_stride, units, given, features;
};

// One thread block per row of W1. It scales the row by its largest weight and splits it into three
// signed base-256 digits. A NaN anywhere in the row, even at a pixel that is always zero, makes its
// step NaN, and so everything computed from it.
__global__ void split_weights(WeightArgs args) {
  wait_for_kernel_before();
  let_next_kernel_begin();
  const std::uint32_t u = blockIdx.x, slot = blockIdx.y;
  const float* w = args.x.row(args.owners(slot)) + static_cast<std::size_t>(u) * args.given;
  const std::uint32_t* columns = args.columns + static_cast<std::size_t>(slot) * args.column_stride;
  int all = 0, used = 0;
  for (std::uint32_t f = threadIdx.x; f < args.given; f += threads)
    all = max(all, magnitude_bits(w[f]));
  for (std::uint32_t j = threadIdx.x; j < args.features; j += threads)
    if (columns[j] != no_feature) used = max(used, magnitude_bits(w[columns[j]]));
  all = block_max(all);
  used = block_max(used);
  const double largest = static_cast<double>(__int_as_float(used));
  const bool empty = used == 0 || !finite_bits(all);
  const double scale = empty ? 0.0 : most_of_three_digits / largest;

  int sum[3] = {0, 0, 0};
  const std::size_t row_words = args.features / 4;
  auto* digits = static_cast<std::uint32_t*>(args.weights) +
                 (static_cast<std::size_t>(slot) * 3 * args.units + u) * row_words;
  for (std::uint32_t word = threadIdx.x; word < row_words; word += threads) {
    int digit[3][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t column = columns[4 * word + i];
      int q = 0;
      if (column != no_feature && !empty)
        q = __double2int_rn(static_cast<double>(w[column]) * scale);
#pragma unroll
      for (int d = 2; d >= 0; --d) {
        digit[d][i] = hopper::next_digit(q);
        sum[d] += digit[d][i];
      }
    }
#pragma unroll
    for (int d = 0; d < 3; ++d)
      digits[static_cast<std::size_t>(d) * args.units * row_words + word] =
          hopper::packed(digit[d][0], digit[d][1], digit[d][2], digit[d][3]);
  }
  const int high = block_sum(sum[0]), middle = block_sum(sum[1]), low = block_sum(sum[2]);
  if (threadIdx.x != 0) return;
  const std::size_t row = static_cast<std::size_t>(slot) * args.units + u;
  args.sums[row] = make_int4(high, middle, low, 0);
  args.steps[row] = !finite_bits(all) ? CUDART_NAN
                    : used == 0       ? 0.0
                                      : largest / (255.0 * most_of_three_digits);
}

// Copies float weights, with padding.
__global__ void pad_weights(WeightArgs args) {
  wait_for_kernel_before();
  const std::uint32_t u = blockIdx.x, slot = blockIdx.y;
  const float* w = args.x.row(args.owners(slot)) + static_cast<std::size_t>(u) * args.given;
  float* to = static_cast<float*>(args.weights) +
              (static_cast<std::size_t>(slot) * args.units + u) * args.features;
  for (std::uint32_t f = threadIdx.x; f < args.features; f += threads)
    to[f] = f < args.given ? w[f] : 0.0f;
}

struct OutputArgs {
  Rows x;
  Owners owners;
  const void* sums;
  const double* steps;
  const int4* digit_sums;
  float* hidden;  // null: logits are written instead
  double* logits;
  std::uint64_t biases;  // no_biases: there are none
  std::uint32_t samples, chunk, chunks, units;
  std::uint32_t phi, unused;
};

// Four samples per thread. Digits are joined in integers, exactly, and rounded once.
template <bool kDigits>
__global__ void __launch_bounds__(threads) make_first_outputs(OutputArgs args) {
  wait_for_kernel_before();
  const std::uint32_t s = (blockIdx.x * threads + threadIdx.x) * 4;
  const std::uint32_t u = blockIdx.y, slot = blockIdx.z;
  if (s >= args.samples) return;
  const std::size_t row = static_cast<std::size_t>(slot) * args.units + u;
  const double bias = args.biases == no_biases
                          ? 0.0
                          : static_cast<double>(args.x.row(args.owners(slot))[args.biases + u]);
  double z[4];
  if constexpr (kDigits) {
    const auto* sums = static_cast<const std::int32_t*>(args.sums) +
                       (static_cast<std::size_t>(slot) * 3 * args.units + u) * args.samples + s;
    const std::size_t next = static_cast<std::size_t>(args.units) * args.samples;
    const int4 high = *reinterpret_cast<const int4*>(sums);
    const int4 middle = *reinterpret_cast<const int4*>(sums + next);
    const int4 low = *reinterpret_cast<const int4*>(sums + 2 * next);
    const int4 missing = args.digit_sums[row];  // 128 times them: pixels are p - 128
    const long long whole = (static_cast<long long>(missing.x) * 65536 +
                             static_cast<long long>(missing.y) * 256 + missing.z) *
                            128;
    const double step = args.steps[row];
    const int h[4] = {high.x, high.y, high.z, high.w};
    const int m[4] = {middle.x, middle.y, middle.z, middle.w};
    const int l[4] = {low.x, low.y, low.z, low.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      z[i] = static_cast<double>(static_cast<long long>(h[i]) * 65536 +
                                 static_cast<long long>(m[i]) * 256 + l[i] + whole) *
                 step +
             bias;
  } else {
    const float4 sum = *reinterpret_cast<const float4*>(static_cast<const float*>(args.sums) +
                                                        row * args.samples + s);
    z[0] = sum.x + bias, z[1] = sum.y + bias, z[2] = sum.z + bias, z[3] = sum.w + bias;
  }
  const std::size_t at = lane_of(slot, s, args.chunks, args.chunk, args.units) +
                         static_cast<std::size_t>(u) * args.chunk;
  if (args.hidden == nullptr) {
    auto* to = reinterpret_cast<double2*>(args.logits + at);
    to[0] = make_double2(z[0], z[1]);
    to[1] = make_double2(z[2], z[3]);
    return;
  }
  for_phi(static_cast<Activation>(args.phi), [&](auto phi) {
    const auto h = [&](int i) { return activated<phi()>(static_cast<float>(z[i])); };
    *reinterpret_cast<float4*>(args.hidden + at) = make_float4(h(0), h(1), h(2), h(3));
  });
}

}  // namespace

void record_first_weights(Queue& queue, const Pass& pass, Workspace& space) {
  const WeightArgs args{pass.x,
                        pass.owners,
                        pass.samples.columns.data(),
                        space.weights.data(),
                        space.weight_steps.data(),
                        space.weight_sums.data(),
                        u32(pass.column_stride),
                        u32(pass.model.units()),
                        u32(pass.model.features()),
                        u32(pass.layout.features)};
  const Grid grid{dim3(u32(pass.model.units()), u32(pass.layout.slots)), dim3(threads), 0, true};
  queue.launch(pass.model.in_base256 ? split_weights : pad_weights, grid, args);
}

void record_first_outputs(Queue& queue, const Pass& pass, Workspace& space) {
  const OutputArgs args{pass.x,
                        pass.owners,
                        space.sums.data(),
                        space.weight_steps.data(),
                        space.weight_sums.data(),
                        pass.model.hidden() > 0 ? space.hidden.data() : nullptr,
                        space.logits.data(),
                        pass.model.first_biases(),
                        u32(pass.layout.samples),
                        u32(pass.layout.chunk),
                        u32(pass.layout.chunks),
                        u32(pass.model.units()),
                        static_cast<std::uint32_t>(pass.phi),
                        0};
  const Grid grid{dim3(blocks_of(pass.layout.samples, 4 * threads), u32(pass.model.units()),
                       u32(pass.layout.slots)),
                  dim3(threads), 0, true};
  queue.launch(pass.model.in_base256 ? make_first_outputs<true> : make_first_outputs<false>, grid,
               args);
}

}  // namespace ticopd::cuda::general
