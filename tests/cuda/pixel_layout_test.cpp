#include "ticopd/cuda/fused/pixel_layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "cuda/fused_problem.hpp"

namespace ticopd::cuda::fused {
namespace {

// The pixels of an image, by agent, position in the shard and rank.
using Matrix = std::map<std::tuple<int, int, int>, int>;

// Collects the non-zero bytes and checks that no place occurs twice.
Matrix forward_matrix(const PixelLayout& layout, const std::vector<int>& first_tile) {
  Matrix matrix;
  for (const ForwardTile& tile : layout.forward)
    for (int k = 0; k < tile_samples; ++k)
      for (int rank = 0; rank < tile.chunks * chunk; ++rank) {
        const std::size_t at = static_cast<std::size_t>(tile.image + rank / chunk) * forward_a +
                               image_at(row_of_sample(k), rank % chunk);
        const int position = (tile.tile - first_tile[tile.agent]) * tile_samples + k;
        if (const int v = layout.forward_image.at(at); v != 0) {
          EXPECT_TRUE(matrix.insert({{tile.agent, position, rank}, v}).second);
        }
      }
  return matrix;
}

Matrix backward_matrix(const PixelLayout& layout, const std::vector<int>& first_tile) {
  Matrix matrix;
  for (const BackwardPiece& piece : layout.backward)
    for (int c = 0; c < piece.count; ++c)
      for (int row = 0; row < tile_ranks; ++row)
        for (int k = 0; k < chunk; ++k) {
          const std::size_t at =
              static_cast<std::size_t>(piece.image + c) * backward_a + image_at(row, k);
          const int position = (piece.first + c - 2 * first_tile[piece.agent]) * chunk + k;
          const int rank = piece.rank_tile * tile_ranks + row;
          if (const int v = layout.backward_image.at(at); v != 0) {
            EXPECT_TRUE(matrix.insert({{piece.agent, position, rank}, v}).second);
          }
        }
  return matrix;
}

std::vector<int> first_tiles(const Problem& problem) {
  std::vector<int> first{0};
  for (const Dataset<float>& shard : problem.shards)
    first.push_back(first.back() + static_cast<int>((shard.samples() + 127) / 128));
  return first;
}

// Reads every sample back from the image, as (label, pixels).
std::multiset<std::vector<int>> samples_of(const Problem& problem, const PixelLayout& layout,
                                           const Matrix& matrix, int agent, int first_tile) {
  const std::size_t features = problem.widths[0];
  std::vector<std::vector<int>> rows(problem.shards[agent].samples(),
                                     std::vector<int>(features + 1));
  for (const auto& [place, v] : matrix) {
    const auto& [whose, position, rank] = place;
    if (whose != agent) continue;
    const int pixel = layout.pixel_of[static_cast<std::size_t>(agent * max_ranks + rank)];
    if (rank > 0) {
      EXPECT_EQ(layout.rank_of[agent * features + static_cast<std::size_t>(pixel)], rank);
    }
    rows.at(static_cast<std::size_t>(position)).at(static_cast<std::size_t>(pixel)) = v;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][features], 255) << "b1's pixel";
    rows[i].push_back(layout.labels[static_cast<std::size_t>(first_tile) * tile_samples + i]);
  }
  return {rows.begin(), rows.end()};
}

std::multiset<std::vector<int>> samples_of(const Dataset<float>& shard) {
  const auto& pixels = std::get<std::vector<std::uint8_t>>(shard.raw());
  std::multiset<std::vector<int>> all;
  for (std::size_t i = 0; i < shard.samples(); ++i) {
    const auto row = pixels.begin() + static_cast<std::ptrdiff_t>(i * shard.features());
    std::vector<int> sample(row, row + static_cast<std::ptrdiff_t>(shard.features()));
    sample.push_back(255);
    sample.push_back(static_cast<int>(shard.labels()[i]));
    all.insert(sample);
  }
  return all;
}

std::vector<Problem> problems() {
  std::vector<Problem> all;
  all.push_back(speckled_problem({784, 100, 10}, {300, 1, 127, 128, 129}));
  all.push_back(speckled_problem({1, 1, 2}, {3}));
  all.push_back(speckled_problem({895, 37, 7}, {64, 65}));
  all.push_back(speckled_problem({63, 4, 3}, std::vector<std::size_t>(40, 20)));
  all.push_back(digit_problem(700));
  return all;
}

