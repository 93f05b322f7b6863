#include "ticopd/cuda/fused/pixel_layout.hpp"

#include <algorithm>
#include <span>

#include "ticopd/kernels/staircase.hpp"

namespace ticopd::cuda::fused {
namespace {

constexpr std::size_t up(std::size_t count, std::size_t size) {
  return (count + size - 1) / size;
}

// One agent's samples under the staircase, those that reach farthest first, with rank 0 for b1.
class Shard {
 public:
  explicit Shard(const Dataset<float>& data)
      : data_(data),
        pixels_(std::get<std::vector<std::uint8_t>>(data.raw())),
        stairs_(staircase(pixels_, data.samples(), data.features())) {
    std::reverse(stairs_.samples.begin(), stairs_.samples.end());
    std::reverse(stairs_.reach.begin(), stairs_.reach.end());
  }

  std::size_t samples() const { return data_.samples(); }
  std::size_t ranks() const { return stairs_.pixels.size() + 1; }
  // The number of ranks in which the samples from position i on have ink.
  std::size_t extent(std::size_t i) const { return i < samples() ? stairs_.reach[i] + 1u : 0; }
  std::uint32_t pixel(std::size_t rank) const { return stairs_.pixels[rank - 1]; }
  std::uint8_t label(std::size_t i) const {
    return static_cast<std::uint8_t>(data_.labels()[stairs_.samples[i]]);
  }
  std::uint8_t value(std::size_t i, std::size_t rank) const {
    return rank == 0 ? 255 : pixels_[stairs_.samples[i] * data_.features() + pixel(rank)];
  }

