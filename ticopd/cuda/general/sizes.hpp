#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ticopd/cuda/gradients/problem.hpp"

// How samples and what is computed from them lie on the device, and how much memory that takes. It
// is known before anything is allocated (general_objective_bytes), and used by everything that
// allocates.
namespace ticopd::cuda::general {

inline constexpr std::uint64_t no_biases = ~std::uint64_t{0};

// A problem without its samples.
struct Model {
  explicit Model(const Problem& problem);

  bool in_base256;  // u8 features, multiplied by base-256 digits; else floats
  bool cross_entropy;
  std::vector<std::size_t> widths;

  std::size_t features() const { return widths.front(); }
  std::size_t units() const { return widths[1]; }  // outputs of the product with the features
  std::size_t outputs() const { return widths.back(); }
  std::size_t hidden() const { return widths.size() - 2; }
  // The first layer's product and its activation are one kernel, so its sums are never stored.
  bool joins_first_layer() const { return in_base256 && hidden() > 0; }
  // The offsets of W_l and b_l in x, l = 1 ... hidden + 1.
  std::size_t weights_at(std::size_t layer) const;
  std::size_t biases_at(std::size_t layer) const;
  std::uint64_t first_biases() const { return cross_entropy ? biases_at(1) : no_biases; }
  std::size_t dimension() const { return cross_entropy ? weights_at(widths.size()) : features(); }
};

// Samples of several agents ("slots") side by side, padded to the same number. They are cut into
// chunks. A chunk lies as units x chunk, so that one unit's samples are neighbours (lanes, as on
// the CPU). Every chunk of every slot is an entry of a batch with one stride.
struct SampleLayout {
  std::size_t slots = 0;
  std::size_t samples = 0;  // of each slot, padded: chunks times chunk
  std::size_t chunk = 0, chunks = 0;
  std::size_t pieces = 1;    // whole chunks whose digit sums fit in int32
  std::size_t features = 0;  // padded
};

// For slots of at most `samples` samples with at most `features` features that are not always zero.
SampleLayout make_sample_layout(const Model& model, std::size_t slots, std::size_t samples,
                                std::size_t features);

// How products between layers are cut. A thread block takes 16 lanes (samples, or inputs of a
// gradient) for each of its eight warps, and tiles of 16 rows: as many tiles as registers hold,
// unless that would pad more. It sums over 16 terms at a time.
inline constexpr std::size_t tile = 16, block_lanes = 128;
inline constexpr std::size_t blocks_at_once = 264;  // two on each of 132 multiprocessors

constexpr std::size_t count_of(std::size_t values, std::size_t each) {
  return (values + each - 1) / each;
}
constexpr std::size_t tiles_for(std::size_t rows) {
  for (const std::size_t tiles : {1, 2, 4})
    if (rows <= tile * tiles) return tiles;
  return count_of(rows, tile * 4) * 4 < count_of(rows, tile * 7) * 7 ? 4 : 7;
}
constexpr std::size_t row_blocks(std::size_t rows) {
  return count_of(rows, tile * tiles_for(rows));
}

// W of such a product, split for the tensor cores: 16-byte fragments, one per lane of a warp, for
// both halves of a tile and both parts of its numbers (split.cuh).
inline constexpr std::size_t fragments_of_tile = 2 * 2 * 32;
constexpr std::size_t fragments_of(std::size_t rows, std::size_t inner) {
  return row_blocks(rows) * tiles_for(rows) * count_of(inner, tile) * fragments_of_tile;
}

// The number of parts of a slot's samples over which gradients of a later layer are summed. It
// gives every multiprocessor blocks, and none that would start when all others are done. A part has
// some hundred samples, because every part's sums are written, and are floats.
constexpr std::size_t parts_of_samples(const SampleLayout& layout, std::size_t rows,
                                       std::size_t inputs) {
  const std::size_t most = count_of(layout.samples, 256), least = count_of(layout.samples, 1024);
  const std::size_t blocks = layout.slots * row_blocks(rows) * count_of(inputs + 1, block_lanes);
  return std::clamp(blocks_at_once / blocks, least, most);
}

// Groups of agents that are padded to one size: one group of all agents, or as many as it takes to
// keep padding below 30 %.
std::vector<std::vector<std::size_t>> group_by_size(const std::vector<std::size_t>& samples);

// Features that are not zero in every sample, ascending: pixels at the rim of images are always
// zero. Dense floats keep all features.
std::vector<std::uint32_t> used_features(const Model& model, const Dataset<float>& data);

// Test samples are handled in tiles, for several models at a time.
struct TestTiles {
  SampleLayout layout;  // a slot is a model
  std::size_t tiles = 0;
};
TestTiles make_test_tiles(const Model& model, std::size_t models, std::size_t samples,
                          std::size_t features);

// The entries of every buffer that a gradient uses. Groups, batches and the test set take turns in
// them.
struct Room {
  std::size_t weights = 0;       // bytes: W1 as digits or padded floats
  std::size_t unit_scales = 0;   // of W1's rows, and of the deltas
  std::size_t sums = 0;          // int32 or float: products with the features, either way
  std::size_t hidden = 0;        // float: outputs of the hidden layers, then their deltas
  std::size_t logits = 0;        // double
  std::size_t deltas = 0;        // float, of the logits
  std::size_t delta_digits = 0;  // bytes
  std::size_t delta_sums = 0;    // int4
  std::size_t fragments = 0;     // of 16 bytes: W of a later layer, split
  std::size_t partial = 0;       // float: gradients of later layers, by part of the samples
  std::size_t losses = 0;        // double, by block of samples

  void cover(const Room& other);
  std::size_t bytes() const;
};
Room room_for(const Model& model, const SampleLayout& layout, bool gradients);

constexpr std::size_t loss_block = 256;  // samples whose losses are one partial sum

}  // namespace ticopd::cuda::general
