// The search space: which parameters, in which ranges, and which points the algorithm accepts.
#include "ticopd/tune/space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "tune/small_search.hpp"

namespace ticopd {
namespace {

const Spectrum ring10 = spectrum(ring(10), Weights::metropolis);

Config config(const std::string& algorithm, const std::string& search = "") {
  return Config::parse(
      "iterations = 20\n[problem]\nobjective = \"least_squares\"\n"
      "data = \"synthetic\"\nsamples = 100\nfeatures = 4\npartition = \"iid\"\n"
      "[algorithm]\n" +
          algorithm + "\n[tune.search]\n" + search + "\n",
      ".");
}

Space space(const std::string& algorithm, const std::string& search = "") {
  return Space(config(algorithm, search), ring10);
}

// The numbers among the values at a point.
StepSizes numbers_at(const Space& s, const std::vector<double>& point) {
  StepSizes all;
  for (const auto& [name, value] : s.at(point))
    if (value.is_number()) all[name] = value.get<double>();
  return all;
}

std::vector<std::string> names(const Space& s) {
  std::vector<std::string> all;
  for (const SearchAxis& a : s.axes()) all.push_back(a.name);
  return all;
}

std::string refusal(const std::string& algorithm, const std::string& search) {
  return message_of<ConfigError>([&] { space(algorithm, search); });
}

const std::string choco = "name = \"choco_sgd\"";
const std::string ticopd_name = "name = \"ticopd\"";

using Names = std::vector<std::string>;

TEST(Space, HasAnAxisPerRequiredParameter) {
  EXPECT_EQ(names(space(ticopd_name)), (Names{"alpha", "theta", "eta"}));
  EXPECT_EQ(names(space(choco)), (Names{"eta", "gamma"}));
  EXPECT_EQ(names(space("name = \"def_atc\"")), (Names{"mu", "gamma"}));
  EXPECT_EQ(names(space("name = \"dgd\"")), (Names{"eta"}));
}

// Compression needs a smaller gain than the default, so that it cannot stay as it is.
TEST(Space, SearchesDefaultsThatDependOnTheCodec) {
  EXPECT_EQ(names(space("name = \"lead\"")), (Names{"eta", "alpha", "gamma"}));
}

TEST(Space, SearchesParametersThatTheFileSetsToo) {
  EXPECT_EQ(names(space(choco + "\neta = 0.1\ngamma = 0.4")), (Names{"eta", "gamma"}));
}

TEST(Space, HasARangeForEveryRequiredParameterOfEveryAlgorithm) {
  for (const AlgorithmInfo& info : algorithm_table()) {
    std::size_t searched = 0;
    for (const ParameterInfo& p : info.parameters) {
      if (p.search_high > 0) {
        EXPECT_GT(p.search_low, 0) << info.name << " " << p.name;
        EXPECT_LT(p.search_low, p.search_high) << info.name << " " << p.name;
      }
      if (!p.required && !(p.search_high > 0)) continue;
      ++searched;
      EXPECT_GT(p.search_high, 0) << info.name << " " << p.name << " would never be tuned";
    }
    const Space s = space("name = \"" + std::string(info.name) + "\"");
    EXPECT_EQ(s.axes().size(), searched);
    // The algorithm must accept the middle of the ranges.
    std::vector<double> middle(searched, 0.5);
    EXPECT_TRUE(s.admit(middle)) << info.name;
    for (const auto& [name, value] : numbers_at(s, middle))
      EXPECT_TRUE(std::isfinite(value) && value > 0);
  }
}

TEST(Space, UsesTheGivenRange) {
  const Space s = space(choco, "eta = [0.01, 1]");
  EXPECT_EQ(names(s), (Names{"eta", "gamma"}));
  EXPECT_DOUBLE_EQ(s.at(std::vector{0.0, 0.5}).at("eta"), 0.01);
  EXPECT_DOUBLE_EQ(s.at(std::vector{0.5, 0.5}).at("eta"), 0.1);
  EXPECT_DOUBLE_EQ(s.at(std::vector{1.0, 0.5}).at("eta"), 1);
}

TEST(Space, NeverLeavesAGivenRange) {
  const Space s = space(choco, "eta = [0.01, 1]");
  std::vector<double> point{1.4, 0.5};
  EXPECT_TRUE(s.admit(point));
  EXPECT_EQ(point, (std::vector{1.0, 0.5}));
  point = {-0.3, 0.5};
  EXPECT_TRUE(s.admit(point));
  EXPECT_EQ(point, (std::vector{0.0, 0.5}));
}

TEST(Space, LeavesDefaultRangesAsFarAsTheAlgorithmAllows) {
  const Space s = space(choco);
  std::vector<double> point{1.4, 1.4};  // eta has no maximum, gamma at most 1
  EXPECT_TRUE(s.admit(point));
  EXPECT_EQ(point[0], 1.4);
  EXPECT_GT(s.at(point).at("eta"), 10);
  EXPECT_EQ(s.at(point).at("gamma"), 1);
  point = {-0.4, -0.4};
  EXPECT_TRUE(s.admit(point));
  EXPECT_LT(s.at(point).at("eta"), 1e-4);
  EXPECT_LT(s.at(point).at("gamma"), 0.03);
}

TEST(Space, CanSearchAParameterWithADefault) {
  EXPECT_EQ(names(space(ticopd_name, "gamma = [0.1, 1]")),
            (Names{"alpha", "theta", "eta", "gamma"}));
}

TEST(Space, FixesAParameterGivenAsANumber) {
  const Space s = space(ticopd_name, "theta = 0.3");
  EXPECT_EQ(names(s), (Names{"alpha", "eta"}));
  const TriedValues values = s.at(std::vector{0.5, 1.0});
  EXPECT_FALSE(values.contains("theta"));
  EXPECT_DOUBLE_EQ(values.at("eta"), 0.3);  // the unit of eta is theta
  EXPECT_EQ(s.with(values).get<double>("algorithm.theta"), 0.3);
}

TEST(Space, RejectsAnUnknownParameterAndNamesTheNearest) {
  expect_parts(refusal(ticopd_name, "thetta = 0.3"),
               {"tune.search", "ticopd", "thetta", "alpha", "did you mean \"theta\"?"});
  expect_parts(refusal(choco, "alpha = [0.1, 1]"), {"tune.search", "choco_sgd", "eta", "gamma"});
}

TEST(Space, RejectsInvalidRanges) {
  for (const std::string bad : {"[1, 0.1]", "[0, 1]", "[-1, 1]", "[0.1, 0.1]", "[0.1, inf]",
                                "[0.1, 0.2, 0.3]", "[0.1]", "\"0.1\"", "[\"a\", \"b\"]", "true",
                                "{low = 1, high = 0.1}", "{low = 0.1}", "[]", "[nan, 1]"})
    expect_parts(refusal(choco, "eta = " + bad), {"tune.search.eta = ", "allowed is"});
  expect_parts(refusal(choco, "gamma = [0.1, 2]"),
               {"tune.search.gamma = ", "0 < low < high", "to 1"});
}

TEST(Space, RejectsANumberThatTheAlgorithmRejects) {
  expect_parts(refusal(choco, "gamma = 2"), {"tune.search.gamma = 2", "at most 1"});
  expect_parts(refusal(choco, "eta = 0"), {"tune.search.eta = 0", "above 0"});
}

TEST(Space, RejectsASearchWithoutParameters) {
  expect_parts(refusal(choco, "eta = 0.1\ngamma = 0.4"), {"tune.search", "nothing", "eta, gamma"});
}

TEST(Space, RoundsValuesToFourDigits) {
  const Space s = space(choco);
  for (int i = 0; i <= 100; ++i) {
    const double u = 0.01 * i;
    for (const auto& [name, value] : numbers_at(s, {u, u})) {
      const double digits = value / std::pow(10, std::floor(std::log10(value)) - 3);
      EXPECT_NEAR(digits, std::round(digits), 1e-8) << name << " = " << value;
    }
    const double exact = 1e-4 * std::pow(1e5, u);
    EXPECT_NEAR(s.at(std::vector{u, u}).at("eta"), exact, 5.1e-4 * exact);
  }
}

TEST(Space, ScalesThetaByTheGraphAndEtaByTheta) {
  const Space s = space(ticopd_name);
  for (const double u : {0.0, 0.3, 0.9}) {
    const StepSizes top = numbers_at(s, {u, 1.0, 1.0});
    EXPECT_NEAR(top.at("theta") * top.at("alpha") * ring10.laplacian_max, 1, 2e-3);
    EXPECT_NEAR(top.at("eta") / top.at("theta"), 1, 2e-3);
    const StepSizes bottom = numbers_at(s, {u, 0.0, 0.0});
    EXPECT_NEAR(bottom.at("theta") * bottom.at("alpha") * ring10.laplacian_max, 0.03, 1e-4);
    EXPECT_NEAR(bottom.at("eta") / bottom.at("theta"), 1e-3, 2e-6);
  }
}

TEST(Space, ScalesByFixedParameters) {
  const Space s = space(ticopd_name, "alpha = 0.5");
  EXPECT_NEAR(numbers_at(s, {1.0, 1.0}).at("theta") * 0.5 * ring10.laplacian_max, 1, 1e-3);
}

TEST(Space, HasFiniteUnitsForOneAgent) {
  const Space s(config(ticopd_name), spectrum(ring(1), Weights::metropolis));
  for (const auto& [name, value] : numbers_at(s, {0.5, 0.5, 0.5}))
    EXPECT_TRUE(std::isfinite(value)) << name;
}

TEST(Space, AdmitsNoPointThatTheAlgorithmRejects) {
  const Space s = space(ticopd_name);  // beta is derived: alpha theta lambda_max(L) <= 1
  std::vector<double> point{0.5, 1.1, 0.5};
  EXPECT_FALSE(s.admit(point));
  point = {0.5, 0.9, 0.5};
  EXPECT_TRUE(s.admit(point));
  const Space with_beta = space(ticopd_name + "\nbeta = 0.5");
  point = {0.5, 1.1, 0.5};
  EXPECT_TRUE(with_beta.admit(point));
}

TEST(Space, MakesConfigsThatRun) {
  for (const AlgorithmInfo& info : algorithm_table()) {
    const Space s = space("name = \"" + std::string(info.name) + "\"\n");
    std::vector<double> low(s.axes().size(), 0.2);
    ASSERT_TRUE(s.admit(low));
    const TriedValues values = s.at(low);
    const Config made = s.with(values);
    for (const auto& [name, value] : values)
      EXPECT_EQ(made.get<double>("algorithm." + name), value) << info.name;
    nlohmann::json tree = made.tree();
    tree["graph"]["kind"] = "complete";  // some methods need a server at agent 0
    const Config complete = Config::from_json(tree, made.folder());
    EXPECT_NO_THROW(check(complete)) << info.name;
    Prepared<float> prepared = prepare<float>(complete, {.threads = 1});
    EXPECT_TRUE(std::isfinite(solve(prepared.algorithm, prepared.setup).last.loss_max.value()));
  }
}

const std::string qsgd = choco + "\n[codec]\nkind = \"qsgd\"";

TEST(Space, TakesARangeAsATableToo) {
  const Space s = space(choco, "eta = {low = 0.01, high = 1}");
  EXPECT_DOUBLE_EQ(s.at(std::vector{0.5, 0.5}).at("eta"), 0.1);
}

TEST(Space, SearchesListsOfCodecAndGraphKeys) {
  const Space s =
      space(qsgd, "\"codec.bits\" = [8, 2, 4]\ngraph.kind = [\"ring\", \"complete\"]\ngamma = 0.5");
  EXPECT_EQ(names(s), (Names{"eta", "codec.bits", "graph.kind"}));
  EXPECT_TRUE(s.axes()[1].ordered) << "numbers are put in order";
  EXPECT_FALSE(s.axes()[2].ordered);
  std::vector<double> point{0.5, 0.9, 0.1};
  ASSERT_TRUE(s.admit(point));
  EXPECT_EQ(point, (std::vector{0.5, 5.0 / 6, 0.25})) << "listed values have one coordinate each";
  const Config made = s.with(s.at(point));
  EXPECT_EQ(made.get<int>("codec.bits"), 8);
  EXPECT_EQ(made.get<std::string>("graph.kind"), "ring");
}

TEST(Space, SearchesARangeOfACodecKeyInWholeNumbersWhereTheKeyIsWhole) {
  const Space bits = space(qsgd, "\"codec.bits\" = {low = 1, high = 16}");
  EXPECT_EQ(bits.at(std::vector{0.5, 0.5, 0.5}).at("codec.bits"), 4);
  EXPECT_TRUE(bits.at(std::vector{0.5, 0.5, 0.5}).at("codec.bits").is_number_integer());
  const Space share = space(choco + "\n[codec]\nkind = \"top_k\"",
                            "\"codec.fraction\" = {low = 0.001, high = 0.1}");
  EXPECT_NEAR(share.at(std::vector{0.5, 0.5, 0.5}).at("codec.fraction").get<double>(), 0.01, 1e-9);
}

TEST(Space, LeavesOutWhatAKindDoesNotUse) {
  const Space s = space(qsgd, "\"codec.kind\" = [\"qsgd\", \"sign\"]\n\"codec.bits\" = [2, 4]");
  ASSERT_EQ(names(s), (Names{"eta", "gamma", "codec.bits", "codec.kind"}));
  std::vector<double> point{0.5, 0.5, 0.5, 0.75};
  ASSERT_TRUE(s.admit(point));
  const TriedValues values = s.at(point);
  EXPECT_EQ(values.at("codec.kind"), "sign");
  EXPECT_FALSE(values.contains("codec.bits"));
  EXPECT_FALSE(s.with(values).has("codec.bits"));
  std::vector<double> other = point;
  other[2] = 0.9;
  ASSERT_TRUE(s.admit(other));
  EXPECT_EQ(other, point) << "the same trial";
}

TEST(Space, TakesTheGraphOfAPointForItsUnits) {
  const Space s = space(ticopd_name, "graph.kind = [\"ring\", \"complete\"]");
  const auto product = [&](double kind) {
    const StepSizes v = numbers_at(s, {0.5, 1.0, 0.5, kind});
    return v.at("alpha") * v.at("theta");
  };
  EXPECT_NEAR(product(0.25) * ring10.laplacian_max, 1, 2e-3);
  EXPECT_NEAR(product(0.75) * 10, 1, 2e-3) << "the complete graph has lambda_max = n";
}

TEST(Space, SearchesTheConstantsOfASchedule) {
  const Space s = space(choco, "eta = {schedule = \"inverse_sqrt\", t0 = [10, 1000]}\ngamma = 0.5");
  EXPECT_EQ(names(s), (Names{"eta.t0", "eta.c"}));
  std::vector<double> point{0.5, 0.5};
  ASSERT_TRUE(s.admit(point));
  const Config made = s.with(s.at(point));
  EXPECT_EQ(made.get<std::string>("algorithm.eta.schedule"), "inverse_sqrt");
  EXPECT_EQ(made.get<double>("algorithm.eta.t0"), 100);
  // In round 1 the step is in the middle of the range of eta: 1e-4 to 10.
  EXPECT_NEAR(made.get<double>("algorithm.eta.c") / std::sqrt(101), std::sqrt(1e-4 * 10), 1e-4);
  const Space step =
      space(choco, "eta = {schedule = \"step\", c = [0.1, 1], factor = 0.5, every = [10, 1000]}");
  EXPECT_EQ(names(step), (Names{"eta.every", "eta.c", "gamma"}));
  EXPECT_EQ(step.at(std::vector{0.5, 0.0, 0.5}).at("eta.every"), 100);
}

TEST(Space, UnitsUseTheFirstValueOfASchedule) {
  const Space s = space(ticopd_name, "alpha = {schedule = \"inverse\", c = [9.9, 10.1], t0 = 99}");
  const StepSizes v = numbers_at(s, {0.5, 1.0, 1.0});
  EXPECT_NEAR(v.at("alpha.c") / 100 * v.at("theta") * ring10.laplacian_max, 1, 2e-3);
}

TEST(Space, TriesNoBiasedCodecForAMethodThatNeedsAnUnbiasedOne) {
  const Space s = space("name = \"lead\"\n[codec]\nkind = \"qsgd\"\nscaled = false",
                        "\"codec.kind\" = [\"qsgd\", \"sign\"]");
  ASSERT_EQ(s.left_out().size(), 1u);
  expect_parts(s.left_out()[0], {"sign", "lead", "unbiased"});
  std::vector<double> point(s.axes().size(), 0.5);
  point.back() = 0.25;
  EXPECT_TRUE(s.admit(point));
  point.back() = 0.75;
  EXPECT_FALSE(s.admit(point));
  expect_parts(
      refusal("name = \"lead\"\n[codec]\nkind = \"top_k\"", "\"codec.fraction\" = [0.01, 0.1]"),
      {"tune.search", "top_k", "lead", "unbiased"});
}

TEST(Space, RejectsListsThatCannotBeSearched) {
  const auto refused = [](const std::string& search, const std::vector<std::string>& parts) {
    expect_parts(refusal(qsgd, search), parts);
  };
  refused("\"codec.bits\" = []", {"tune.search.codec.bits = []", "allowed is a list"});
  refused("\"codec.bits\" = 4", {"tune.search.codec.bits = 4", "allowed is a list"});
  refused("\"codec.bits\" = [2, 99]", {"tune.search.codec.bits = 99", "from 1 to 16"});
  refused("\"codec.bits\" = [2, 2.5]", {"tune.search.codec.bits = 2.5", "whole number"});
  refused("\"codec.bits\" = [2, 2]", {"tune.search.codec.bits", "twice"});
  refused("\"codec.bits\" = {low = 8, high = 2}", {"tune.search.codec.bits", "low < high"});
  refused("\"codec.bits\" = {low = 1, high = 99}", {"tune.search.codec.bits = 99", "from 1 to 16"});
  refused("\"codec.bist\" = [2, 4]", {"tune.search", "codec.bist", "did you mean \"codec.bits\"?"});
  refused("\"codec.fraction\" = [0.1, 0.2]", {"tune.search", "codec.fraction", "qsgd", "top_k"});
  refused("\"codec.kind\" = [\"qsgd\", \"topk\"]",
          {"tune.search.codec.kind", "topk", "did you mean \"top_k\"?"});
  refused("\"graph.agents\" = [5, 10]", {"tune.search.graph.agents", "another problem"});
  refused("\"problem.batch\" = [5, 10]", {"problem.batch"});
  refused("eta = {schedule = \"inverse_sqr\", c = [1, 2]}",
          {"tune.search.eta.schedule", "did you mean \"inverse_sqrt\"?"});
  refused("eta = {schedule = \"inverse\", c = [1, 2]}", {"tune.search.eta.t0 is missing"});
  refused("eta = {schedule = \"inverse\", c = [1, 2], t = 3}", {"tune.search.eta", "\"t\"", "t0"});
  refused("eta = {schedule = \"inverse\", c = [2, 1], t0 = 3}",
          {"tune.search.eta.c", "0 < low < high"});
  std::string many = "\"codec.bits\" = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]\n";
  many += "\"graph.p\" = [0.1";
  for (int i = 2; i < 20; ++i) many += ", " + std::to_string(0.1 + 0.01 * i);
  refused(many + "]", {"tune.search", "combinations", "256"});
}

}  // namespace
}  // namespace ticopd
