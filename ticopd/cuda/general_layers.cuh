#pragma once

#include "ticopd/cuda/general_pass.hpp"

namespace ticopd::cuda::general {

struct LayerArgs {
  Rows x;
  Owners owners;
  const float* in;
  float* out;
  double* logits;
  std::uint64_t weights, biases;  // where they begin in a row of x
  std::uint32_t rows, inner;      // of what is computed, and of the sum
  std::uint32_t samples, chunk, chunks;
  std::uint32_t phi;
};

inline LayerArgs layer_args(const Pass& pass, std::size_t layer) {
  LayerArgs args{};
  args.x = pass.x;
  args.owners = pass.owners;
  args.weights = pass.model.weights_at(layer);
  args.biases = pass.model.biases_at(layer);
  args.samples = u32(pass.layout.samples);
  args.chunk = u32(pass.layout.chunk);
  args.chunks = u32(pass.layout.chunks);
  args.phi = static_cast<std::uint32_t>(pass.phi);
  return args;
}

// Tiles of 16 rows that a block takes: as many as registers hold, unless that would pad more.
inline int tiles_for(std::size_t rows) {
  for (const int tiles : {1, 2, 4})
    if (rows <= 16u * static_cast<unsigned>(tiles)) return tiles;
  return blocks_of(rows, 64) * 64 < blocks_of(rows, 112) * 112 ? 4 : 7;
}

// The last layer: W in + b of all samples, in double (general_logits.cu).
void record_logits(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer);

}  // namespace ticopd::cuda::general
