// A run as an object: stepped, measured, saved and resumed by hand, it is the run that solve()
// makes.
#include "ticopd/run/run.hpp"

#include <unistd.h>

#include <filesystem>
#include <thread>

#include "network/ranks.hpp"
#include "network/record.hpp"
#include "ticopd/algorithms/beer.hpp"

namespace ticopd::dense {
namespace {

namespace fs = std::filesystem;

template <class T>
ticopd::Setup<T> small(std::string_view name) {
  return {.graph = graph_for(name, erdos_renyi(7, 0.4, 2)),
          .objective = std::make_shared<LeastSquares<T>>(ProblemSize{7, 21, 12}),
          .codec = make_codec<T>(codec_for(name, {.kind = "qsgd", .bits = 4})),
          .batch = 4,
          .iterations = 40};
}

void on_ranks(int count, const std::function<void(Transport&)>& body) {
  ThreadRanks ranks(count, 60);
  for (const std::exception_ptr& error : on_every_rank(ranks, count, body))
    EXPECT_EQ(message_of(error), "");
}

class SteppedRun : public ::testing::TestWithParam<std::string> {
 protected:
  SteppedRun()
      : file(fs::temp_directory_path() /
             ("ticopd_run_" + std::to_string(::getpid()) + "_" + GetParam() + ".safetensors")) {}
  ~SteppedRun() override { fs::remove(file); }
  fs::path file;
};

TEST_P(SteppedRun, HasTheDigestAndMetricsOfSolve) {
  ticopd::Setup<double> s = small<double>(GetParam());
  const auto factory = algorithm<double>(GetParam(), s.graph);
  const Record whole = record(factory, s, {1, 1});
  for (const int count : {1, 3}) {
    std::vector<std::string> logged;
    s.watch.on_log = [&](const Metrics& m) { logged.push_back(without_seconds(m)); };
    on_ranks(count, [&](Transport& rank) {
      ticopd::Run<double> run(factory, s, rank);
      EXPECT_EQ(run.round(), 0u);
      EXPECT_EQ(run.step(1), 1u);
      EXPECT_EQ(run.step(16), 16u);
      EXPECT_EQ(run.round(), 17u);
      EXPECT_FALSE(run.finished());
      EXPECT_EQ(run.step(1000), 23u);
      EXPECT_TRUE(run.finished());
      EXPECT_FALSE(run.stopped());
      EXPECT_EQ(run.step(), 0u);
      EXPECT_EQ(run.digest(), whole.digest);
      EXPECT_EQ(run.last().iteration, 40u);
      EXPECT_EQ(run.ledger().size(), 7u);
    });
    EXPECT_EQ(logged, whole.metrics) << count << " ranks";
  }
}

TEST_P(SteppedRun, MeasuringAndSavingDoNotChangeTheDigest) {
  const ticopd::Setup<double> s = small<double>(GetParam());
  const auto factory = algorithm<double>(GetParam(), s.graph);
  const Record whole = record(factory, s, {1, 1});
  for (const int count : {1, 3})
    on_ranks(count, [&](Transport& rank) {
      ticopd::Run<double> run(factory, s, rank);
      for (const MetricLevel level : {MetricLevel::rows, MetricLevel::local, MetricLevel::full}) {
        run.step(7);
        EXPECT_EQ(run.measure(level).iteration, run.round());
        run.save(file);
      }
      run.step(1000);
      EXPECT_EQ(run.digest(), whole.digest) << count << " ranks";
    });
}

TEST_P(SteppedRun, ResumesFromAFileOnAnyNumberOfRanks) {
  const ticopd::Setup<double> s = small<double>(GetParam());
  const auto factory = algorithm<double>(GetParam(), s.graph);
  const Record whole = record(factory, s, {1, 1});
  for (const auto& [first, second] : {std::pair{1, 3}, {3, 1}, {2, 3}}) {
    on_ranks(first, [&](Transport& rank) {
      ticopd::Run<double> run(factory, s, rank);
      run.step(17);
      run.save(file);
    });
    on_ranks(second, [&](Transport& rank) {
      ticopd::Run<double> run(factory, s, rank);
      run.resume(file);
      EXPECT_EQ(run.round(), 17u);
      run.step(1000);
      EXPECT_EQ(run.digest(), whole.digest) << first << " then " << second << " ranks";
      for (std::size_t row = 0; row < run.x().rows(); ++row) {
        const auto at = (static_cast<std::size_t>(run.first_agent()) + row) * run.x().cols();
        EXPECT_EQ(std::memcmp(run.x().row(row).data(), whole.x.data() + at * sizeof(double),
                              run.x().cols() * sizeof(double)),
                  0);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Of, SteppedRun,
                         ::testing::Values("ticopd", "choco_sgd", "beer", "local_sgd", "sparq_sgd"),
                         [](const auto& given) { return given.param; });

TEST(RunObject, CanBeMadeFromAnAlgorithmStruct) {
  const ticopd::Setup<double> s = small<double>("beer");
  ticopd::Run<double> run = make_run(BEER{.eta = 0.02, .gamma = 0.2}, s);
  while (run.step(9) > 0) {
  }
  EXPECT_EQ(run.digest(), solve(BEER{.eta = 0.02, .gamma = 0.2}, s).digest);
  EXPECT_EQ(run.solution().x.rows(), 7u);
}

TEST(RunObject, RejectsResumeAfterItsFirstStep) {
  const ticopd::Setup<double> s = small<double>("beer");
  ticopd::Run<double> run = make_run(BEER{.eta = 0.02, .gamma = 0.2}, s);
  EXPECT_THROW(run.resume("no_such_file"), DiskError);
  run.step();
  EXPECT_THROW(run.resume("no_such_file"), std::logic_error);
}

TEST(RunObject, TwoRunsAtTheSameTimeAreIndependent) {
  const ticopd::Setup<double> s = small<double>("beer");
  ticopd::Run<double> one = make_run(BEER{.eta = 0.02, .gamma = 0.2}, s);
  ticopd::Run<double> two = make_run(BEER{.eta = 0.02, .gamma = 0.2}, s);
  while (one.step(3) + two.step(5) > 0) {
  }
  EXPECT_EQ(one.digest(), two.digest());
}

TEST(RunObject, CountsOnlyTheTimeOfItsSteps) {
  ticopd::Setup<double> s = small<double>("beer");
  ticopd::Run<double> run = make_run(BEER{.eta = 0.02, .gamma = 0.2}, s);
  run.step(10);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  run.step(30);
  EXPECT_LT(run.summary().seconds, 0.25);
}

}  // namespace
}  // namespace ticopd::dense
