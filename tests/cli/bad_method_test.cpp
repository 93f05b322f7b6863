// Incompatible step sizes, schedules, codecs, graphs and problems: rejected before data is read, or
// at least before anything is written.
#include "cli/wrong.hpp"

namespace ticopd {
namespace {

const std::string dgd = "[algorithm]\nname = \"dgd\"\neta = 0.1\n";
const std::string beer = "[algorithm]\nname = \"beer\"\neta = 0.1\ngamma = 0.3\n";

class BadStepSize : public Refused {};
TEST_P(BadStepSize, IsRejectedWithItsKey) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Method, BadStepSize,
    ::testing::Values(
        config("missing", "[algorithm]\nalpha = 0.1\ntheta = 0.1\n",
               {"algorithm.eta", "dual step size", "required"}),
        config("missing_for_beer", "[algorithm]\nname = \"beer\"\neta = 0.1\n",
               {"algorithm.gamma", "required for beer"}),
        config("of_another_method", beer + "theta = 1.0\n",
               {"algorithm.theta", "beer has no such parameter", "eta, gamma",
                "did you mean \"eta\"?"}),
        set("misspelt", {"algorithm.alfa=0.1"},
            {"algorithm.alfa", "alpha, theta, eta, beta, gamma", "did you mean \"alpha\"?"}),
        set("zero", {"algorithm.alpha=0"}, {"algorithm.alpha = 0", "above 0"}),
        set("negative", {"algorithm.eta=-0.1"}, {"algorithm.eta = -0.1", "above 0"}),
        set("nan", {"algorithm.alpha=nan"}, {"algorithm.alpha = nan", "finite number"}),
        set("infinite", {"algorithm.alpha=inf"}, {"algorithm.alpha = inf", "finite number"}),
        set("a_word", {"algorithm.alpha=NaN"}, {"algorithm.alpha = \"NaN\"", "number", "schedule"}),
        set("a_flag", {"algorithm.alpha=true"}, {"algorithm.alpha = true", "number", "schedule"}),
        set("number_for_a_flag", {"algorithm.warm_start=1"},
            {"algorithm.warm_start = 1", "true and false"}),
        set("gain_above_one", {"algorithm.gamma=1.5"},
            {"algorithm.gamma = 1.5", "above 0, at most 1"}),
        set("beta_underivable", {"algorithm.alpha=5"},
            {"alpha theta lambda_max", "6", "lower algorithm.alpha or algorithm.theta",
             "algorithm.beta"}),
        set("schedule_unknown", {R"(algorithm.alpha={schedule="inverse_sqr", c=1, t0=1})"},
            {"algorithm.alpha.schedule = \"inverse_sqr\"", "constant", "step",
             "did you mean \"inverse_sqrt\"?"}),
        set("schedule_incomplete", {R"(algorithm.alpha={schedule="step", c=1, factor=0.5})"},
            {"algorithm.alpha.every", "\"step\"", "at least 1"}),
        set("schedule_with_more", {R"(algorithm.alpha={schedule="inverse", c=1, t0=1, every=3})"},
            {"algorithm.alpha", "\"every\"", "schedule, c, t0"}),
        set("schedule_of_a_word", {R"(algorithm.alpha={schedule="inverse", c="1", t0=1})"},
            {"algorithm.alpha.c", "number of at least 0"}),
        set("schedule_infinite", {R"(algorithm.alpha={schedule="constant", c=inf})"},
            {"algorithm.alpha.c", "number"}),
        set("table_without_schedule", {"algorithm.alpha={c=1}"},
            {"algorithm.alpha = {\"c\":1", "schedule"}),
        set("schedule_of_zero", {R"(algorithm.alpha={schedule="inverse", c=0, t0=1})"},
            {"algorithm.alpha = 0", "above 0"})),
    name_of);

class BadCodec : public Refused {};
TEST_P(BadCodec, IsRejectedWithItsKey) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Method, BadCodec,
    ::testing::Values(config("lossy_with_dgd", dgd + "[codec]\nkind = \"qsgd\"\n",
                             {"codec.kind = \"qsgd\"", "dgd", "identity", "choco_sgd",
                              "dgd_quantized"}),
                      set("no_bits", {"codec.bits=0"}, {"codec.bits = 0", "from 1 to 16"}),
                      set("too_many_bits", {"codec.bits=17"}, {"codec.bits = 17", "from 1 to 16"}),
                      set("negative_bucket", {"codec.bucket=-1"}, {"codec.bucket = -1", "from 0"}),
                      set("top_k_of_nothing", {"codec.kind=top_k"},
                          {"codec.k or codec.fraction", "top_k needs one"}),
                      set("rand_k_of_nothing", {"codec.kind=rand_k"},
                          {"codec.k or codec.fraction", "rand_k needs one"}),
                      set("k_and_fraction", {"codec.kind=top_k", "codec.k=3", "codec.fraction=0.5"},
                          {"codec.k = 3", "codec.fraction = 0.5", "not both"}),
                      set("fraction_above_one", {"codec.kind=top_k", "codec.fraction=1.5"},
                          {"codec.fraction = 1.5", "at most 1"}),
                      set("fraction_zero", {"codec.kind=top_k", "codec.fraction=0"},
                          {"codec.fraction = 0", "above 0"}),
                      set("k_zero", {"codec.kind=top_k", "codec.k=0"}, {"codec.k = 0", "from 1"})),
    name_of);

class BadGraph : public Refused {};
TEST_P(BadGraph, IsRejectedWithItsKey) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Method, BadGraph,
    ::testing::Values(
        set("hypercube_of_ten", {"graph.kind=hypercube", "graph.agents=10"},
            {"graph.agents = 10", "power of two", "8 and 16"}),
        set("torus_rows", {"graph.kind=torus", "graph.rows=3"},
            {"graph.rows = 3", "divide graph.agents = 4"}),
        set("grid_rows", {"graph.kind=grid", "graph.agents=10", "graph.rows=4"},
            {"graph.rows = 4", "graph.agents = 10"}),
        set("file_without_path", {"graph.kind=file"}, {"graph.path", "graph.kind = \"file\""}),
        set("more_ranks_than_agents", {"network.transport=threads", "network.ranks=5"},
            {"network.ranks = 5", "at most 4", "agents"})),
    name_of);

class BadProblem : public Refused {};
TEST_P(BadProblem, IsRejectedWithItsKey) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Method, BadProblem,
    ::testing::Values(
        set("an_agent_without_a_class", {"problem.partition=label", "graph.agents=5"},
            {"problem.partition = \"label\"", "agent 4", "4 classes over 5 agents", "iid"}),
        set("more_agents_than_samples", {"graph.agents=300"},
            {"graph.agents = 300", "200 samples", "each agent"}),
        set("logistic_on_ten_classes", {"problem.objective=logistic", "problem.classes=10"},
            {"problem.objective = \"logistic\"", "exactly 2 classes", "10", "softmax"}),
        set("label_split_of_a_regression",
            {"problem.objective=least_squares", "problem.partition=label"},
            {"problem.partition = \"label\"", "targets", "sorted, iid"}),
        set("test_file_for_synthetic", {"problem.test=more.csv"},
            {"problem.test = \"more.csv\"", "does not use it", "csv"}),
        set("something_after_synthetic", {"problem.data=synthetic:5"},
            {"problem.data = \"synthetic:5\""})),
    name_of);

}  // namespace
}  // namespace ticopd
