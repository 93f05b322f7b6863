// Wrong keys, types, numbers, words and TOML: exit code 78 and a message that names the key, what
// was given, what is allowed and the word that was probably meant.
#include "cli/wrong.hpp"

namespace ticopd {
namespace {

class BadKey : public Refused {};
TEST_P(BadKey, IsRejectedByNameAndLeavesNoFiles) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Config, BadKey,
    ::testing::Values(
        set("unknown_at_top", {"iteration=5"},
            {"iteration:", "no such key", "did you mean \"iterations\"?"}),
        set("misspelt_in_a_table", {"graph.agnets=4"},
            {"graph.agnets:", "did you mean \"graph.agents\"?"}),
        set("in_the_wrong_table", {"graph.bits=4"},
            {"graph.bits:", "did you mean \"codec.bits\"?"}),
        set("missing_its_table", {"alpha=0.1"}, {"alpha:", "did you mean \"algorithm.alpha\"?"}),
        set("like_nothing", {"zzzzzzzzzz=1"}, {"zzzzzzzzzz:", "no such key"}),
        set("unknown_table", {"grahp.agents=4"},
            {"grahp:", "no such key", "did you mean \"graph\"?"}),
        set("unknown_table_of_a_gpu", {"cudaa.tf32=true"}, {"did you mean \"cuda"}),
        set("table_as_value", {"graph=3"}, {"graph = 3", "[graph]"}),
        set("algorithm_as_value", {"algorithm=3"}, {"algorithm = 3", "[algorithm]"}),
        set("value_as_table", {"graph.agents.most=3"}, {"graph.agents is not a table"}),
        config("top_level_in_the_file", "sed = 3\n", {"sed:", "did you mean \"seed\"?"}),
        config("table_in_the_file", "[codec]\nbit = 3\n",
               {"codec.bit:", "did you mean \"codec.bits\"?"})),
    name_of);

class BadValue : public Refused {};
TEST_P(BadValue, IsRejectedWithTheAllowedValues) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Config, BadValue,
    ::testing::Values(
        set("word_for_a_number", {"graph.agents=ten"},
            {"graph.agents = \"ten\"", "whole number from 1"}),
        set("nothing_for_a_number", {"graph.agents="},
            {"graph.agents = \"\"", "whole number from 1"}),
        set("fraction_for_a_count", {"iterations=1.5"},
            {"iterations = 1.5", "whole number from 1"}),
        set("no_iterations", {"iterations=0"},
            {"iterations = 0", "whole number from 1 to 4294967295"}),
        set("too_many_iterations", {"iterations=4294967296"},
            {"iterations = 4294967296", "to 4294967295"}),
        set("negative_seed", {"seed=-1"}, {"seed = -1", "whole number from 0"}),
        set("no_agents", {"graph.agents=0"}, {"graph.agents = 0", "from 1"}),
        set("number_for_a_flag", {"problem.normalize=1"},
            {"problem.normalize = 1", "true and false"}),
        set("number_for_a_word", {"graph.kind=3"}, {"graph.kind = \"3\"", "ring", "torus"}),
        set("number_for_a_name", {"problem.data=3"}, {"problem.data = 3", "string"}),
        set("list_wanted", {"problem.hidden=30"},
            {"problem.hidden = 30", "list of layer sizes", "[100]"}),
        set("empty_layer", {"problem.hidden=[10, 0]"},
            {"problem.hidden = [10,0]", "list of layer sizes"}),
        set("empty_batch", {"problem.batch=0"}, {"problem.batch = 0", "\"full\"", "whole number"}),
        set("word_for_a_batch", {"problem.batch=al"}, {"problem.batch = \"al\"", "\"full\""}),
        set("negative_l2", {"problem.l2=-1e-3"}, {"problem.l2 = -0.001", "from 0 up"}),
        set("nan_for_a_number", {"problem.l2=nan"}, {"problem.l2 = nan", "from 0 up"}),
        set("probability_above_one", {"graph.p=1.5"}, {"graph.p = 1.5", "above 0, at most 1"}),
        set("one_class", {"problem.classes=1"}, {"problem.classes = 1", "from 2"}),
        set("no_log_points", {"log.points=0"}, {"log.points = 0", "from 1"}),
        set("no_deadline", {"network.deadline_s=0"}, {"network.deadline_s = 0", "above 0"}),
        set("deadline_of_centuries", {"network.deadline_s=1e11"},
            {"network.deadline_s = 100000000000", "at most 31536000"}),
        set("date_in_an_assignment", {"seed=1979-05-27"}, {"--set seed", "dates and times"}),
        set("every_link_dropped", {"graph.drop=1"}, {"graph.drop = 1", "from 0 to 0.99"}),
        config("server_without_all_its_links",
               "[graph]\nkind = \"star\"\ndrop = 0.1\n[algorithm]\nname = \"qsparse_local_sgd\"\n"
               "eta = 0.1\n",
               {"graph.drop", "qsparse_local_sgd needs all of its links"}),
        config("server_without_a_centre", "[algorithm]\nname = \"qsparse_local_sgd\"\neta = 0.1\n",
               {"graph.kind", "agent 0", "star", "has 2 of 9"}),
        set("word_of_no_choice", {"algorithm.name=local_sgd", "algorithm.average=stra"},
            {"algorithm.average = \"stra\"", "mixing, star", "did you mean \"star\"?"}),
        config("fraction_of_a_period",
               "[algorithm]\nname = \"local_sgd\"\neta = 0.1\nperiod = 1.5\n",
               {"algorithm.period = 1.5", "a whole number from 1"}),
        config("schedule_of_a_period",
               "[algorithm]\nname = \"local_sgd\"\neta = 0.1\n"
               "period = { schedule = \"step\", c = 4, factor = 0.5, every = 10 }\n",
               {"algorithm.period", "one number, and no schedule"}),
        set("drop_of_the_only_edge", {"graph.kind=random_edge", "graph.drop=0.1", "graph.agents=4"},
            {"graph.drop = 0.1", "random_edge"}),
        set("codec_beside_its_own", {"algorithm.name=magnusson"},
            {"codec.kind", "magnusson brings a codec of its own"}),
        set("coding_without_symbols", {"codec.kind=identity", "codec.coding=entropy"},
            {"codec.coding = \"entropy\"", "codec.kind = \"identity\" does not use it", "qsgd"}),
        set("noise_without_a_scale", {"network.noise=gaussian"},
            {"network.noise = \"gaussian\"", "network.noise_scale = 0"}),
        set("unknown_noise", {"network.noise=loud"},
            {"network.noise = \"loud\"", "none, uniform, gaussian"})),
    name_of);