 private:
  const Dataset<float>& data_;
  std::span<const std::uint8_t> pixels_;
  Staircase stairs_;
};

void add_ranks(const Shard& shard, std::size_t features, PixelLayout& layout) {
  const std::size_t by_rank = layout.pixel_of.size(), by_pixel = layout.rank_of.size();
  layout.pixel_of.resize(by_rank + max_ranks, -1);
  layout.rank_of.resize(by_pixel + features, -1);
  layout.pixel_of[by_rank] = static_cast<std::int16_t>(features);
  for (std::size_t rank = 1; rank < shard.ranks(); ++rank) {
    layout.pixel_of[by_rank + rank] = static_cast<std::int16_t>(shard.pixel(rank));
    layout.rank_of[by_pixel + shard.pixel(rank)] = static_cast<std::int16_t>(rank);
  }
}

// Adds room for more chunks to an image, and returns the first of them.
std::size_t add_chunks(std::vector<std::uint8_t>& image, std::size_t count, std::size_t bytes) {
  const std::size_t first = image.size() / bytes;
  image.resize(image.size() + count * bytes, 0);
  return first;
}

ForwardTile add_tile(const Shard& shard, int agent, std::size_t first, PixelLayout& layout) {
  const std::size_t chunks = up(shard.extent(first), chunk);
  const std::size_t image = add_chunks(layout.forward_image, chunks, forward_a);
  for (std::size_t k = 0; k < tile_samples; ++k) {
    const std::size_t i = first + k;
    layout.labels.push_back(i < shard.samples() ? shard.label(i) : no_label);
    for (std::size_t rank = 0; rank < shard.extent(i); ++rank)
      layout.forward_image[(image + rank / chunk) * forward_a +
                           image_at(row_of_sample(static_cast<int>(k)), rank % chunk)] =
          shard.value(i, rank);
  }
  const auto tile = static_cast<std::int32_t>(layout.counts.tiles++);
  return {agent, static_cast<std::int32_t>(chunks), static_cast<std::int32_t>(image), tile, -1};
}

// All samples with ink in these 128 ranks, a prefix of the shard. `tile` is the agent's first tile.
BackwardPiece add_row(const Shard& shard, int agent, int rank_tile, std::int32_t tile,
                      PixelLayout& layout) {
  const std::size_t low = static_cast<std::size_t>(rank_tile) * tile_ranks;
  std::size_t chunks = 0;
  while (shard.extent(chunks * chunk) > low) ++chunks;
  const std::size_t image = add_chunks(layout.backward_image, chunks, backward_a);
  for (std::size_t i = 0; i < std::min(chunks * chunk, shard.samples()); ++i) {
    const std::size_t high = std::min(shard.extent(i), low + tile_ranks);
    for (std::size_t rank = low; rank < high; ++rank)
      layout.backward_image[(image + i / chunk) * backward_a +
                            image_at(static_cast<int>(rank - low), i % chunk)] =
          shard.value(i, rank);
  }
  return {agent,
          rank_tile,
          cluster_blocks * tile,
          static_cast<std::int32_t>(chunks),
          static_cast<std::int32_t>(image),
          -1};
}

bool fits(const Dataset<float>& shard, const std::vector<std::size_t>& widths) {
  const double classes = static_cast<double>(widths[2]);
  return shard.samples() > 0 && shard.features() == widths[0] &&
         std::holds_alternative<std::vector<std::uint8_t>>(shard.raw()) &&
         std::all_of(shard.labels().begin(), shard.labels().end(),
                     [&](double label) { return label >= 0 && label < classes; });
}

}  // namespace

bool fits(const Problem& problem) {
  const std::vector<std::size_t>& widths = problem.widths;
  return problem.loss == Problem::Loss::cross_entropy && problem.phi == Activation::sigmoid &&
         widths.size() == 3 && widths[0] >= 1 && widths[0] <= max_features && widths[1] >= 1 &&
         widths[1] <= max_hidden && widths[2] >= 2 && widths[2] <= max_classes &&
         problem.agents() > 0 &&
         std::all_of(problem.shards.begin(), problem.shards.end(),
                     [&](const Dataset<float>& shard) { return fits(shard, widths); });
}

PixelLayout make_pixel_layout(const Problem& problem, int blocks) {
  PixelLayout layout;
  Counts& counts = layout.counts;
  counts.agents = problem.agents();
  std::vector<ForwardTile> tiles;
  std::vector<BackwardPiece> rows;
  for (std::size_t i = 0; i < problem.agents(); ++i) {
    const Shard shard(problem.shards[i]);
    const auto agent = static_cast<int>(i);
    const auto tile = static_cast<std::int32_t>(counts.tiles);
    add_ranks(shard, problem.widths[0], layout);
    for (std::size_t first = 0; first < shard.samples(); first += tile_samples)
      tiles.push_back(add_tile(shard, agent, first, layout));
    for (int r = 0; static_cast<std::size_t>(r) * tile_ranks < shard.ranks(); ++r)
      rows.push_back(add_row(shard, agent, r, tile, layout));
    counts.chunks = std::max(counts.chunks, up(shard.ranks(), chunk));
    layout.scale.push_back(
        static_cast<float>(problem.weight(i) / static_cast<double>(shard.samples())));
  }
  counts.forward_chunks = layout.forward_image.size() / forward_a;
  counts.backward_chunks = layout.backward_image.size() / backward_a;
  schedule_forward(tiles, std::max(1, blocks / cluster_blocks), layout);
  schedule_backward(rows, blocks, layout);
  return layout;
}

Counts counts_at_most(const Problem& problem, int blocks) {
  const std::size_t ranks = problem.widths[0] + 1;
  const std::size_t rank_tiles = up(ranks, tile_ranks);
  Counts counts;
  counts.agents = problem.agents();
  counts.chunks = up(ranks, chunk);
  for (const Dataset<float>& shard : problem.shards) {
    counts.tiles += up(shard.samples(), tile_samples);
    counts.backward_chunks += up(shard.samples(), chunk) * rank_tiles;
  }
  counts.forward_chunks = counts.tiles * counts.chunks;
  // A piece ends at the end of its row, at the end of its block, or when it has 32 chunks.
  counts.w1_partials = counts.agents * rank_tiles + static_cast<std::size_t>(blocks) +
                       counts.backward_chunks / max_piece;
  // Two groups of every block of a cluster, wherever an agent's tiles begin in one.
  counts.w2_partials = 2 * (cluster_blocks * counts.agents + static_cast<std::size_t>(blocks));
  return counts;
}

}  // namespace ticopd::cuda::fused
