#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "network/ranks.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/noise.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd::dense {

// The requirements on every transport, written as what one rank does. To test a transport, write a
// class with
//   static void run(int ranks, double deadline_s, body)
// that runs body(transport) on every rank and rethrows. Expectations in a body hold on every rank.
template <class Ranks>
class TransportConformance : public ::testing::Test {};
TYPED_TEST_SUITE_P(TransportConformance);

inline Bytes text(const std::string& s) {
  return to_bytes<char>(std::span(s));
}
inline std::string text(const Bytes& b) {
  const auto chars = from_bytes<char>(b);
  return {chars.begin(), chars.end()};
}

TYPED_TEST_P(TransportConformance, KnowsItsRankAndTheNumberOfRanks) {
  for (const int ranks : {1, 2, 5})
    TypeParam::run(ranks, 20, [&](Transport& t) {
      EXPECT_EQ(t.size(), ranks);
      const auto all = all_gather_values<int>(t, 3, std::vector{t.rank()});
      for (int r = 0; r < ranks; ++r) EXPECT_EQ(all.at(static_cast<std::size_t>(r)), r);
    });
}

TYPED_TEST_P(TransportConformance, KeepsTheOrderPerPeerAndChannel) {
  TypeParam::run(4, 20, [](Transport& t) {
    constexpr int frames = 200;
    for (int f = 0; f < frames; ++f)
      for (int to = 0; to < t.size(); ++to)
        if (to != t.rank()) t.send(to, 1, text(std::to_string(t.rank()) + ":" + std::to_string(f)));
    for (int from = t.size() - 1; from >= 0; --from)  // not in the order of arrival
      for (int f = 0; from != t.rank() && f < frames; ++f)
        ASSERT_EQ(text(t.receive(from, 1)), std::to_string(from) + ":" + std::to_string(f));
  });
}

TYPED_TEST_P(TransportConformance, ChannelsAreIndependent) {
  TypeParam::run(2, 20, [](Transport& t) {
    const int other = 1 - t.rank();
    for (const std::uint32_t c : {0u, 1u, 7u, 0xff00u})
      for (int f = 0; f < 3; ++f)
        t.send(other, c, text(std::to_string(c) + "/" + std::to_string(f)));
    for (const std::uint32_t c : {0xff00u, 7u, 0u, 1u})
      for (int f = 0; f < 3; ++f)
        ASSERT_EQ(text(t.receive(other, c)), std::to_string(c) + "/" + std::to_string(f));
  });
}

TYPED_TEST_P(TransportConformance, CarriesEmptyAndLargeFrames) {
  TypeParam::run(2, 20, [](Transport& t) {
    const int other = 1 - t.rank();
    Bytes large(3'000'001);
    for (std::size_t i = 0; i < large.size(); ++i)
      large[i] = static_cast<std::byte>(i * 31 + i / 251);
    t.send(other, 0, {});
    t.send(other, 0, large);  // must not block: the peer also sends this much before it receives
    EXPECT_TRUE(t.receive(other, 0).empty());
    EXPECT_TRUE(t.receive(other, 0) == large);
  });
}

TYPED_TEST_P(TransportConformance, SupportsBroadcastGatherAndBarrier) {
  for (const int ranks : {1, 3, 6})
    TypeParam::run(ranks, 20, [](Transport& t) {
      for (int root = 0; root < t.size(); ++root) {
        const Bytes mine = text("from " + std::to_string(t.rank()));
        EXPECT_EQ(text(broadcast(t, 2, root, mine)), "from " + std::to_string(root));
      }
      const auto all = all_gather(t, 2, text(std::string(static_cast<std::size_t>(t.rank()), 'x')));
      for (int r = 0; r < t.size(); ++r)
        EXPECT_EQ(all.at(static_cast<std::size_t>(r)).size(), static_cast<std::size_t>(r));
      barrier(t, 2);
      std::vector<double> mine(static_cast<std::size_t>(t.rank() + 1), t.rank() / 3.0);
      const auto values = all_gather_values<double>(t, 2, mine);
      std::size_t at = 0;
      for (int r = 0; r < t.size(); ++r)
        for (int i = 0; i <= r; ++i) EXPECT_EQ(values.at(at++), r / 3.0);
      EXPECT_EQ(at, values.size());
    });
}

TYPED_TEST_P(TransportConformance, DeadlineInterruptsAndNamesBothRanks) {
  TypeParam::run(2, 0.2, [](Transport& t) {
    if (t.rank() == 0) return;  // sends nothing, but is still alive
    try {
      (void)t.receive(0, 5);
      ADD_FAILURE() << "something came";
    } catch (const Interrupted& e) {
      const std::string what = e.what();
      EXPECT_NE(what.find("rank 1"), std::string::npos) << what;
      EXPECT_NE(what.find("rank 0"), std::string::npos) << what;
      EXPECT_NE(what.find("network.deadline_s"), std::string::npos) << what;
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(TransportConformance, KnowsItsRankAndTheNumberOfRanks,
                            KeepsTheOrderPerPeerAndChannel, ChannelsAreIndependent,
                            CarriesEmptyAndLargeFrames, SupportsBroadcastGatherAndBarrier,
                            DeadlineInterruptsAndNamesBothRanks);

}  // namespace ticopd::dense
