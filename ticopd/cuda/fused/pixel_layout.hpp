#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ticopd/cuda/gradients/problem.hpp"
#include "ticopd/cuda/hopper/swizzle.hpp"

// The host's side of the fused gradient (objective.cu): where every pixel lies on the device, and
// which thread block works on what. Plain C++, computed once.
namespace ticopd::cuda::fused {

// Both products, X.W1 and X^T.dH, multiply tiles of rows of u8 (samples forward, pixels backward)
// by 304 columns of s8, 64 bytes of each at a time: a chunk.
inline constexpr int chunk = hopper::tile_row_bytes;
inline constexpr int columns = 304;       // 3 digits x 100 hidden units, and 4 of zeros
inline constexpr int cluster_blocks = 2;  // blocks that share a forward tile, 64 samples each
inline constexpr int tile_samples = cluster_blocks * chunk;
inline constexpr int tile_ranks = 128;  // of a backward tile
inline constexpr int forward_a = tile_samples * chunk;
inline constexpr int backward_a = tile_ranks * chunk;
inline constexpr int b_bytes = columns * chunk;

inline constexpr int max_hidden = 100;
inline constexpr int max_classes = 10;
inline constexpr int max_chunks = 14;
inline constexpr int max_ranks = max_chunks * chunk;
inline constexpr int max_features = max_ranks - 1;  // one rank carries b1
inline constexpr int max_rank_tiles = max_ranks / tile_ranks;
inline constexpr int max_piece = 32;           // chunks: one for each lane of a warp
inline constexpr std::uint8_t no_label = 255;  // of the rows that fill up a shard's last tile

// The place of byte k of a row in the image of a tile.
constexpr std::size_t image_at(int row, int k) {
  return static_cast<std::size_t>(hopper::swizzled(row, k >> 4) + (k & 15));
}

// The row of sample k in the forward image of its tile. A lane of an accumulator holds rows r and
// r + 8. So it has two neighbouring samples, whose digits of dH lie side by side in its image.
constexpr int row_of_sample(int k) {
  return (k & ~15) + ((k & 15) >> 1) + 8 * (k & 1);
}

// Samples of one agent x their first `chunks` chunks of pixels.
struct ForwardTile {
  std::int32_t agent, chunks;
  std::int32_t image;  // its first chunk among those of the forward images
  std::int32_t tile;   // among the tiles of all agents
  std::int32_t flush;  // first of the partial sums of dW2 it completes, one of each block; -1: the
                       // same warp groups have another tile of this agent
};

// 128 pixel ranks of one agent x some chunks of its samples.
struct BackwardPiece {
  std::int32_t agent, rank_tile;
  std::int32_t first, count;  // chunks of samples, among those of all agents
  std::int32_t image;         // the first chunk among those of the backward images
  std::int32_t slot;          // its partial sum of dW1
};

struct Slots {
  std::int32_t first, count;
};

// The numbers from which the sizes of all device memory follow.
struct Counts {
  std::size_t agents = 0;
  std::size_t chunks = 0;  // of pixel ranks, of the agent that has most
  std::size_t tiles = 0;
  std::size_t forward_chunks = 0, backward_chunks = 0;
  std::size_t w1_partials = 0, w2_partials = 0;
};

struct PixelLayout {
  Counts counts;
  // Pixels by rank. Rank 0 is a pixel that is always 255 and carries b1. The others are the pixels
  // set anywhere in the shard, the most frequent first. -1: none.
  std::vector<std::int16_t> pixel_of;  // [agent][max_ranks]; b1 is pixel `features`
  std::vector<std::int16_t> rank_of;   // [agent][features]
  std::vector<std::uint8_t> forward_image, backward_image;
  std::vector<std::uint8_t> labels;  // [tile][tile_samples]
  std::vector<float> scale;          // [agent] weight / samples
  // Cluster b does forward[forward_begin[b] ... forward_begin[b + 1]): its first warp groups take
  // every other tile, its second ones the rest. Block b does its part of backward with both groups
  // together.
  std::vector<ForwardTile> forward;
  std::vector<BackwardPiece> backward;
  std::vector<std::int32_t> forward_begin, backward_begin;
  std::vector<Slots> w1_slots;  // [agent][max_rank_tiles]
  std::vector<Slots> w2_slots;  // [agent]
};

// True if the fused kernels can solve this problem.
bool fits(const Problem& problem);
// For at most `blocks` thread blocks at a time, one per multiprocessor.
PixelLayout make_pixel_layout(const Problem& problem, int blocks);
// An upper bound on what make_pixel_layout will find, without reading the pixels.
Counts counts_at_most(const Problem& problem, int blocks);

// The two schedules (schedule.cpp): which cluster does which tiles, and which block which pieces.
void schedule_forward(const std::vector<ForwardTile>& tiles, int clusters, PixelLayout& layout);
void schedule_backward(const std::vector<BackwardPiece>& rows, int blocks, PixelLayout& layout);

}  // namespace ticopd::cuda::fused
