// Every codec once, on the smallest rows that use all threads and blocks of its kernels. This is
// for tools that make the device a thousand times slower (compute-sanitizer --tool racecheck).
#include <gtest/gtest.h>

#include <set>

#include "cuda/device.hpp"
#include "cuda/exchanges.hpp"
#include "ticopd/codecs/table.hpp"

namespace ticopd::cuda {
namespace {

using ticopd::testing::adaptive;
using ticopd::testing::bucketed;
using ticopd::testing::coded;
using ticopd::testing::followed;
using ticopd::testing::gossip;
using ticopd::testing::grid;
using ticopd::testing::infinity;
using ticopd::testing::keep;
using ticopd::testing::options;
using ticopd::testing::qsgd;
using ticopd::testing::threshold;

struct Case {
  std::string name;
  CodecOptions how;
  Setting setting = {};
};

std::vector<Case> cases() {
  return {
      {"identity", options("identity")},
      {"random_gossip", gossip(0.5)},
      {"qsgd", qsgd(8)},
      {"qsgd_skipped", qsgd(8), {.skipped = {0, 1, 0}, .flag = 1}},
      {"qsgd_squares", qsgd(8), {.squares = true}},
      {"qsgd_buckets", qsgd(3, true, 100)},
      {"qsgd_entropy", coded(qsgd(8), Coding::entropy)},
      {"qsgd_squares_entropy", coded(qsgd(8), Coding::entropy), {.squares = true}},
      {"qsgd_many_symbols_entropy", coded(qsgd(12), Coding::entropy)},
      {"infinity", infinity(7)},
      {"infinity_noisy", infinity(7, 100), {.noise = {ChannelNoise::Kind::uniform, 0.01}}},
      {"infinity_entropy", coded(infinity(4, 100), Coding::entropy)},
      {"sign", options("sign")},
      {"sign_buckets", bucketed("sign", 100)},
      {"norm_sign", options("norm_sign")},
      {"natural", options("natural")},
      {"natural_entropy", coded(options("natural"), Coding::entropy)},
      {"grid", grid(6)},
      {"grid_entropy", coded(grid(6), Coding::entropy)},
      {"adaptive", adaptive(0.25, 1e-3)},
      {"adaptive_entropy", coded(adaptive(0.25, 1e-3), Coding::entropy)},
      {"top_k", keep("top_k", 70)},
      {"top_k_entropy", coded(keep("top_k", 70), Coding::entropy)},
      {"top_k_then_qsgd", followed(keep("top_k", 300), "qsgd", 5)},
      {"top_k_then_qsgd_entropy", coded(followed(keep("top_k", 300), "qsgd", 5), Coding::entropy)},
      {"top_k_then_sign_noisy",
       followed(keep("top_k", 300), "sign"),
       {.noise = {ChannelNoise::Kind::uniform, 0.01}}},
      {"rand_k", keep("rand_k", 70)},
      {"rand_k_unbiased_then_qsgd", followed(keep("rand_k", 300, true), "qsgd", 4)},
      {"rand_k_then_natural_entropy",
       coded(followed(keep("rand_k", 300), "natural"), Coding::entropy)},
      {"threshold", threshold(0.1)},
      {"threshold_then_norm_sign", followed(threshold(0.1), "norm_sign")},
      {"threshold_then_infinity_entropy",
       coded(followed(threshold(0.1), "infinity", 6), Coding::entropy)},
  };
}

class SmallCodecs : public ::testing::TestWithParam<Case> {};

// The row gives three blocks that write a message, two that measure it and two that select.
TEST_P(SmallCodecs, MessagesEqualTheHosts) {
  TICOPD_NEEDS_DEVICE();
  const Case& one = GetParam();
  compare(one.how, one.how.kind == "top_k" ? 4200 : 2100, one.setting, 3);
}

INSTANTIATE_TEST_SUITE_P(Small, SmallCodecs, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

// Kinds without device code: the host encodes their messages, as with elias coding.
const std::set<std::string_view> through_the_host{};

TEST(SmallCodecs, CasesCoverEveryKind) {
  std::set<std::string_view> seen = through_the_host;
  const std::vector<Case> all = cases();
  for (const Case& one : all) seen.insert(one.how.kind);
  for (const CodecInfo& info : codec_table())
    EXPECT_TRUE(seen.contains(info.name))
        << info.name << " has no case here: add one, or its name to through_the_host";
}

}  // namespace
}  // namespace ticopd::cuda
