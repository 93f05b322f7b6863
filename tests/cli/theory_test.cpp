// `ticopd theory`, and log.lyapunov in a run.
#include <cmath>

#include "cli/wrong.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

class Theory : public CommandLine {
 protected:
  json theory(const Arguments& more = {}) const {
    Arguments all{"theory", "small.toml", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome o = ticopd(all);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    return json::parse(o.out, nullptr, false);
  }
};

TEST_F(Theory, PrintsTheTheoremNextToTheConfigAndWritesNoFiles) {
  const auto before = snapshot();
  const Outcome o = ticopd({"theory", "small.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  for (const char* part :
       {"4 agents on a ring, d = 28", "rho_1 = M", "rho_2", "delta, bound", "delta, measured",
        "L, at least", "Lower bounds", "a = 1", "theta_lb", "alpha_ub", "delta~", "delta_1",
        "delta_2", "F_0", "times off", "alpha theta lambda_max", "holds", "what binds"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << " is not in: " << o.out;
  EXPECT_EQ(snapshot(), before);
}

TEST_F(Theory, JsonHasTheSameNumbers) {
  const json j = theory();
  EXPECT_EQ(j["agents"], 4);
  EXPECT_EQ(j["dimension"], 28);
  EXPECT_NEAR(j["graph"]["rho_1"].get<double>(), 4, 1e-12);
  EXPECT_NEAR(j["graph"]["rho_2"].get<double>(), 2, 1e-12);
  const double delta = j["codec"]["delta_bound"], measured = j["codec"]["measured"]["delta"];
  EXPECT_GT(delta, 0);
  EXPECT_GE(measured, delta);
  EXPECT_EQ(j["codec"]["measured"]["messages"], 4 * 30) << "as many rounds as the run has";
  EXPECT_EQ(j["smoothness"]["samples_used"], j["smoothness"]["samples"]);
  EXPECT_EQ(j["smoothness"]["points"].size(), 3u);
  const double L = j["smoothness"]["L"];
  EXPECT_GT(L, 0);
  EXPECT_LE(j["smoothness"]["L_of_f"].get<double>(), L);
  const json& t = j["theorem"];
  EXPECT_EQ(t["delta"], delta);
  EXPECT_NEAR(t["delta_2"].get<double>(), std::max(1.0, 16 * 0.03 / delta), 1e-12);
  EXPECT_NEAR(t["theta_factor"].get<double>(), t["theta_lb"].get<double>() / 0.3, 1e-6);
  EXPECT_NEAR(t["alpha_factor"].get<double>() * t["alpha_ub"].get<double>(), 0.3, 1e-9);
  EXPECT_NEAR(t["rounds"].get<double>() * t["alpha_ub"].get<double>() * 1e-3 / 16,
              t["F_0"].get<double>(), 1e-9);
  EXPECT_EQ(j["theorem_measured"]["delta"], measured);
  ASSERT_GE(j["limits"].size(), 3u);
  EXPECT_NEAR(j["limits"][0]["value"].get<double>(), 0.3 * 0.3 * 4, 1e-9);
  EXPECT_EQ(j["limits"][0]["holds"], true);
}

TEST_F(Theory, AcceptsTheFreeConstantAndOverrides) {
  const json one = theory(), small = theory({"--a", "1e-9"});
  EXPECT_EQ(small["theorem"]["a"], 1e-9);
  EXPECT_GT(small["theorem"]["theta_lb"], one["theorem"]["theta_lb"]);
  const json few = theory({"--rounds", "5", "--set", "codec.bits=2"});
  EXPECT_EQ(few["codec"]["measured"]["rounds"], 5);
  EXPECT_LT(few["codec"]["delta_bound"], one["codec"]["delta_bound"]);
}

TEST_F(Theory, DoesNotDependOnTheNumberOfThreads) {
  EXPECT_EQ(theory({"--threads", "1"}), theory({"--threads", "3"}));
}

TEST_F(Theory, AnotherMethodGetsOnlyGraphCodecAndSmoothness) {
  write("other.toml", small_problem.substr(0, small_problem.find("[algorithm]")) +
                          "[algorithm]\nname = \"choco_sgd\"\neta = 0.1\ngamma = 0.3\n");
  const Outcome text = ticopd({"theory", "other.toml"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("Theorem 1 is TiCoPD's"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("theta_lb"), std::string::npos);
  const json j = json::parse(ticopd({"theory", "other.toml", "--json"}).out);
  EXPECT_TRUE(j["theorem"].is_null());
  EXPECT_GT(j["smoothness"]["L"], 0);
  EXPECT_GT(j["codec"]["delta_bound"], 0);
  EXPECT_GT(j["codec"]["measured"]["messages"], 0);
}

TEST_F(Theory, CodecThatDoesNotContractNeedsGamma) {
  const Arguments unscaled{"--set", "codec.scaled=false", "--set", "codec.bits=1"};
  Arguments all{"theory", "small.toml"};
  all.insert(all.end(), unscaled.begin(), unscaled.end());
  const Outcome o = ticopd(all);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("does not apply"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("algorithm.gamma"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("violated"), std::string::npos) << o.out;
  Arguments averaged = unscaled;
  averaged.insert(averaged.end(), {"--set", "algorithm.gamma=0.1"});
  const json j = theory(averaged);
  EXPECT_FALSE(j["theorem"].is_null()) << "gamma Q is a compressor that contracts";
}

TEST_F(Theory, TimeVaryingLinksHaveNoTheorem) {
  const json j = theory({"--set", "graph.drop=0.3"});
  EXPECT_TRUE(j["theorem"].is_null());
  EXPECT_NE(j["why_not"].get<std::string>().find("one graph"), std::string::npos);
}

TEST_F(Theory, LyapunovAddsOneColumnAtTheEnd) {
  run("plain");
  run("logged", {"--set", "log.lyapunov=true"});
  const auto header = [&](const std::string& name) {
    return lines_of(read_text(folder_ / name / "metrics.csv")).front();
  };
  EXPECT_EQ(header("logged"), header("plain") + ",lyapunov");
  EXPECT_EQ(summary("logged")["digest"], summary("plain")["digest"]);
  const std::vector<std::string> lines = lines_of(read_text(folder_ / "logged" / "metrics.csv"));
  ASSERT_GT(lines.size(), 5u);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const double F = std::stod(lines[i].substr(lines[i].rfind(',') + 1));
    EXPECT_TRUE(std::isfinite(F)) << lines[i];
    EXPECT_GT(F, 0) << lines[i];
  }
  const Outcome report = ticopd({"report", "one=logged", "two=plain", "--out", "page"});
  EXPECT_EQ(report.code, 0) << report.err;
  const Outcome again = ticopd({"verify", "logged"});
  EXPECT_EQ(again.code, 0) << again.err;
}

class WrongTheory : public Refused {};

TEST_P(WrongTheory, BadArgumentsAreRejected) {
  expect_refusal();
}

const std::string on = "log.lyapunov=true";

INSTANTIATE_TEST_SUITE_P(
    , WrongTheory,
    ::testing::Values(
        Wrong{"no_file", {"theory"}, 64, {"FILE"}},
        Wrong{"a_file_that_is_not_there", {"theory", "nowhere.toml"}, 78, {"nowhere.toml"}},
        Wrong{"a_zero_a", {"theory", "small.toml", "--a", "0"}, 64, {"--a"}},
        Wrong{"no_rounds", {"theory", "small.toml", "--rounds", "0"}, 64, {"--rounds"}},
        Wrong{"a_misspelt_option",
              {"theory", "small.toml", "--round", "5"},
              64,
              {"--round", "did you mean \"--rounds\""}},
        Wrong{"an_unknown_key",
              {"theory", "small.toml", "--set", "algorithm.aplha=1"},
              78,
              {"algorithm.aplha"}},
        set("lyapunov_that_is_no_flag", {"log.lyapunov=1"}, {"log.lyapunov", "true and false"}),
        set("lyapunov_of_ranks", {on, "network.transport=threads"},
            {"log.lyapunov", "network.transport = \"none\"", "threads"}),
        set("lyapunov_of_schedules",
            {on, "algorithm.alpha={ schedule = \"inverse\", c = 1.0, t0 = 10 }"},
            {"log.lyapunov", "constant step sizes"}),
        set("lyapunov_without_a_contraction", {on, "codec.scaled=false", "codec.bits=1"},
            {"log.lyapunov", "does not contract", "algorithm.gamma = 1"}),
        set("lyapunov_of_changing_links", {on, "graph.drop=0.3"}, {"log.lyapunov", "one graph"}),
        config("lyapunov_of_another_method",
               "[log]\nlyapunov = true\n[algorithm]\nname = \"dgd\"\neta = 0.1\n",
               {"log.lyapunov", "algorithm.name = \"ticopd\"", "dgd"})),
    name_of);

}  // namespace
}  // namespace ticopd
