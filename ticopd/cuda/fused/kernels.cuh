#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "ticopd/cuda/fused/pixel_layout.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"

// The three kernels of one gradient, in this order:
//   prepare   W1 -> digits, W2 -> fp16 fragments                           (parameters.cu)
//   products                                                               (products.cu)
//     forward   X.W1, sigmoid, layer 2, softmax, delta, dW2, digits of dH  (forward.cuh)
//     backward  X^T.dH, in parts                                           (backward.cuh)
//   gather    sums of the parts, in x's layout                             (gather.cu)
// X is u8, exactly. W1 and dH become three signed base-256 digits of a common scale. So both
// products are exact in int32, and the result does not depend on how they are split.
//
// Digit columns: in an accumulator, lane t of a quad holds columns 8b + 2t + e. Column i = 2b + e
// of lane t is digit i % 3 of hidden unit 4 (i / 3) + t. So one thread has all digits of 25 units
// for two samples: nothing is exchanged to join them, and its h are fragments for layer 2 at once.
// Everything below that is indexed by [quad lane][unit] follows this order.
namespace ticopd::cuda::fused {

// An agent's parameters in this round, as the kernels use them. Units beyond the hidden layer have
// zero weights.
struct alignas(16) AgentParameters {
  uint4 logit_fragments[7 * 2 * 32];  // W2 / w2_scale, hi and lo x 2^11 parts
  uint4 dh_fragments[13 * 32];        // W2_j less its middle, from -1 to 1
  float z_scale[4 * 28];              // [quad lane][unit]: digits -> -z log2(e)
  float w2_scale, unused[3];
  float bias[16];              // logit = w2_scale * (h - 1/2).(W2 / w2_scale) + bias
  float w1_scale[max_hidden];  // digits -> gradient
};
// Forward keeps all members but the last in shared memory.
inline constexpr int shared_parameter_bytes = offsetof(AgentParameters, w1_scale);
static_assert(shared_parameter_bytes == 16 * (7 * 2 * 32 + 13 * 32) + 4 * (112 + 4 + 16));

// A partial dW1 is [group][hidden][72]: 64 ranks of each of the two warp groups that computed it,
// and 8 unused floats, so that a warp's 8 ranks x 4 units fall into different banks.
inline constexpr int partial_stride = chunk + 8;
inline constexpr int group_partial = max_hidden * partial_stride;
inline constexpr int w1_partial = 2 * group_partial;
// A partial (dW2, db2) is [26 units][8 classes][quad lane], then [26 units][2 classes][quad lane];
// unit 25 of lane 0 is db2.
inline constexpr int w2_partial_8 = 26 * 8 * 4;
inline constexpr int w2_partial = 26 * 10 * 4;

// Data that is the same in all rounds, see PixelLayout.
struct Data {
  const ForwardTile* forward;
  const std::int32_t* forward_begin;
  const BackwardPiece* backward;
  const std::int32_t* backward_begin;
  const std::int16_t *pixel_of, *rank_of;
  const Slots *w1_slots, *w2_slots;
  const std::uint8_t *forward_image, *backward_image;
  const std::uint8_t* labels;
  const float* scale;
  std::int32_t features, hidden, classes, chunks;
  std::int32_t forward_lists, backward_lists;  // of clusters, of blocks
};

// Data that the kernels pass to each other.
struct Work {
  AgentParameters* parameters;  // [agent]
  std::uint8_t* w1_digits;      // [agent][chunks][b_bytes]
  std::uint8_t* dh_digits;      // [2 tiles][b_bytes], 64 samples each
  float* dh_scale;              // [2 tiles], a power of two
  float* w1_partials;
  float* w2_partials;
  std::uint32_t* done;  // [agent] warp groups that have done their part of forward
};

inline constexpr int units_per_block = 4;  // hidden units, in prepare
inline constexpr int prepare_threads = max_ranks / 4;
inline constexpr int product_threads = 384;
// Bytes of shared memory: the slack before the first multiple of 1024, and all of it.
inline constexpr int shared_slack = 1024;
inline constexpr int products_shared = 224'656;
// Thread blocks per agent in prepare: one for layer 2, then one for every four hidden units.
__host__ __device__ inline int blocks_per_agent(int hidden) {
  return 1 + (hidden + units_per_block - 1) / units_per_block;
}

inline constexpr int gather_units_per_block = 2;
inline constexpr int gather_threads = max_chunks * 32;
inline constexpr int gather_pixels = (max_features + gather_threads - 1) / gather_threads;
inline constexpr int gather_layer2_blocks = (w2_partial + gather_threads - 1) / gather_threads;
__host__ __device__ inline int gather_blocks_per_agent(int hidden) {
  return gather_layer2_blocks + (hidden + gather_units_per_block - 1) / gather_units_per_block;
}

__global__ void prepare(Data data, Work work, Rows x);
__global__ void products(Data data, Work work);
__global__ void gather(Data data, Work work, Rows x, Rows g, float l2);

}  // namespace ticopd::cuda::fused