class UnknownWord : public Refused {};
TEST_P(UnknownWord, IsRejectedWithTheAllowedWordsAndTheNearestOne) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Config, UnknownWord,
    ::testing::Values(
        set("objective", {"problem.objective=sofmax"},
            {"problem.objective = \"sofmax\"", "mlp", "least_squares",
             "did you mean \"softmax\"?"}),
        set("graph", {"graph.kind=rign"},
            {"graph.kind = \"rign\"", "hypercube", "did you mean \"ring\"?"}),
        set("codec", {"codec.kind=qsdg"},
            {"codec.kind = \"qsdg\"", "rand_k", "did you mean \"qsgd\"?"}),
        set("algorithm", {"algorithm.name=choco"},
            {"algorithm.name = \"choco\"", "choco_sgd", "beer"}),
        set("partition", {"problem.partition=dirichlit"},
            {"problem.partition = \"dirichlit\"", "label, sorted, iid, dirichlet",
             "did you mean \"dirichlet\"?"}),
        set("activation", {"problem.activation=sigmod"},
            {"problem.activation = \"sigmod\"", "tanh, relu", "did you mean \"sigmoid\"?"}),
        set("precision", {"precision=duoble"},
            {"precision = \"duoble\"", "float, double", "did you mean \"double\"?"}),
        set("transport", {"network.transport=thread"},
            {"network.transport = \"thread\"", "none, threads", "did you mean \"threads\"?"}),
        set("weights", {"graph.weights=metropolys"},
            {"graph.weights = \"metropolys\"", "lazy_metropolis", "did you mean \"metropolis\"?"}),
        set("weighting", {"problem.weighting=agents"},
            {"problem.weighting = \"agents\"", "agent, sample", "did you mean \"agent\"?"}),
        set("init", {"problem.init=zeros"},
            {"problem.init = \"zeros\"", "torch, zero", "did you mean \"zero\"?"}),
        set("data", {"problem.data=minst"},
            {"problem.data = \"minst\"", "csv:FILE", "did you mean \"mnist\"?"}),
        set("data_without_its_place", {"problem.data=csv"},
            {"problem.data = \"csv\"", "csv:FILE"})),
    name_of);

class BadToml : public Refused {};
TEST_P(BadToml, IsRejectedWithFileAndLine) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Config, BadToml,
    ::testing::Values(
        config("syntax", "seed = 1\niterations = [1\nname = 2\n", {"wrong.toml:3:1:"}),
        config("duplicate_key", "seed = 1\nseed = 2\n", {"wrong.toml:2:", "seed"}),
        config("duplicate_table", "[graph]\nagents = 4\n[graph]\n", {"wrong.toml:3:", "graph"}),
        config("date", "seed = 1\nname = 1979-05-27\n", {"wrong.toml:2:", "dates and times"}),
        config("not_text", std::string("\xff\xfe\x00\x01", 4), {"wrong.toml:1:1:"}),
        config("empty", "", {"algorithm.alpha", "required", "ticopd"}),
        Wrong{"missing",
              {"run", "none.toml", "--out", "out"},
              78,
              {"none.toml", "cannot be read", "TOML file"}},
        Wrong{"folder",
              {"run", "configs", "--out", "out"},
              78,
              {"configs", "is a folder", "TOML file"},
              {{"configs/", ""}}}),
    name_of);

// Unless the unchanged config runs, the rejections above prove nothing.
TEST_F(CommandLine, RunsTheUnspoiltConfig) {
  const Outcome o = ticopd({"run", "small.toml", "--out", "out"});
  EXPECT_EQ(o.code, 0) << o.err;
}

// A repeatable option takes one value each time, so the next argument is the file or the folder.
TEST_F(CommandLine, AcceptsTheFileAfterARepeatableOption) {
  const Outcome run = ticopd({"run", "--out", "out", "--set", "iterations=3", "small.toml"});
  EXPECT_EQ(run.code, 0) << run.err;
  const Outcome report = ticopd({"report", "--target", "loss_max=1", "out"});
  EXPECT_EQ(report.code, 0) << report.err;
}

}  // namespace
}  // namespace ticopd
