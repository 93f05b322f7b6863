// The byte ledger of a run, for every algorithm.
#include "ticopd/network/ledger.hpp"

#include <gtest/gtest.h>

#include "network/every_algorithm.hpp"

namespace ticopd::dense {
namespace {

bool speaks_every_round(const std::string& name) {
  return name != "sparq_sgd" && name != "local_sgd" && name != "qsparse_local_sgd";
}

TEST(Ledger, CountsThePayloadOfEveryRoundChannelAndLink) {
  constexpr std::uint32_t rounds = 25;
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{10, 33, 4});
  for (const std::string& name : algorithm_names()) {
    if (!speaks_every_round(name)) continue;
    const Graph graph = graph_for(name, erdos_renyi(10, 0.3, 7));
    for (const CodecOptions& options : codecs_for(algorithm_info(name)))
      for (const int ranks : {1, 3}) {
        SCOPED_TRACE(name + ", " + options.kind + ", ranks " + std::to_string(ranks));
        const std::shared_ptr<const Codec<float>> codec = make_codec<float>(options);
        Metrics last;
        const ticopd::Setup<float> setup{
            .graph = graph,
            .objective = f,
            .codec = codec,
            .iterations = rounds,
            .execution = {.ranks = ranks},
            .watch = {.rounds = {.every = rounds}, .on_log = [&](const Metrics& m) { last = m; }}};
        const auto solution = solve(algorithm<float>(name, graph), setup);
        const bool tracks = name == "beer" || name == "docom" || name == "gradient_tracking";
        const std::uint64_t channels = tracks ? 2 : 1;
        const bool local = name == "nids" || name == "lead";  // their first step sends nothing
        const std::uint64_t exchanges = (rounds - local) * channels;
        // A warm start sends the first gradients once, uncompressed.
        const bool starts = name == "beer" || name == "docom";
        const std::uint64_t warm = starts ? 33 * sizeof(float) : 0;
        const std::uint64_t payload = exchanges * codec->payload_bytes(33) + warm;
        const double paper =
            static_cast<double>(exchanges) * codec->paper_bits(33) + (warm > 0 ? 32.0 * 33 : 0);
        double links = 0;
        ASSERT_EQ(solution.ledger.size(), 10u);
        for (int i = 0; i < 10; ++i) {
          const Ledger::Agent& agent = solution.ledger[static_cast<std::size_t>(i)];
          EXPECT_EQ(agent.messages, exchanges + (warm > 0));
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
}

// The sums over links and over agents agree for any messages to any receivers.
TEST(Ledger, AgentsAndLinksAddUpToTheSameBytes) {
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{10, 33, 4});
  for (const std::string& name : algorithm_names())
    for (const double drop : {0.0, 0.4}) {
      const AlgorithmNeeds needs = algorithm_needs(options_of(name));
      if (drop > 0 && (needs.centre || needs.fixed_graph)) continue;
      SCOPED_TRACE(name + ", drop " + std::to_string(drop));
      const Graph graph = graph_for(name, erdos_renyi(10, 0.3, 7));
      const ticopd::Setup<float> setup{
          .graph = graph,
          .objective = f,
          .codec = make_codec<float>(codec_for(name, {.kind = "qsgd", .bits = 4})),
          .links = {.drop = drop},
          .iterations = 24,
          .execution = {.ranks = 3}};
      const auto solution = solve(algorithm<float>(name, graph), setup);
      double payload = 0, links = 0;
      for (const Ledger::Agent& a : solution.ledger) {
        std::uint64_t bytes = 0, messages = 0, most = 0;
        for (std::size_t k = 0; k < a.link_bytes.size(); ++k) {
          bytes += a.link_bytes[k];
          messages += a.link_messages[k];
          most = std::max(most, a.link_bytes[k]);
        }
        if (drop > 0) {
          EXPECT_EQ(bytes, a.payload_bytes) << "every message is for one neighbour";
          EXPECT_EQ(messages, a.messages);
        } else {
          EXPECT_EQ(most, a.payload_bytes) << "some neighbour hears all of it";
        }
        payload += static_cast<double>(a.payload_bytes);
        links += static_cast<double>(bytes);
      }
      EXPECT_GT(payload, 0);
      EXPECT_DOUBLE_EQ(solution.last.bits_payload, 8 * payload / 10);
      EXPECT_DOUBLE_EQ(solution.last.bits_link, 8 * links / 10);
    }
}

// The run spends nearly all of its budget and never more. Messages before the first round are not a
// round.
TEST(Ledger, RunEndsWhenItsBitBudgetIsSpent) {
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{6, 33, 4});
  for (const char* name : {"ticopd", "beer", "local_sgd"}) {
    ticopd::Setup<float> setup{.graph = ring(6), .objective = f, .iterations = 1000};
    setup.watch.until_bits = 40000;
    const auto solution = solve(algorithm<float>(name, setup.graph), setup);
    EXPECT_LE(solution.last.bits_payload, 40000) << name;
    EXPECT_GT(solution.last.bits_payload, 40000 - 3 * 2 * 32 * 33) << name;
    EXPECT_LT(solution.rounds, 1000u);
    EXPECT_EQ(solution.last.iteration, solution.rounds);
  }
}

TEST(Ledger, CountsSaturatedCoordinatesOncePerMessage) {
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{6, 10, 4});
  CodecOptions grid;
  grid.kind = "grid";
  grid.bits = 4;
  grid.r0 = 1e-9;  // every coordinate is outside the box
  grid.kappa = 1;
  const ticopd::Setup<float> setup{
      .graph = ring(6), .objective = f, .codec = make_codec<float>(grid), .iterations = 30};
  const auto solution = solve(algorithm<float>("sparq_sgd", setup.graph), setup);
  const std::uint64_t each = make_codec<float>(grid)->payload_bytes(10);
  for (const Ledger::Agent& a : solution.ledger)
    EXPECT_LE(a.saturated, 10 * (a.payload_bytes / each));
}

}  // namespace
}  // namespace ticopd::dense
