// Wrong command lines, and output paths that cannot be written.
#include "cli/wrong.hpp"

namespace ticopd {
namespace {

Wrong typed(std::string name, Arguments arguments, std::vector<std::string> says, int code = 64) {
  return {std::move(name), std::move(arguments), code, std::move(says)};
}

class BadArgument : public Refused {};
TEST_P(BadArgument, IsRejectedWithAReason) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Usage, BadArgument,
    ::testing::Values(
        typed("nothing", {}, {"required", "--help"}),
        typed("command", {"rnu", "small.toml"},
              {"rnu: no such command", "run, compare, tune, report, watch, list, theory, verify",
               "did you mean \"run\"?"}),
        typed("data_command", {"data", "fech", "mnist"},
              {"fech: no such command", "did you mean \"fetch\"?"}),
        typed("data_set", {"data", "fetch", "cifar"}, {"cifar", "mnist"}),
        typed("flag_of_the_program", {"--vresion"}, {"--vresion", "did you mean \"--version\"?"}),
        typed("flag_of_a_command", {"run", "small.toml", "--treads", "2"},
              {"--treads", "did you mean \"--threads\"?"}),
        typed("two_files", {"run", "small.toml", "more.toml"}, {"more.toml", "not expected"}),
        typed("no_file", {"run"}, {"FILE", "required"}),
        typed("no_folder", {"verify"}, {"DIR", "required"}),
        typed("list", {"list", "algorithm"}, {"algorithm", "algorithms", "codecs", "kernels"}),
        typed("list_codec", {"list", "codec"}, {"WHAT: codec: ", "did you mean \"codecs\"?"}),
        typed("data_set_misspelt", {"data", "fetch", "minst"},
              {"NAME: minst: ", "did you mean \"mnist\"?"}),
        typed("no_threads", {"run", "small.toml", "--threads", "0"},
              {"--threads", "0", "1 to 4096"}),
        typed("a_of_zero", {"theory", "small.toml", "--a", "0"},
              {"--a: 0: allowed is a number above 0; see --help"}),
        typed("a_of_nan", {"theory", "small.toml", "--a", "nan"}, {"--a: nan", "above 0"}),
        typed("budget_of_nan", {"tune", "small.toml", "--out", "out", "--budget-bits", "nan"},
              {"--budget-bits: nan", "above 0"}),
        typed("endless_budget", {"tune", "small.toml", "--out", "out", "--budget-bits", "inf"},
              {"--budget-bits: inf", "above 0"}),
        typed("no_rounds", {"tune", "small.toml", "--out", "out", "--budget-iterations", "0"},
              {"--budget-iterations", "1 to 4294967295"}),
        typed("threads_of_a_word", {"run", "small.toml", "--threads", "two"}, {"--threads", "two"}),
        typed("device", {"run", "small.toml", "--device", "gpu"}, {"--device", "gpu", "cpu,cuda"}),
        typed("set_alone", {"run", "small.toml", "--set"}, {"--set", "KEY=VALUE"}),
        set("set_empty", {""}, {"--set", "key=value"}, 64),
        set("set_without_equals", {"graph.agents"}, {"--set graph.agents", "key=value"}, 64),
        set("set_without_key", {"=3"}, {"--set =3", "key=value"}, 64),
        set("set_without_a_name", {"graph..agents=3"}, {"--set graph..agents=3", "key=value"}, 64),
        set("set_unknown_key", {"graph.agent=3"},
            {"graph.agent:", "did you mean \"graph.agents\"?"}, 78),
        typed("resume_of_nothing", {"run", "small.toml", "--resume"}, {"--resume", "--out DIR"})),
    name_of);

class BadPlace : public Refused {};
TEST_P(BadPlace, OutputPathIsRejectedByName) {
  expect_refusal();
}

INSTANTIATE_TEST_SUITE_P(
    Usage, BadPlace,
    ::testing::Values(
        Wrong{"out_is_a_file",
              {"run", "small.toml", "--out", "taken"},
              64,
              {"--out taken", "is a file"},
              {{"taken", "mine"}}},
        Wrong{"out_is_not_empty",
              {"run", "small.toml", "--out", "taken"},
              64,
              {"--out taken", "not empty", "--resume"},
              {{"taken/notes.txt", "mine"}}},
        Wrong{"out_below_a_file",
              {"run", "small.toml", "--out", "taken/run"},
              74,
              {"taken/run", "cannot be created"},
              {{"taken", "mine"}}},
        Wrong{"verify_no_folder", {"verify", "none"}, 65, {"none/run.json", "cannot be read"}},
        Wrong{"verify_no_run",
              {"verify", "empty"},
              65,
              {"empty/run.json", "cannot be read"},
              {{"empty/", ""}}},
        Wrong{"verify_no_json",
              {"verify", "run"},
              65,
              {"run/run.json", "not a run summary"},
              {{"run/run.json", "{\"config\": "}}},
        Wrong{"verify_other_json",
              {"verify", "run"},
              65,
              {"run/run.json", "not a run summary", "\"config\""},
              {{"run/run.json",
                "{\"config\": 3, \"status\": \"finished\", \"digest\": \"\", \"config_folder\": "
                "\".\"}"}}}),
    name_of);

class Unavailable : public Refused {};
TEST_P(Unavailable, MissingDeviceOrDataIsReportedBeforeAnythingIsWritten) {
  expect_refusal();
}

// CUDA_VISIBLE_DEVICES hides the GPU on machines that have one.
Wrong no_gpu(const std::string& command) {
  return {"cuda_" + command,
          {command, "small.toml", "--device", "cuda"},
          69,
          {"--device cuda", "--device cpu"},
          {},
          {{"CUDA_VISIBLE_DEVICES", ""}}};
}

INSTANTIATE_TEST_SUITE_P(Usage, Unavailable,
                         ::testing::Values(no_gpu("run"), no_gpu("compare"), no_gpu("tune"),
                                           Wrong{"offline_run",
                                                 {"run", "small.toml", "--offline", "--set",
                                                  "problem.data=mnist"},
                                                 69,
                                                 {"MNIST", "/dev/null/ticopd/mnist", "--offline",
                                                  "ticopd data fetch mnist"},
                                                 {},
                                                 {{"XDG_CACHE_HOME", "/dev/null"}}},
                                           Wrong{"offline_fetch",
                                                 {"data", "fetch", "mnist", "--offline"},
                                                 69,
                                                 {"MNIST", "--offline"},
                                                 {},
                                                 {{"XDG_CACHE_HOME", "/dev/null"}}}),
                         name_of);

}  // namespace
}  // namespace ticopd
