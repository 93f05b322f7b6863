// Uses the logits: losses and their derivatives, values, and correctly classified samples.
#include "ticopd/cuda/general/pass.hpp"
#include "ticopd/cuda/general/sums.cuh"

namespace ticopd::cuda::general {
namespace {

constexpr unsigned threads = loss_block;

struct LossArgs {
  const double* logits;
  float* deltas;
  double* losses;
  const double* labels;
  const double* scales;
  Counts counts;
  std::uint32_t samples, chunk, chunks, outputs;
  std::uint32_t kind, unused;
};

// The logits and deltas of one sample.
struct Lane {
  const double* z;  // of one sample, the next output `stride` on
  float* delta;
  std::size_t stride;
};

// -log softmax_y, and scale (softmax - onehot). The delta of the label is minus the sum of the
// others, never p_y - 1: on a shard that is fitted well p_y rounds to 1, and the difference would
// keep no digit. log1p is used for the same reason.
__device__ double cross_entropy(const Lane& lane, std::uint32_t classes, std::uint32_t label,
                                double scale) {
  double top = lane.z[0];
  std::uint32_t at = 0;
  for (std::uint32_t c = 1; c < classes; ++c) {
    const double z = lane.z[c * lane.stride];
    if (z > top) {
      top = z;
      at = c;
    }
  }
  double own = 0, below = 0, others = 0;
  for (std::uint32_t c = 0; c < classes; ++c) {
    const double e = exp(lane.z[c * lane.stride] - top);
    (c == at ? own : below) += e;
    if (c != label) others += e;
  }
  const double factor = scale / (own + below);  // own is 1, or NaN
  for (std::uint32_t c = 0; c < classes; ++c)
    lane.delta[c * lane.stride] =
        static_cast<float>(factor * (c == label ? -others : exp(lane.z[c * lane.stride] - top)));
  return top - lane.z[label * lane.stride] + log1p(below);
}

// log(1 + exp(-y z)); exp is only taken of -|t|, so nothing overflows.
__device__ double logistic(const Lane& lane, double label, double scale) {
  const double y = label > 0.5 ? 1.0 : -1.0, t = y * *lane.z, e = exp(-fabs(t));
  const double wrong = (t > 0 ? e : 1.0) / (1.0 + e);
  *lane.delta = static_cast<float>(scale * (-y * wrong));
  return log1p(e) + (-t > 0 ? -t : 0.0);
}

__device__ double least_squares(const Lane& lane, double label, double scale) {
  const double residual = *lane.z - label;
  *lane.delta = static_cast<float>(scale * residual);
  return 0.5 * residual * residual;
}

// One sample per thread. Padding has no loss and no delta, whatever its logits are.
__global__ void __launch_bounds__(threads) take_losses(LossArgs args) {
  wait_for_kernel_before();
  let_next_kernel_begin();
  const std::uint32_t s = blockIdx.x * threads + threadIdx.x, slot = blockIdx.y;
  double loss = 0;
  if (s < args.samples) {
    const std::size_t at = lane_of(slot, s, args.chunks, args.chunk, args.outputs);
    const Lane lane{args.logits + at, args.deltas + at, args.chunk};
    const double label = args.labels[static_cast<std::size_t>(slot) * args.samples + s];
    const auto kind = static_cast<Problem::Loss>(args.kind);
    if (s >= args.counts(slot))
      for (std::uint32_t c = 0; c < args.outputs; ++c) lane.delta[c * lane.stride] = 0.0f;
    else if (kind == Problem::Loss::cross_entropy)
      loss =
          cross_entropy(lane, args.outputs, static_cast<std::uint32_t>(label), args.scales[slot]);
    else if (kind == Problem::Loss::logistic)
      loss = logistic(lane, label, args.scales[slot]);
    else
      loss = least_squares(lane, label, args.scales[slot]);
  }
  loss = block_sum(loss);
  if (threadIdx.x == 0) args.losses[static_cast<std::size_t>(slot) * gridDim.x + blockIdx.x] = loss;
}

struct ValueArgs {
  Rows x;
  Owners owners;
  const double* losses;
  const double* scales;
  double* values;
  double l2;
  std::uint64_t dimension, blocks;
};

// One thread block per slot: sums the losses and adds the l2 term.
__global__ void __launch_bounds__(1024) finish_values(ValueArgs args) {
  const std::uint32_t slot = blockIdx.x, owner = args.owners(slot);
  double losses = 0, squares = 0;
  for (std::uint64_t b = threadIdx.x; b < args.blocks; b += blockDim.x)
    losses += args.losses[slot * args.blocks + b];
  if (args.l2 != 0)
    for (std::uint64_t k = threadIdx.x; k < args.dimension; k += blockDim.x) {
      const double v = args.x.row(owner)[k];
      squares += v * v;
    }
  losses = block_sum(losses);
  squares = block_sum(squares);
  if (threadIdx.x == 0)
    args.values[owner] =
        args.scales[slot] * losses + (args.l2 != 0 ? 0.5 * args.l2 * squares : 0.0);
}

struct CorrectArgs {
  Owners owners;
  const double* logits;
  const double* labels;
  std::uint32_t* right;
  std::uint32_t samples, chunk, chunks, outputs;
  std::uint32_t kind, count;
};

// True if the label's logit is the largest; ties go to the lower class, and NaN is never correct.
__device__ bool is_right(const double* z, std::size_t stride, std::uint32_t classes,
                         std::uint32_t label) {
  const double mine = z[label * stride];
  bool largest = !isnan(mine);
  for (std::uint32_t c = 0; c < classes; ++c) {
    const double other = z[c * stride];
    if (c != label) largest = largest && (c < label ? other < mine : other <= mine);
  }
  return largest;
}

// Adds up with atomics: the sums are integers, so their order does not matter.
__global__ void __launch_bounds__(threads) count_correct(CorrectArgs args) {
  const std::uint32_t s = blockIdx.x * threads + threadIdx.x, slot = blockIdx.y;
  int right = 0;
  if (s < args.count) {
    const double* z = args.logits + lane_of(slot, s, args.chunks, args.chunk, args.outputs);
    const double label = args.labels[s];
    if (static_cast<Problem::Loss>(args.kind) == Problem::Loss::logistic)
      right = label > 0.5 ? *z > 0 : *z <= 0;  // 0 is class 0; NaN is in neither
    else
      right = is_right(z, args.chunk, args.outputs, static_cast<std::uint32_t>(label));
  }
  right = block_sum(right);
  if (threadIdx.x == 0)
    atomicAdd(args.right + args.owners(slot), static_cast<std::uint32_t>(right));
}

__global__ void store_zeros(std::uint32_t* counters, std::uint32_t count) {
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) counters[i] = 0;
}

}  // namespace