constexpr int some_blocks[] = {1, 7, 132};

TEST(FusedLayout, EveryPixelIsInEachImageExactlyOnce) {
  for (const Problem& problem : problems()) {
    const PixelLayout layout = make_pixel_layout(problem, 7);
    const std::vector<int> first = first_tiles(problem);
    const Matrix forward = forward_matrix(layout, first);
    EXPECT_EQ(forward, backward_matrix(layout, first));
    for (int agent = 0; agent < static_cast<int>(problem.agents()); ++agent)
      EXPECT_EQ(samples_of(problem, layout, forward, agent, first[agent]),
                samples_of(problem.shards[agent]));
  }
}

TEST(FusedLayout, PaddingRowsOfATileHaveNoLabel) {
  const PixelLayout layout = make_pixel_layout(speckled_problem({20, 5, 3}, {130}), 132);
  ASSERT_EQ(layout.labels.size(), 256u);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(layout.labels[i] == no_label, i >= 130);
}

TEST(FusedSchedule, EveryTileIsDoneOnceAndEveryAgentIsFlushedAtItsEnd) {
  for (const Problem& problem : problems())
    for (const int blocks : some_blocks) {
      const PixelLayout layout = make_pixel_layout(problem, blocks);
      ASSERT_LE(layout.forward_begin.size(), static_cast<std::size_t>(blocks) + 1);
      ASSERT_EQ(layout.forward_begin.back(), static_cast<int>(layout.forward.size()));
      std::set<int> tiles;
      std::map<int, std::set<int>> slots;  // by agent
      for (std::size_t b = 0; b + 1 < layout.forward_begin.size(); ++b) {
        EXPECT_LT(layout.forward_begin[b], layout.forward_begin[b + 1]) << "an idle cluster";
        for (int w = layout.forward_begin[b]; w < layout.forward_begin[b + 1]; ++w) {
          const ForwardTile& tile = layout.forward[w];
          EXPECT_TRUE(tiles.insert(tile.tile).second);
          EXPECT_GE(tile.chunks, 1);
          EXPECT_LE(tile.chunks, static_cast<int>(layout.counts.chunks));
          // The warp groups of a block alternate between its tiles.
          const bool last =
              w + 2 >= layout.forward_begin[b + 1] || layout.forward[w + 2].agent != tile.agent;
          EXPECT_EQ(tile.flush >= 0, last);
          for (int block = 0; last && block < cluster_blocks; ++block)
            EXPECT_TRUE(slots[tile.agent].insert(tile.flush + block).second);
        }
      }
      EXPECT_EQ(tiles.size(), layout.counts.tiles);
      int all = 0;
      for (const auto& [agent, of] : slots) {
        const Slots& given = layout.w2_slots[agent];
        EXPECT_EQ(given.first, *of.begin());
        EXPECT_EQ(given.first + given.count - 1, *of.rbegin());
        EXPECT_EQ(given.count, static_cast<int>(of.size()));
        all += given.count;
      }
      EXPECT_EQ(slots.size(), problem.agents());
      EXPECT_EQ(all, static_cast<int>(layout.counts.w2_partials));
    }
}

TEST(FusedSchedule, EveryChunkIsInOnePieceAndEveryPieceHasASlotOfItsRow) {
  for (const Problem& problem : problems())
    for (const int blocks : some_blocks) {
      const PixelLayout layout = make_pixel_layout(problem, blocks);
      ASSERT_LE(layout.backward_begin.size(), static_cast<std::size_t>(blocks) + 1);
      ASSERT_EQ(layout.backward_begin.back(), static_cast<int>(layout.backward.size()));
      EXPECT_TRUE(std::is_sorted(layout.backward_begin.begin(), layout.backward_begin.end()));
      std::set<int> chunks, slots;
      std::set<std::tuple<int, int, int>> products;  // agent, rank tile, chunk of samples
      for (const BackwardPiece& piece : layout.backward) {
        EXPECT_GE(piece.count, 1);
        EXPECT_LE(piece.count, max_piece);
        EXPECT_TRUE(slots.insert(piece.slot).second);
        const Slots& given = layout.w1_slots[piece.agent * max_rank_tiles + piece.rank_tile];
        EXPECT_GE(piece.slot, given.first);
        EXPECT_LT(piece.slot, given.first + given.count);
        for (int c = 0; c < piece.count; ++c) {
          EXPECT_TRUE(chunks.insert(piece.image + c).second);
          EXPECT_TRUE(products.insert({piece.agent, piece.rank_tile, piece.first + c}).second);
          EXPECT_LT(piece.first + c, static_cast<int>(cluster_blocks * layout.counts.tiles));
        }
      }
      EXPECT_EQ(chunks.size(), layout.counts.backward_chunks);
      int all = 0;
      for (const Slots& given : layout.w1_slots) all += given.count;
      EXPECT_EQ(all, static_cast<int>(layout.backward.size()));
    }
}

