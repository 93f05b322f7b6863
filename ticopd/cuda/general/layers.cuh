#pragma once

#include "ticopd/cuda/general/pass.hpp"

namespace ticopd::cuda::general {

// Arguments of the kernels of one layer.
struct LayerArgs {
  Rows x;
  Owners owners;
  Counts counts;
  uint4* fragments;  // of W, if it is split
  const float* in;
  float* out;
  double* logits;
  std::uint64_t weights, biases;  // where they begin in a row of x
  std::uint32_t rows, inner;      // rows of the result, and terms of a sum
  std::uint32_t samples, chunk, chunks;
  std::uint32_t phi;
};

inline LayerArgs layer_args(const Pass& pass, std::size_t layer) {
  LayerArgs args{};
  args.x = pass.x;
  args.owners = pass.owners;
  args.counts = pass.counts;
  args.weights = pass.model.weights_at(layer);
  args.biases = pass.model.biases_at(layer);
  args.samples = u32(pass.layout.samples);
  args.chunk = u32(pass.layout.chunk);
  args.chunks = u32(pass.layout.chunks);
  args.phi = static_cast<std::uint32_t>(pass.phi);
  return args;
}

// The kernel with the right number of row tiles per block.
template <class Kernel>
Kernel* for_tiles(std::size_t rows, Kernel* one, Kernel* two, Kernel* four, Kernel* seven) {
  const std::size_t tiles = tiles_for(rows);
  return tiles == 1 ? one : tiles == 2 ? two : tiles == 4 ? four : seven;
}

// The place of sample s of a slot in the first of `units` units; the next unit is one chunk
// further.
__device__ inline std::size_t sample_at(const LayerArgs& args, std::uint32_t slot, std::uint32_t s,
                                        std::uint32_t units) {
  const std::uint32_t c = s / args.chunk;
  return (static_cast<std::size_t>(slot) * args.chunks + c) * units * args.chunk +
         (s - c * args.chunk);
}

// Records the last layer: W in + b for all samples, in double (logits.cu).
void record_logits(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer);

}  // namespace ticopd::cuda::general
