// Each level of metrics: its columns, samples and agents.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "network/record.hpp"
#include "objectives/made_up.hpp"
#include "ticopd/algorithms/dgd.hpp"
#include "ticopd/network/metric_scope.hpp"

namespace ticopd::dense {
namespace {

template <class T>
ticopd::Setup<T> classifier(std::size_t features = 6) {
  made_up::Problem problem;
  problem.features = features;
  problem.options = made_up::options_of("softmax");
  problem.shards = {40, 17, 1, 25, 30};
  ticopd::Setup<T> s{
      .graph = ring(5), .objective = made_up::objective<T>(problem), .iterations = 12};
  s.codec = make_codec<T>({.kind = "qsgd", .bits = 4});
  s.watch.rounds.every = 3;
  return s;
}

std::vector<Metrics> rows(ticopd::Setup<double> s, Way way = {1, 1}) {
  std::vector<Metrics> all;
  s.execution.threads = way.threads;
  s.execution.ranks = way.ranks;
  s.watch.on_log = [&](const Metrics& m) { all.push_back(m); };
  solve(algorithm<double>("ticopd", s.graph), s);
  return all;
}

std::string logged_text(ticopd::Setup<double> s, Way way) {
  std::string all;
  for (Metrics m : rows(s, way)) {
    m.seconds = 0;
    all += to_csv(m, metric_columns(s.watch.level)) + "\n";
  }
  return all;
}

// Without samples, and whoever asks for a value gets an exception.
struct NoValues final : Objective<double> {
  int agents() const override { return 4; }
  std::size_t dimension() const override { return 3; }
  double value(int, std::span<const double>) const override {
    throw std::logic_error("a value was asked for");
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - i;
  }
};

TEST(MetricLevels, RowsLevelNeverEvaluatesTheObjective) {
  ticopd::Setup<double> s{
      .graph = ring(4), .objective = std::make_shared<NoValues>(), .iterations = 5};
  s.watch.level = MetricLevel::rows;
  for (const Metrics& m : rows(s)) {
    EXPECT_FALSE(m.loss_max || m.loss_mean || m.grad_norm2_max || m.loss_local || m.accuracy_min);
    EXPECT_TRUE(m.surrogate_error && m.dual_sum);
    EXPECT_TRUE(m.iteration == 0 || m.bits_payload > 0);
  }
}

TEST(MetricLevels, LevelDoesNotChangeTheDigestOrSharedColumns) {
  ticopd::Setup<double> s = classifier<double>();
  const auto factory = algorithm<double>("ticopd", s.graph);
  const std::string digest = solve(factory, s).digest;
  const std::vector<Metrics> full = rows(s);
  for (const MetricLevel level : {MetricLevel::rows, MetricLevel::local}) {
    s.watch.level = level;
    EXPECT_EQ(solve(factory, s).digest, digest);
    const std::vector<Metrics> some = rows(s);
    ASSERT_EQ(some.size(), full.size());
    for (std::size_t r = 0; r < full.size(); ++r)
      for (const MetricInfo& metric : metric_table()) {
        if (metric.column == "seconds" || metric.level == MetricLevel::local) continue;
        if (measured_at(metric, level))
          EXPECT_EQ(metric.value(some[r]), metric.value(full[r])) << metric.column;
        else
          EXPECT_FALSE(metric.value(some[r])) << metric.column;
      }
  }
}

TEST(MetricLevels, LocalLossIsTheMeanOfTheAgentsOwnLosses) {
  ticopd::Setup<double> s = classifier<double>();
  s.watch.level = MetricLevel::local;
  ticopd::Run<double> run(algorithm<double>("ticopd", s.graph), s);
  run.step(7);
  double mean = 0;
  for (int i = 0; i < 5; ++i)
    mean += s.objective->value(i, run.x().row(static_cast<std::size_t>(i))) / 5;
  EXPECT_NEAR(run.measure(MetricLevel::local).loss_local.value(), mean, 1e-12);
}

TEST(MetricLevels, AnyNumberOfRanksAndThreadsGivesTheSameBits) {
  for (const MetricLevel level : {MetricLevel::full, MetricLevel::local, MetricLevel::rows})
    for (const std::size_t samples : {0u, 30u})
      for (const std::size_t agents : {0u, 2u}) {
        ticopd::Setup<double> s = classifier<double>();
        s.watch.level = level;
        s.watch.scope = {.samples = samples, .agents = agents};
        const std::string one = logged_text(s, {1, 1});
        for (const Way way : {Way{2, 1}, {1, 3}, {2, 5}})
          EXPECT_EQ(logged_text(s, way), one) << name_of(level) << ", " << samples << " samples, "
                                              << agents << " agents, " << way.ranks << " ranks";
      }
}

// One thread reads such rows in one sweep; two threads and two ranks take them one by one.
TEST(MetricLevels, LongRowsHaveTheSameBitsInOneSweep) {
  for (const MetricLevel level : {MetricLevel::full, MetricLevel::rows}) {
    ticopd::Setup<double> s = classifier<double>(2999);
    ASSERT_EQ(s.objective->dimension(), 9000u);
    s.iterations = 4;
    s.watch.level = level;
    const std::string sweep = logged_text(s, {1, 1});
    for (const Way way : {Way{2, 1}, Way{1, 2}})
      EXPECT_EQ(logged_text(s, way), sweep) << name_of(level) << ", " << way.ranks << " ranks";
  }
}

TEST(MetricScope, SamplesAreProportionalDistinctAndAtLeastOne) {
  const ticopd::Setup<double> s = classifier<double>();
  std::vector<std::size_t> counts;
  for (int agent = 0; agent < 5; ++agent) {
    const Batch batch = measured_samples({.samples = 22}, *s.objective, agent, 1);
    const std::size_t held = s.objective->samples(agent);
    counts.push_back(batch.full ? held : batch.samples.size());
    for (std::size_t k = 0; k < batch.samples.size(); ++k) {
      EXPECT_LT(batch.samples[k], held);
      EXPECT_TRUE(k == 0 || batch.samples[k - 1] < batch.samples[k]);
    }
  }
  EXPECT_EQ(counts, (std::vector<std::size_t>{8, 3, 1, 5, 6}));
}

TEST(MetricScope, FollowsTheSeed) {
  const ticopd::Setup<double> s = classifier<double>();
  const auto samples = [&](std::uint64_t seed) {
    return measured_samples({.samples = 50}, *s.objective, 0, seed).samples;
  };
  EXPECT_EQ(samples(1), samples(1));
  EXPECT_NE(samples(1), samples(2));
  std::set<std::vector<int>> drawn;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<int> chosen = measured_agents({.agents = 3}, 10, seed);
    EXPECT_EQ(chosen.size(), 3u);
    EXPECT_TRUE(std::ranges::is_sorted(chosen));
    EXPECT_TRUE(std::ranges::adjacent_find(chosen) == chosen.end());
    drawn.insert(chosen);
  }
  EXPECT_GT(drawn.size(), 10u);
}

TEST(MetricScope, DefaultIsAllSamplesAndAgents) {
  ticopd::Setup<double> s = classifier<double>();
  const std::vector<Metrics> all = rows(s);
  s.watch.scope = {.samples = 113, .agents = 5};
  const std::vector<Metrics> same = rows(s);
  for (std::size_t r = 0; r < all.size(); ++r)
    EXPECT_EQ(without_seconds(same[r]), without_seconds(all[r]));
}

TEST(MetricScope, LossOfAPartIsTheLossOverItsSamples) {
  ticopd::Setup<double> s = classifier<double>();
  s.watch.scope.samples = 30;
  s.watch.level = MetricLevel::local;
  ticopd::Run<double> run(algorithm<double>("ticopd", s.graph), s);
  run.step(5);
  double mean = 0;
  for (int i = 0; i < 5; ++i) {
    const Batch batch = measured_samples(s.watch.scope, *s.objective, i, s.seed);
    mean += s.objective->evaluate(i, 0, batch, run.x().row(static_cast<std::size_t>(i)), {}) / 5;
  }
  EXPECT_NEAR(run.measure(MetricLevel::local).loss_local.value(), mean, 1e-12);
  EXPECT_NE(run.measure(MetricLevel::full).loss_max, std::nullopt);
}

TEST(MetricScope, WorstLossIsOverTheMeasuredAgentsOnly) {
  ticopd::Setup<double> s = classifier<double>();
  const Metrics all = rows(s).back();
  s.watch.scope.agents = 2;
  const Metrics some = rows(s).back();
  const std::vector<int> chosen = measured_agents(s.watch.scope, 5, s.seed);
  double worst = -INFINITY;
  for (const int i : chosen) worst = std::max(worst, *all.agents[static_cast<std::size_t>(i)].loss);
  EXPECT_EQ(some.loss_max, worst);
  EXPECT_EQ(some.consensus, all.consensus);
  EXPECT_EQ(some.loss_mean, all.loss_mean);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(some.agents[static_cast<std::size_t>(i)].loss.has_value(),
              std::ranges::find(chosen, i) != chosen.end());
}

TEST(MetricScope, SamplesAreRejectedForAnObjectiveWithoutSamples) {
  ticopd::Setup<double> s{.graph = ring(4), .objective = std::make_shared<NoValues>()};
  s.watch.scope.samples = 5;
  EXPECT_THROW(rows(s), ConfigError);
}

// Steps that are far too long end a run at every level, and NaN never hides.
TEST(Divergence, EveryMetricLevelReportsDivergenceOnAllRanks) {
  for (const MetricLevel level : {MetricLevel::full, MetricLevel::local, MetricLevel::rows})
    for (const int ranks : {1, 3}) {
      ticopd::Setup<double> s{
          .graph = ring(7),
          .objective = std::make_shared<LeastSquares<double>>(ProblemSize{7, 21, 12}),
          .iterations = 5000};
      s.watch.level = level;
      s.execution.ranks = ranks;
      try {
        solve(DGD{.eta = 50}, s);
        ADD_FAILURE() << "it ran to its end at level " << name_of(level);
      } catch (const DivergedRun& e) {
        EXPECT_LT(e.rounds, 5000u);
        EXPECT_EQ(e.ledger.size(), 7u);
      }
    }
}

TEST(MetricTable, HasTheColumnsOfTheContractFirst) {
  EXPECT_EQ(
      csv_header(),
      "iteration,bits_paper,bits_payload,bits_link,loss_max,grad_norm2_max,consensus,"
      "accuracy_min,loss_mean,grad_norm2_mean,accuracy_mean,surrogate_error,dual_sum,seconds");
  EXPECT_EQ(csv_header(metric_columns(MetricLevel::local)), csv_header() + ",loss_local");
  EXPECT_EQ(csv_header(metric_columns(MetricLevel::rows)), csv_header());
  const std::string_view asked[] = {"lyapunov"};
  EXPECT_EQ(csv_header(metric_columns(MetricLevel::full, asked)), csv_header() + ",lyapunov");
}

TEST(MetricTable, WritesNanAndLeavesMissingValuesEmpty) {
  Metrics m;
  m.iteration = 4'000'000'000u;
  m.loss_max = NAN;
  m.consensus = 0.1;
  m.seconds = 1.23456;
  EXPECT_EQ(to_csv(m), "4000000000,0,0,0,nan,,0.1,,,,,,,1.235");
}

TEST(MetricTable, RejectsADuplicateColumn) {
  EXPECT_THROW(add_metric({.column = "consensus",
                           .title = "",
                           .level = MetricLevel::rows,
                           .better = Better::lower,
                           .presence = ColumnPresence::on_request,
                           .value = [](const Metrics&) { return std::optional<double>(); }}),
               ConfigError);
  EXPECT_EQ(value_of({}, "no_such_column"), std::nullopt);
}

}  // namespace
}  // namespace ticopd::dense
