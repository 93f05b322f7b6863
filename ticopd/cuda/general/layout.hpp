#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ticopd/cuda/problem.hpp"

// How samples and what is computed of them lie on the device, and how much room that takes: known
// before anything is allocated (general_objective_bytes), and used by all that allocates.
namespace ticopd::cuda::general {

inline constexpr std::uint64_t no_biases = ~std::uint64_t{0};

// A problem without its samples.
struct Model {
  explicit Model(const Problem& problem);

  bool digits;  // u8 features, multiplied as digits; else floats
  bool cross_entropy;
  std::vector<std::size_t> widths;

  std::size_t features() const { return widths.front(); }
  std::size_t units() const { return widths[1]; }  // outputs of the product with the features
  std::size_t outputs() const { return widths.back(); }
  std::size_t hidden() const { return widths.size() - 2; }
  // Where W_l and b_l begin in x, l = 1 ... hidden + 1.
  std::size_t weights_at(std::size_t layer) const;
  std::size_t biases_at(std::size_t layer) const;
  std::uint64_t first_biases() const { return cross_entropy ? biases_at(1) : no_biases; }
  std::size_t dimension() const { return cross_entropy ? weights_at(widths.size()) : features(); }
};

// Samples of several agents ("slots") side by side, padded to the same number. They are cut into
// chunks: units of a chunk lie as units x chunk, so that one unit's samples are neighbours (lanes,
// as on the CPU) and every chunk of every slot is an entry of a batch with one stride.
struct Layout {
  std::size_t slots = 0;
  std::size_t samples = 0;  // of each slot, padded: chunks times chunk
  std::size_t chunk = 0, chunks = 0;
  std::size_t pieces = 1;    // whole chunks whose digit sums fit in int32
  std::size_t features = 0;  // padded
};

// For slots of at most `samples` samples with at most `features` features that are ever not zero.
Layout make_layout(const Model& model, std::size_t slots, std::size_t samples,
                   std::size_t features);

// Parts of a chunk over which gradients of a later layer are summed: so many that there are blocks
// for every multiprocessor, of large layers fewer, since each part's sums are written.
inline std::size_t parts_of_chunk(const Layout& layout, std::size_t rows, std::size_t inputs) {
  const std::size_t most = rows * inputs < 8192 ? 256 : 512;
  return (layout.chunk + most - 1) / most;
}

// Agents that are padded to one size: all of them, or as many groups as it takes to keep padding
// below 30 %.
std::vector<std::vector<std::size_t>> group_by_size(const std::vector<std::size_t>& samples);

// Features that are not zero in every sample, ascending: pixels at the rim of images never are.
// Dense floats keep all of theirs.
std::vector<std::uint32_t> used_features(const Model& model, const Dataset<float>& data);

// Test samples go through in tiles, with several models at a time.
struct TestPlan {
  Layout layout;  // a slot is a model
  std::size_t tiles = 0;
};
TestPlan make_test_plan(const Model& model, std::size_t models, std::size_t samples,
                        std::size_t features);

// Entries of every buffer that a gradient passes through. Groups, batches and the test set take
// turns in them.
struct Room {
  std::size_t weights = 0;       // bytes: W1 as digits or padded floats
  std::size_t unit_scales = 0;   // of W1's rows, and of the deltas
  std::size_t sums = 0;          // int32 or float: products with the features, either way
  std::size_t hidden = 0;        // float: outputs of the hidden layers, then their deltas
  std::size_t logits = 0;        // double
  std::size_t deltas = 0;        // float, of the logits
  std::size_t delta_digits = 0;  // bytes
  std::size_t delta_sums = 0;    // int4
  std::size_t partial = 0;       // float: gradients of later layers, by part of a chunk
  std::size_t losses = 0;        // double, by block of samples

  void cover(const Room& other);
  std::size_t bytes() const;
};
Room room_for(const Model& model, const Layout& layout, bool gradients);

constexpr std::size_t loss_block = 256;  // samples whose losses are one partial sum

}  // namespace ticopd::cuda::general
