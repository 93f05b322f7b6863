// The full matrix: every algorithm, codec and precision, on more graphs and with more numbers of
// threads and ranks than the fast tests.
#include <gtest/gtest.h>

#include "network/record.hpp"

namespace ticopd::dense {
namespace {

class EveryWay : public ::testing::TestWithParam<std::string> {};

template <class T>
void same_bits(const std::string& name) {
  const auto f = std::make_shared<LeastSquares<T>>(ProblemSize{10, 65, 12});
  std::vector<Way> ways;
  for (const int threads : {1, 2, 5})
    for (const int ranks : {1, 2, 3, 10})
      if (threads * ranks > 1) ways.push_back({threads, ranks});
  for (const CodecOptions& options : codecs_for(algorithm_info(name)))
    for (const auto& [title, graph] : {std::pair{"ring", ring(10)},
                                       {"star", star(10)},
                                       {"complete", complete(10)},
                                       {"random", erdos_renyi(10, 0.3, 11)}})
      for (const std::size_t batch : {std::size_t{0}, std::size_t{5}}) {
        SCOPED_TRACE(
            fmt::format("{}, {}, {} bytes, batch {}", options.kind, title, sizeof(T), batch));
        const Setup<T> setup{.graph = graph_for(name, graph),
                             .objective = f,
                             .codec = make_codec<T>(options),
                             .batch = batch,
                             .iterations = 60,
                             .watch = {.rounds = {.every = 20}}};
        // On the complete graph and the star alpha theta lambda_max is 0.5, so all steps are still
        // stable.
        expect_same_bits<T>(name, setup, ways);
      }
}

TEST_P(EveryWay, FloatRunsHaveTheSameBits) {
  same_bits<float>(GetParam());
}
TEST_P(EveryWay, DoubleRunsHaveTheSameBits) {
  same_bits<double>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Every, EveryWay, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace ticopd::dense
