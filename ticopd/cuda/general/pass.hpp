#pragma once

#include <cstddef>
#include <cstdint>

#include "ticopd/cuda/general/data.hpp"
#include "ticopd/cuda/general/sizes.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"
#include "ticopd/kernels/activation.hpp"

// The steps of a gradient between the products of cuBLASLt, each recorded by one function. For one
// sample, with h_0 its features, they compute:
//   z_l = W_l h_{l-1} + b_l, h_l = phi(z_l), the loss of the last z, and back
//   dz_l = phi'(z_l) W_{l+1}^T dz_{l+1}, dW_l = sum over samples of dz_l h_{l-1}^T.
namespace ticopd::cuda::general {

// Tells whose row of x a slot uses: that of an agent in a list, or the rows from `first` on. Slots
// beyond `last` use the last row again; their results are not needed.
struct Owners {
  const std::uint32_t* agents;
  std::uint32_t first, last;

  __host__ __device__ std::uint32_t operator()(std::uint32_t slot) const {
    if (agents != nullptr) return agents[slot];
    return first + slot < last ? first + slot : last;
  }
};

// The samples of a slot that are not padding.
struct Counts {
  const std::uint32_t* by_slot;  // null: the same for every slot
  std::uint64_t all;

  __host__ __device__ std::uint32_t operator()(std::uint32_t slot) const {
    return by_slot != nullptr ? by_slot[slot] : static_cast<std::uint32_t>(all);
  }
};

// The buffers that every pass uses (see Room).
struct Workspace {
  Workspace() = default;
  explicit Workspace(const Room& room);

  Buffer<std::uint8_t> weights;  // digits: slots x 3 x units x features, high digit first
  Buffer<double> weight_steps;  // slots x units: the value of 1 in a digit sum, for a pixel p / 255
  Buffer<int4> weight_sums;     // slots x units: sums of the three digits of a row
  Buffer<std::uint32_t> sums;   // int32 or float: slots x (3 x) units x samples, or backwards
                                // pieces x slots x 4 x units x features (digits), or
                                // slots x chunks x units x features (floats)
  Buffer<float> hidden;         // layer by layer: slots x chunks x units x chunk
  Buffer<double> logits;        // slots x chunks x outputs x chunk
  Buffer<float> deltas;         // the same
  Buffer<std::int8_t> delta_digits;  // slots x 4 x units x samples, high digit first
  Buffer<double> delta_steps;        // slots x units
  Buffer<int4> delta_sums;           // slots x pieces x units: sums of the four digits
  Buffer<uint4> fragments;           // W of a later layer: slots x fragments_of it
  Buffer<float> partial;             // slots x parts x rows x (inputs + 1)
  Buffer<double> losses;             // slots x blocks
};

// Numbers in the types that kernels and grids take.
inline std::uint32_t u32(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}
inline unsigned blocks_of(std::size_t count, std::size_t each) {
  return u32(count_of(count, each));
}

// One sweep over samples: those of a group's agents, of their batches, or of the test set.
struct Pass {
  const Model& model;
  Activation phi;
  SampleLayout layout;
  const DeviceSamples& samples;
  std::size_t first_sample;   // the test set goes by tiles
  std::size_t column_stride;  // 0: all slots have the same samples
  Owners owners;
  Counts counts;
  const double* scales;  // by slot: weight / samples summed
  Rows x, g;
  double l2;

  float* hidden(Workspace& space, std::size_t layer) const;
  // Deltas of z_layer. Those of hidden units overwrite their outputs.
  float* deltas(Workspace& space, std::size_t layer) const;
};

// W1 in the form that the first product takes: digits, or floats with padding.
void record_first_weights(Queue& queue, const Pass& pass, Workspace& space);
// h_1 of u8 features, by our own product.
void record_first_layer(Queue& queue, const Pass& pass, Workspace& space);
// Turns the first product's sums into logits or h_1: without hidden layers, or for floats.
void record_first_outputs(Queue& queue, const Pass& pass, Workspace& space);
// Turns dz_1 into digits (u8 features only), and its sums into the gradient of b_1.
void record_first_deltas(Queue& queue, const Pass& pass, Workspace& space);
// Turns the backward product's sums into the gradient of W_1.
void record_first_gradient(Queue& queue, const Pass& pass, Workspace& space);

// h_l of a hidden layer l >= 2, or the logits.
void record_layer(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer);
// dz_{l-1} from dz_l; it overwrites h_{l-1}.
void record_layer_back(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer);
// Gradients of W_l and b_l, l >= 2. Must come before h_{l-1} is overwritten.
void record_layer_gradient(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer);

// Losses of the logits, and their deltas.
void record_losses(Queue& queue, const Pass& pass, Workspace& space, Problem::Loss loss);
// values[owner] = scale * the losses' sum + (l2 / 2) ||x||^2, for all d coordinates of x.
void record_values(Queue& queue, const Pass& pass, const Workspace& space, std::size_t dimension,
                   double* values);
// Adds the number of correctly classified samples to right[owner], for slots before `wanted`.
void record_correct(Queue& queue, const Pass& pass, const Workspace& space, Problem::Loss loss,
                    std::size_t wanted, std::uint32_t* right);
void record_zeros(Queue& queue, std::uint32_t* counters, std::size_t count);

}  // namespace ticopd::cuda::general
