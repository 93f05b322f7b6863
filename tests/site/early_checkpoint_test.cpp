// A site takes a checkpoint early when much came that its neighbours must keep for it.
#include <gtest/gtest.h>

#include <algorithm>

#include "fuzz/site_pair.hpp"
#include "site/simulated.hpp"

namespace ticopd::dense {
namespace {

constexpr std::uint32_t rounds = 100;
constexpr std::size_t d = 40;
constexpr std::size_t frame = frame_header_bytes + d * sizeof(double);  // one each way a round

struct Saved {
  std::uint64_t checkpoints = 0;  // of both sites together
  std::size_t largest = 0;        // of the last two of each
};

// Two sites without checkpoints by rounds or time: one of each epoch's end alone, twice, and at
// their parting.
Saved save(std::size_t unsafe_bytes) {
  Setup<double> setup{.graph = path(2),
                      .objective = std::make_shared<LeastSquares<double>>(ProblemSize{2, d, 4}),
                      .codec = make_codec<double>({.kind = "identity"}),
                      .iterations = rounds,
                      .watch = {.rounds = {.every = rounds}}};
  const RunFactory<double> run = algorithm<double>("dgd", setup.graph);
  SiteOptions options;
  options.sites = {.names = {"a", "b"}, .network = 7};
  options.checkpoint_rounds = 0;
  options.checkpoint_time = 1'000'000 * one_second;
  options.unsafe_bytes = unsafe_bytes;
  options.linger = options.unconfirmed = one_second;
  SitePair pair({});
  pair.run<double>(run, setup, options, [](int, Site<double>&) {});
  Saved saved;
  for (const std::size_t s : {0, 1}) {
    EXPECT_EQ(pair.end(s), SitePair::End::finished);
    std::string newest;
    for (const auto& [name, bytes] : pair.files(s)) {
      saved.largest = std::max(saved.largest, bytes.size());
      newest = std::max(newest, name);
    }
    saved.checkpoints += std::stoull(newest.substr(newest.find('.') + 1));
  }
  return saved;
}

TEST(EarlyCheckpoint, IsTakenWhenHalfOfTheLimitCame) {
  const Saved by_hand = save(1 << 30);
  EXPECT_EQ(by_hand.checkpoints, 2u * 3) << "at the end alone";
  EXPECT_GT(by_hand.largest, rounds * frame) << "all frames are kept";

  const Saved early = save(20 * frame);
  EXPECT_EQ(early.checkpoints, 2u * (rounds / 10 - 1 + 3)) << "after each ten frames";
}

// A neighbour keeps what came since the checkpoint before the last: two times half of the limit.
TEST(EarlyCheckpoint, BoundsTheFramesThatANeighbourKeeps) {
  const std::size_t rows = save(1 << 30).largest - rounds * frame;  // and a longer head than below
  EXPECT_LE(save(20 * frame).largest, rows + 21 * frame);
}

}  // namespace
}  // namespace ticopd::dense
