// An objective for which this process holds only the shards of its own agents.
#include <gtest/gtest.h>

#include <stdexcept>

#include "objectives/made_up.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

constexpr std::size_t features = 6;
const std::vector<std::size_t> sizes{13, 2100, 5, 8};

template <class T>
std::vector<Dataset<T>> shards_of(int first, int count, int classes) {
  std::vector<Dataset<T>> shards;
  for (int i = first; i < first + count; ++i)
    shards.push_back(made_up::samples<T>(sizes[static_cast<std::size_t>(i)], features, classes,
                                         static_cast<std::uint32_t>(i + 1)));
  return shards;
}

template <class T>
std::unique_ptr<Objective<T>> hosting(const ObjectiveOptions& options, int first, int count,
                                      int classes) {
  return make_objective<T>(options, Shards<T>(shards_of<T>(first, count, classes), first, sizes),
                           made_up::samples<T>(9, features, classes, 500), classes);
}

std::size_t bytes(const std::vector<LayoutBytes>& held) {
  std::size_t sum = 0;
  for (const LayoutBytes& part : held) sum += part.bytes;
  return sum;
}

template <class T>
class HostedShards : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostedShards, Scalars);

TYPED_TEST(HostedShards, HostedShardsGiveTheBitsOfTheWholeObjective) {
  using T = TypeParam;
  for (const ObjectiveInfo& info : objective_table())
    for (const char* weighting : {"agent", "sample"}) {
      if (info.external) continue;  // has no samples
      ObjectiveOptions options = made_up::options_of(std::string(info.name));
      options.weighting = weighting;
      options.l2 = 0.1;
      options.hidden = {4};
      const int classes = info.labels == Labels::targets ? 0 : 2;
      const auto whole = make_objective<T>(options, shards_of<T>(0, 4, classes),
                                           made_up::samples<T>(9, features, classes, 500), classes);
      const auto part = hosting<T>(options, 1, 2, classes);
      ASSERT_EQ(part->dimension(), whole->dimension()) << info.name;
      EXPECT_EQ(part->agents(), 4);
      EXPECT_EQ(part->test_samples(), whole->test_samples());
      const auto x = made_up::normals<T>(whole->dimension(), 9);
      std::vector<T> want(x.size()), got(x.size());
      for (int agent = 0; agent < 4; ++agent) {
        EXPECT_EQ(part->samples(agent), whole->samples(agent));
        EXPECT_EQ(part->blocks(agent, {}), whole->blocks(agent, {}));
        if (agent == 0 || agent == 3) continue;
        whole->gradient(agent, x, want);
        part->gradient(agent, x, got);
        EXPECT_EQ(got, want) << info.name << " " << weighting << " agent " << agent;
        EXPECT_EQ(part->value(agent, x), whole->value(agent, x)) << info.name;
        const Batch batch{false, {4, 1, 1}};
        EXPECT_EQ(part->evaluate(agent, 0, batch, x, got),
                  whole->evaluate(agent, 0, batch, x, want));
        EXPECT_EQ(got, want) << info.name << " " << weighting << " batch of agent " << agent;
      }
    }
}

TYPED_TEST(HostedShards, ShardsOfOtherAgentsCannotBeEvaluated) {
  using T = TypeParam;
  const auto part = hosting<T>(made_up::options_of("softmax"), 1, 2, 2);
  std::vector<T> x(part->dimension()), g(part->dimension());
  for (const int agent : {0, 3}) {
    EXPECT_THROW(part->value(agent, x), std::logic_error) << agent;
    EXPECT_THROW(part->gradient(agent, x, g), std::logic_error) << agent;
    EXPECT_THROW(part->evaluate(agent, 0, {false, {0}}, x, g), std::logic_error) << agent;
  }
  EXPECT_NO_THROW(part->gradient(1, x, g));
}

TYPED_TEST(HostedShards, OnlyHostedShardsAreInMemory) {
  using T = TypeParam;
  const auto options = made_up::options_of("softmax");
  const std::size_t all = bytes(hosting<T>(options, 0, 4, 2)->layouts());
  const std::size_t one = bytes(hosting<T>(options, 2, 1, 2)->layouts());
  EXPECT_GT(one, (5 + 9) * features * sizeof(T));
  EXPECT_LT(one, all / 20);  // 5 samples and 9 test samples, out of 2135
}

TYPED_TEST(HostedShards, EveryProcessRejectsAnAgentWithoutSamples) {
  using T = TypeParam;
  std::vector<std::size_t> lacking = sizes;
  lacking[3] = 0;
  try {
    make_objective<T>(made_up::options_of("softmax"), Shards<T>(shards_of<T>(0, 1, 2), 0, lacking),
                      {}, 2);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("leaves agent 3 without"), std::string::npos)
        << error.what();
  }
}

TYPED_TEST(HostedShards, ShardsOfOtherSizesAreRejected) {
  using T = TypeParam;
  EXPECT_THROW(Shards<T>(shards_of<T>(1, 1, 2), 0, sizes), std::invalid_argument);
  EXPECT_THROW(Shards<T>(shards_of<T>(3, 1, 2), 4, sizes), std::invalid_argument);
  EXPECT_THROW(Shards<T>(shards_of<T>(0, 1, 2), -1, sizes), std::invalid_argument);
  EXPECT_NO_THROW(Shards<T>(shards_of<T>(3, 1, 2), 3, sizes));
}

}  // namespace
}  // namespace ticopd
