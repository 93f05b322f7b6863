#include "ticopd/network/ledger.hpp"

#include <gtest/gtest.h>

#include "network/every_algorithm.hpp"

namespace ticopd::dense {
namespace {

TEST(Ledger, CountsThePayloadOfEveryRoundAndChannelAndEveryLink) {
  constexpr std::uint32_t rounds = 25;
  const Graph graph = erdos_renyi(10, 0.3, 7);
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{10, 33, 4});
  for (const std::string& name : algorithm_names())
    for (const CodecOptions& options : codecs_for(algorithm_info(name)))
      for (const int ranks : {1, 3}) {
        SCOPED_TRACE(name + ", " + options.kind + ", ranks " + std::to_string(ranks));
        const std::shared_ptr<const Codec<float>> codec = make_codec<float>(options);
        Metrics last;
        const ticopd::Setup<float> setup{.graph = graph,
                                         .objective = f,
                                         .codec = codec,
                                         .iterations = rounds,
                                         .log = {.every = rounds},
                                         .ranks = ranks,
                                         .on_log = [&](const Metrics& m) { last = m; }};
        const auto solution = solve(algorithm<float>(name, graph), setup);
        const std::uint64_t channels = name == "beer" ? 2 : 1;
        // BEER's warm start sends the first gradients once, in full.
        const std::uint64_t warm = name == "beer" ? 33 * sizeof(float) : 0;
        const std::uint64_t payload = rounds * channels * codec->payload_bytes(33) + warm;
        const double paper = rounds * static_cast<double>(channels) * codec->paper_bits(33) +
                             (warm > 0 ? 32.0 * 33 : 0);
        double links = 0;
        ASSERT_EQ(solution.ledger.size(), 10u);
        for (int i = 0; i < 10; ++i) {
          const Ledger::Agent& agent = solution.ledger[static_cast<std::size_t>(i)];
          EXPECT_EQ(agent.messages, rounds * channels + (warm > 0));
          EXPECT_EQ(agent.payload_bytes, payload);
          EXPECT_NEAR(agent.paper_bits, paper, 1e-9 * paper);
          EXPECT_EQ(agent.link_bytes,
                    std::vector<std::uint64_t>(static_cast<std::size_t>(graph.degree(i)), payload));
          links += static_cast<double>(payload) * graph.degree(i);
        }
        EXPECT_EQ(last.iteration, rounds);
        EXPECT_DOUBLE_EQ(last.bits_payload, 8.0 * static_cast<double>(payload));
        EXPECT_DOUBLE_EQ(last.bits_link, 8.0 * links / 10);
        EXPECT_NEAR(last.bits_paper, paper, 1e-9 * paper);
      }
}

}  // namespace
}  // namespace ticopd::dense
