// One rule of divergence for every command and for programs, and codecs that do not suit a method.
#include "hostile/hostile.hpp"
#include "ticopd/ticopd.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Uncompressed DGD on least squares with a step just too long: each round multiplies the loss.
class OneRuleOfDivergence : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    const std::string head = small_problem.substr(0, small_problem.find("[codec]"));
    problem_ = with(head, "\"softmax\"", "\"least_squares\"");
    write("run.toml", problem_ + method_);
    write("set.toml", problem_ + "[[run]]\nlabel = \"a\"\n" + nested_);
    write("tune.toml",
          problem_ + method_ + "[tune]\nruns = 3\n[tune.search]\neta = [0.9999, 1.0]\n");
  }
  static inline const std::string method_ =
      "[codec]\nkind = \"identity\"\n[algorithm]\nname = \"dgd\"\neta = 1.0\n";
  static inline const std::string nested_ =
      "codec = {kind = \"identity\"}\nalgorithm = {name = \"dgd\", eta = 1.0}\n";
  // The number of rounds after which the loss is finite and far beyond a billion times the first.
  Arguments rounds() const { return {"--set", "iterations=" + std::to_string(rounds_)}; }
  Arguments words(Arguments all) const {
    const Arguments more = rounds();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // Finds the number of rounds: the first that `run` calls diverged.
  void find_rounds() {
    const Outcome o = ticopd({"run", "run.toml", "--out", "probe", "--quiet", "--set",
                              "log.every=1", "--set", "iterations=5000"});
    ASSERT_EQ(o.code, 76) << o.err;
    rounds_ = summary("probe")["iterations"].get<int>();
    const auto last = metrics("probe").back();
    loss_ = std::stod(last.at(4));
    ASSERT_TRUE(std::isfinite(loss_)) << "not a close case";
  }
  std::string problem_;
  int rounds_ = 0;
  double loss_ = 0;
};

TEST_F(OneRuleOfDivergence, HoldsForRunCompareAndTune) {
  find_rounds();
  const Outcome alone = ticopd(words({"run", "run.toml", "--out", "alone", "--quiet"}));
  EXPECT_EQ(alone.code, 76) << alone.err;
  const Outcome compared = ticopd(words({"compare", "set.toml", "--out", "compared", "--quiet"}));
  EXPECT_EQ(compared.code, 76) << compared.err;
  EXPECT_EQ(summary("compared/a")["status"], "diverged");
  const Outcome tuned = ticopd(words({"tune", "tune.toml", "--out", "tuned"}));
  EXPECT_EQ(tuned.code, 76) << tuned.err << tuned.out;
  EXPECT_FALSE(fs::exists(folder_ / "tuned/tuned.toml"));
}

TEST_F(OneRuleOfDivergence, OneRoundLessIsFinishedForAll) {
  find_rounds();
  --rounds_;
  EXPECT_EQ(ticopd(words({"run", "run.toml", "--out", "alone", "--quiet"})).code, 0);
  EXPECT_EQ(ticopd(words({"compare", "set.toml", "--out", "compared", "--quiet"})).code, 0);
  const Outcome tuned = ticopd(words({"tune", "tune.toml", "--out", "tuned"}));
  EXPECT_EQ(tuned.code, 0) << tuned.err;
}

TEST_F(OneRuleOfDivergence, IsThatOfALevelWithoutALoss) {
  const Outcome o = ticopd({"run", "run.toml", "--out", "out", "--quiet", "--set", "log.level=rows",
                            "--set", "iterations=20000"});
  EXPECT_EQ(o.code, 76) << o.err;
}

class UnbiasedMethods : public Hostile, public ::testing::WithParamInterface<std::string> {
 protected:
  Arguments words(const std::string& codec, double eta, int iterations = 30) const {
    std::string algorithm = GetParam();
    if (algorithm == "lead") algorithm = "{name=\"lead\", eta=" + std::to_string(eta) + "}";
    return {"run",    "small.toml",
            "--out",  "out",
            "--set",  "codec=" + codec,
            "--set",  "algorithm=" + algorithm,
            "--set",  "iterations=" + std::to_string(iterations),
            "--quiet"};
  }
};

TEST_P(UnbiasedMethods, WarnBeforeRoundOneIfTheCodecIsBiased) {
  const Outcome biased = ticopd(words("{kind=\"qsgd\",bits=4,scaled=true}", 0.01));
  expect_says(biased.err, {"warning", "unbiased", "scaled = false"});
  fs::remove_all(folder_ / "out");
  const Outcome unbiased = ticopd(words("{kind=\"qsgd\",bits=4,scaled=false}", 0.01));
  expect_does_not_say(unbiased.err, {"unbiased"});
  fs::remove_all(folder_ / "out");
  const Outcome top = ticopd(words("{kind=\"top_k\",fraction=0.2}", 0.01));
  expect_says(top.err, {"warning", "unbiased"});
}

INSTANTIATE_TEST_SUITE_P(Of, UnbiasedMethods, ::testing::Values("lead"),
                         [](const auto& test) { return test.param; });

TEST_F(OneRuleOfDivergence, AdviceForAnUnbiasedMethodNamesTheCodec) {
  const Outcome o = ticopd({"run", "small.toml", "--out", "out", "--quiet", "--set",
                            "codec={kind=\"qsgd\",bits=1,scaled=true}", "--set",
                            "algorithm={name=\"lead\",eta=0.5,gamma=1,alpha=1}", "--set",
                            "problem.objective=least_squares", "--set", "iterations=20000"});
  if (o.code == 0) GTEST_SKIP() << "it does not diverge";
  EXPECT_EQ(o.code, 76) << o.err;
  const std::size_t at = o.err.find("diverged");
  ASSERT_NE(at, std::string::npos) << o.err;
  EXPECT_TRUE(contains(o.err.substr(at), "codec.scaled = false") ||
              contains(o.err.substr(at), "scaled = false"))
      << o.err;
}

// solve() of a program has the same rule.
struct Steep final : Objective<double> {
  int agents() const override { return 4; }
  std::size_t dimension() const override { return 2; }
  double value(int, std::span<const double> x) const override {
    return 0.5 * (x[0] * x[0] + x[1] * x[1]) + 1;
  }
  void gradient(int, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k];
  }
  void start(std::uint64_t, std::span<double> x) const override {
    for (double& v : x) v = 1;
  }
};

TEST(SolveDiverges, AtTheSameLossAsTheCommandLine) {
  ticopd::Setup<double> s{.graph = ring(4), .objective = std::make_shared<Steep>()};
  s.iterations = 200;
  s.watch.rounds = {};
  EXPECT_THROW(solve(DGD{.eta = 4.0}, s), Diverged);
  s.iterations = 3;
  EXPECT_NO_THROW(solve(DGD{.eta = 4.0}, s));
}

}  // namespace
}  // namespace ticopd
