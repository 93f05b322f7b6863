#pragma once

#include "ticopd/cuda/general/pass.hpp"
#include "ticopd/cuda/general/tiles.cuh"

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

// A kernel for each number of tiles, with a block for so many rows and for `lanes` samples.
using LayerKernel = void(LayerArgs);
inline void launch_layer(Queue& queue, const Pass& pass, const LayerArgs& args, LayerKernel* one,
                         LayerKernel* two, LayerKernel* four, LayerKernel* seven) {
  const int tiles = tiles_for(args.rows);
  const Grid grid{
      dim3(blocks_of(args.samples, lanes),
           blocks_of(args.rows, 16 * static_cast<std::size_t>(tiles)), u32(pass.layout.slots)),
      dim3(threads), 0, true};
  queue.launch(tiles == 1 ? one : tiles == 2 ? two : tiles == 4 ? four : seven, grid, args);
}

// Where the first of `units` has sample s of a slot; the others follow at distances of a chunk.
__device__ inline std::size_t sample_at(const LayerArgs& args, std::uint32_t slot, std::uint32_t s,
                                        std::uint32_t units) {
  const std::uint32_t c = s / args.chunk;
  return (static_cast<std::size_t>(slot) * args.chunks + c) * units * args.chunk +
         (s - c * args.chunk);
}

// What goes into a layer, `depth` units of a block's samples at a time, fetched while those before
// are multiplied: two times four samples a thread, of units first_k and first_k + 8.
__device__ inline void fetch_samples(float4 (&next)[2], const LayerArgs& args, const float* from,
                                     bool inside, std::uint32_t first_k) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const std::uint32_t k = first_k + 8 * j;
    next[j] =
        inside && k < args.inner
            ? *reinterpret_cast<const float4*>(from + static_cast<std::size_t>(k) * args.chunk)
            : make_float4(0, 0, 0, 0);
  }
}

template <int kPitch>
__device__ void keep_samples(float (&to)[depth][kPitch], const float4 (&next)[2], int first_k,
                             int group) {
#pragma unroll
  for (int j = 0; j < 2; ++j) *reinterpret_cast<float4*>(&to[first_k + 8 * j][group]) = next[j];
}

// The last layer: W in + b of all samples, in double (logits.cu).
void record_logits(Queue& queue, const Pass& pass, Workspace& space, std::size_t layer);

}  // namespace ticopd::cuda::general