void record_losses(Queue& queue, const Pass& pass, Workspace& space, Problem::Loss loss) {
  const LossArgs args{space.logits.data(),
                      space.deltas.data(),
                      space.losses.data(),
                      pass.samples.labels.data() + pass.first_sample,
                      pass.scales,
                      pass.counts,
                      u32(pass.layout.samples),
                      u32(pass.layout.chunk),
                      u32(pass.layout.chunks),
                      u32(pass.model.outputs()),
                      static_cast<std::uint32_t>(loss),
                      0};
  queue.launch(take_losses,
               Grid{dim3(blocks_of(pass.layout.samples, threads), u32(pass.layout.slots)),
                    dim3(threads), 0, true},
               args);
}

void record_values(Queue& queue, const Pass& pass, const Workspace& space, std::size_t dimension,
                   double* values) {
  queue.launch(finish_values, Grid{dim3(u32(pass.layout.slots)), dim3(1024)},
               ValueArgs{pass.x, pass.owners, space.losses.data(), pass.scales, values, pass.l2,
                         dimension, blocks_of(pass.layout.samples, threads)});
}

void record_correct(Queue& queue, const Pass& pass, const Workspace& space, Problem::Loss loss,
                    std::size_t wanted, std::uint32_t* right) {
  const CorrectArgs args{pass.owners,
                         space.logits.data(),
                         pass.samples.labels.data() + pass.first_sample,
                         right,
                         u32(pass.layout.samples),
                         u32(pass.layout.chunk),
                         u32(pass.layout.chunks),
                         u32(pass.model.outputs()),
                         static_cast<std::uint32_t>(loss),
                         u32(pass.counts.all)};
  queue.launch(count_correct,
               Grid{dim3(blocks_of(pass.layout.samples, threads), u32(wanted)), dim3(threads)},
               args);
}

void record_zeros(Queue& queue, std::uint32_t* counters, std::size_t count) {
  queue.launch(store_zeros, Grid{dim3(1), dim3(256)}, counters, u32(count));
}

}  // namespace ticopd::cuda::general
