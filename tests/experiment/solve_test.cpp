// solve() with an algorithm as a struct makes the same checks as with a config, with the same
// messages.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "ticopd/ticopd.hpp"

namespace ticopd {
namespace {

constexpr int n = 4;

// f_i(x) = ||x - i||^2 / 2
struct Targets final : Objective<double> {
  explicit Targets(int count = n) : count_(count) {}
  int agents() const override { return count_; }
  std::size_t dimension() const override { return 3; }
  double value(int i, std::span<const double> x) const override {
    double sum = 0;
    for (const double v : x) sum += (v - i) * (v - i) / 2;
    return sum;
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - i;
  }

 private:
  int count_;
};

CodecOptions codec(const std::string& kind) {
  CodecOptions options;
  options.kind = kind;
  return options;
}

Setup<double> setup(const std::string& kind = "identity") {
  return {.graph = ring(n),
          .objective = std::make_shared<Targets>(),
          .codec = make_codec<double>(codec(kind)),
          .iterations = 20};
}

// solve() must throw a ConfigError whose message contains every part.
void expect_refused(const auto& algorithm, const Setup<double>& s,
                    const std::vector<std::string>& says) {
  try {
    solve(algorithm, s);
    ADD_FAILURE() << "it ran";
  } catch (const ConfigError& e) {
    for (const std::string& part : says)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "`" << part << "` is not in: " << e.what();
  }
}

TEST(TicopdHeader, IncludesEveryAlgorithmOfTheTable) {
  const auto names = []<class... A>(Algorithms<A...>) {
    return std::set<std::string_view>{A::name...};
  };
  std::set<std::string_view> listed;
  for (const AlgorithmInfo& info : algorithm_table()) listed.insert(info.name);
  EXPECT_EQ(names(All{}), listed);
}

struct Impostor : DGD {
  static constexpr std::string_view name = "extra";
};

TEST(AlgorithmTable, RejectsTheSameNameTwice) {
  EXPECT_TRUE(names_differ(Algorithms<DGD, EXTRA>{}));
  EXPECT_FALSE(names_differ(Algorithms<EXTRA, DGD, Impostor>{}));
}

TEST(Solve, AcceptsTheLargestStepsThatLeaveBetaAtZero) {
  for (const int agents : {4, 16, 32}) {  // lambda_max(L) is 4 up to rounding
    ticopd::Setup<double> s = setup();
    s.graph = ring(agents);
    s.objective = std::make_shared<Targets>(agents);
    EXPECT_NO_THROW(solve(TiCoPD{.alpha = 0.25, .theta = 1, .eta = 0.1}, s)) << agents;
  }
}

TEST(Solve, RejectsAScheduleThatRisesAboveItsRange) {
  expect_refused(BEER{.eta = 0.1, .gamma = Schedule::step(0.5, 2, 10)}, setup(),
                 {"algorithm.gamma", "rises above 1"});
  EXPECT_NO_THROW(solve(BEER{.eta = 0.1, .gamma = Schedule::step(0.5, 0.5, 10)}, setup()));
}

TEST(Solve, NamesAMissingParameter) {
  expect_refused(TiCoPD{.alpha = 0.1, .theta = 0.5}, setup(),
                 {"algorithm.eta", "dual step size", "required for ticopd"});
}

TEST(Solve, NamesAParameterOutOfRange) {
  expect_refused(DGD{.eta = -1}, setup(), {"algorithm.eta = -1", "above 0"});
  expect_refused(DGD{.eta = std::nan("")}, setup(), {"algorithm.eta = nan", "above 0"});
  expect_refused(DGD{.eta = std::numeric_limits<double>::infinity()}, setup(),
                 {"algorithm.eta = inf", "finite number"});
  expect_refused(TiCoPD{.alpha = 0.1, .theta = 0.5, .eta = 0.1, .gamma = 1.5}, setup(),
                 {"algorithm.gamma = 1.5", "at most 1"});
  expect_refused(LocalSGD{.eta = 0.1, .period = 2.5}, setup(),
                 {"algorithm.period = 2.5", "whole number"});
  expect_refused(LocalSGD{.eta = 0.1, .period = Schedule::inverse(3, 1)}, setup(),
                 {"algorithm.period", "no schedule"});
}

TEST(Solve, NamesAnUnknownWord) {
  expect_refused(LocalSGD{.eta = 0.1, .average = "stars"}, setup(),
                 {"algorithm.average = \"stars\"", "mixing, star", "did you mean \"star\"?"});
}

TEST(Solve, RejectsALossyCodecForUncompressedMethods) {
  expect_refused(DGD{.eta = 0.1}, setup("qsgd"),
                 {"setup.codec", "dgd sends its model as it is", "identity"});
}

TEST(Solve, UsesTheCodecOfTheAlgorithm) {
  const Magnusson method{.eta = 0.1, .alpha = 1, .beta = 1, .r0 = 4, .kappa = 0.95, .bits = 6};
  const std::uint64_t sent = solve(method, setup()).ledger[0].payload_bytes;
  EXPECT_EQ(sent, 20 * make_codec<double>(method.codec())->payload_bytes(3));
  expect_refused(method, setup("qsgd"),
                 {"setup.codec", "magnusson brings a codec of its own", "leave setup.codec out"});
}

TEST(Solve, RejectsAnIncompatibleGraph) {
  expect_refused(LocalSGD{.eta = 0.1, .average = "star"}, setup(), {"agent 0"});
  auto s = setup();
  s.links = {.drop = 0.2};
  expect_refused(QDGD{}, s, {"graph.drop", "qdgd needs all of its links"});
  s.links.one_edge = true;
  expect_refused(ChocoSGD{.eta = 0.1, .gamma = 0.3}, s, {"graph.drop = 0.2", "random_edge"});
}

TEST(Solve, RejectsABatchForAnObjectiveWithoutSamples) {
  auto s = setup();
  s.batch = 2;
  expect_refused(DGD{.eta = 0.1}, s, {"problem.batch = 2", "no samples", "\"full\""});
  EXPECT_THROW(solve(run_factory<double>(DGD{.eta = 0.1}), s), ConfigError);
}

TEST(Solve, PassesWarningsOn) {
  auto s = setup();
  std::vector<std::string> heard;
  s.watch.on_warning = [&](const std::string& warning) { heard.push_back(warning); };
  solve(TiCoPD{.alpha = 0.1, .theta = 3, .eta = 0.1, .beta = 1}, s);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_NE(heard[0].find("alpha theta lambda_max(L) = 0.1 * 3 * 4 = 1.2 is above 1"),
            std::string::npos)
      << heard[0];
}

// resolve() may depend on the values that plan() derives from the number of rounds.
struct Planned : DGD {
  std::string* order;
  static constexpr auto parameters() {
    return std::array{Parameter<Planned>{"eta", &Planned::eta, positive, "step size"}};
  }
  void resolve(const Spectrum&, Warnings&) { *order += "resolve "; }
  void plan(std::uint32_t iterations) { *order += "plan " + std::to_string(iterations) + " "; }
};

TEST(Solve, CallsPlanBeforeResolve) {
  std::string order;
  Planned method{{.eta = 0.1}, &order};
  solve(method, setup());
  EXPECT_EQ(order, "plan 20 resolve ");
}

TEST(Solve, OnAGpuTakesFloatsOnly) {
  auto s = setup();
  s.execution.device = Device::cuda;
  expect_refused(TiCoPD{.alpha = 0.1, .theta = 0.5, .eta = 0.1}, s,
                 {"Device::cuda", "Setup<float>"});
}

}  // namespace
}  // namespace ticopd