TEST(FusedSchedule, EachClusterServesOneAgentIfThereAreEnoughClusters) {
  const PixelLayout layout = make_pixel_layout(speckled_problem({50, 10, 3}, {900, 100, 400}), 12);
  ASSERT_EQ(layout.forward_begin.size(), 7u);
  for (std::size_t b = 0; b < 6; ++b)
    for (int w = layout.forward_begin[b]; w < layout.forward_begin[b + 1]; ++w)
      EXPECT_EQ(layout.forward[w].agent, layout.forward[layout.forward_begin[b]].agent);
  // 8, 1 and 4 tiles. A cluster with more than one tile has a sum per warp group of both its
  // blocks.
  EXPECT_EQ(layout.w2_slots[0].count, 3 * 4);
  EXPECT_EQ(layout.w2_slots[1].count, 1 * 2);
  EXPECT_EQ(layout.w2_slots[2].count, 2 * 4);
}

TEST(FusedLayout, CountsNeverExceedTheEstimate) {
  for (const Problem& problem : problems())
    for (const int blocks : some_blocks) {
      const Counts found = make_pixel_layout(problem, blocks).counts;
      const Counts foretold = counts_at_most(problem, blocks);
      EXPECT_EQ(found.agents, foretold.agents);
      EXPECT_EQ(found.tiles, foretold.tiles);
      EXPECT_LE(found.chunks, foretold.chunks);
      EXPECT_LE(found.forward_chunks, foretold.forward_chunks);
      EXPECT_LE(found.backward_chunks, foretold.backward_chunks);
      EXPECT_LE(found.w1_partials, foretold.w1_partials);
      EXPECT_LE(found.w2_partials, foretold.w2_partials);
    }
}

TEST(FusedLayout, ScaleEqualsTheWeightOfASample) {
  Problem problem = speckled_problem({20, 5, 3}, {10, 30});
  EXPECT_EQ(make_pixel_layout(problem, 1).scale, (std::vector<float>{1.f / 10, 1.f / 30}));
  problem.weight_by_sample = true;
  EXPECT_EQ(make_pixel_layout(problem, 1).scale, (std::vector<float>{2.f / 40, 2.f / 40}));
}

TEST(FusedLayout, UnsupportedProblemsAreRejected) {
  const Problem good = speckled_problem({20, 5, 3}, {10, 30});
  EXPECT_TRUE(fits(good));
  const auto refused = [&](auto change) {
    Problem problem = good;
    change(problem);
    return !fits(problem);
  };
  EXPECT_TRUE(refused([](Problem& p) { p.loss = Problem::Loss::logistic; }));
  EXPECT_TRUE(refused([](Problem& p) { p.phi = Activation::tanh; }));
  EXPECT_TRUE(refused([](Problem& p) { p.widths = {20, 5, 5, 3}; }));
  EXPECT_TRUE(refused([](Problem& p) { p.widths = {20, 3}; }));
  EXPECT_TRUE(refused([](Problem& p) { p.widths = {20, 101, 3}; }));
  EXPECT_TRUE(refused([](Problem& p) { p.widths = {20, 5, 11}; }));
  EXPECT_TRUE(refused([](Problem& p) { p.widths = {20, 5, 2}; })) << "labels up to 2";
  EXPECT_TRUE(refused([](Problem& p) { p.shards.clear(); }));
  EXPECT_TRUE(refused([](Problem& p) { p.shards[1] = Dataset<float>(); }));
  EXPECT_TRUE(refused(
      [](Problem& p) { p.shards[1] = Dataset<float>(1, 20, std::vector<float>(20), {0.0}); }));
  EXPECT_TRUE(fits(speckled_problem({895, 100, 10}, {2})));
  EXPECT_FALSE(fits(speckled_problem({896, 100, 10}, {2})));
}

}  // namespace
}  // namespace ticopd::cuda::fused
