// k processes = 1 process, bit by bit: every algorithm and codec, on all ranks that mpirun started.
#include <gtest/gtest.h>

#include "mpi/world.hpp"
#include "network/record.hpp"

namespace ticopd::dense {
namespace {

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {};

template <class T>
void same_as_one_process(const std::string& name, const Setup<T>& setup, Transport& transport) {
  const RunFactory<T> run = algorithm<T>(name, setup.graph);
  const Record one = record(run, setup, {1, 1});
  Setup<T> shared = setup;
  shared.execution.transport = &transport;
  std::vector<std::string> metrics;
  shared.watch.on_log = [&](const Metrics& m) { metrics.push_back(without_seconds(m)); };
  const Solution<T> mine = solve(run, shared);
  EXPECT_EQ(mine.digest, one.digest);
  const std::size_t before = static_cast<std::size_t>(mine.first_agent) * mine.x.cols() * sizeof(T);
  ASSERT_LE(before + mine.x.size() * sizeof(T), one.x.size());
  for (std::size_t row = 0; row < mine.x.rows(); ++row)
    EXPECT_EQ(std::memcmp(one.x.data() + before + row * mine.x.cols() * sizeof(T),
                          mine.x.row(row).data(), mine.x.cols() * sizeof(T)),
              0)
        << "row " << row;
  if (transport.rank() == 0) {
    EXPECT_EQ(metrics, one.metrics);
  }
}

template <class T>
void same_with_every_codec(const std::string& name, const Graph& graph, Transport& transport) {
  const auto f = std::make_shared<LeastSquares<T>>(ProblemSize{10, 33, 12});
  for (const CodecOptions& options : codecs_for(algorithm_info(name))) {
    SCOPED_TRACE(options.kind + (sizeof(T) == 4 ? ", float" : ", double"));
    same_as_one_process<T>(name,
                           {.graph = graph_for(name, graph),
                            .objective = f,
                            .codec = make_codec<T>(options),
                            .iterations = 25,
                            .watch = {.rounds = {.every = 10}}},
                           transport);
  }
}

TEST_P(EveryAlgorithm, HasTheDigestOfOneProcess) {
  MpiTransport transport(MPI_COMM_WORLD);
  same_with_every_codec<float>(GetParam(), erdos_renyi(10, 0.3, 7), transport);
  same_with_every_codec<double>(GetParam(), ring(10), transport);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace ticopd::dense
