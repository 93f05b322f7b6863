// The texts that commands print to standard output and standard error: summaries for people and for
// scripts, help, warnings.
#include "cli/program.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

class Output : public CommandLine {};

TEST_F(Output, HelpOfEveryCommandHasAnExample) {
  for (const Arguments& command : std::vector<Arguments>{
           {}, {"run"}, {"list"}, {"theory"}, {"verify"}, {"data"}, {"data", "fetch"}, {"demo"}}) {
    Arguments all = command;
    all.push_back("--help");
    const Outcome o = ticopd(all);
    const std::string name = command.empty() ? "ticopd" : command.back();
    EXPECT_EQ(o.code, 0) << name;
    EXPECT_NE(o.out.find("Example"), std::string::npos) << name << ": " << o.out;
    EXPECT_EQ(o.err, "") << name;
  }
}

// Runs the program with this file descriptor as standard output; returns exit code and messages.
Outcome printed_to(int output, const Arguments& arguments) {
  std::FILE* err = std::tmpfile();
  std::string binary = places::binary();
  std::vector<char*> argv{binary.data()};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(fileno(err), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Outcome o{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), "", ""};
  std::rewind(err);
  for (int c; (c = std::fgetc(err)) != EOF;) o.err += static_cast<char>(c);
  std::fclose(err);
  return o;
}

const std::vector<Arguments> short_and_long{{"list", "objectives"}, {"list", "--json"}, {"--help"}};

TEST_F(Output, FullDiskIsReportedInOneLine) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "no /dev/full";
  for (const Arguments& arguments : short_and_long) {
    const Outcome o = printed_to(full, arguments);
    EXPECT_EQ(o.code, 74) << arguments.back() << o.err;
    EXPECT_EQ(lines_of(o.err).size(), 1u) << o.err;
    EXPECT_NE(o.err.find("standard output: cannot be written: No space"), std::string::npos)
        << o.err;
  }
  ::close(full);
}

TEST_F(Output, ClosedPipeEndsTheProgramSilently) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  for (const Arguments& arguments : short_and_long) {
    const Outcome o = printed_to(ends[1], arguments);
    EXPECT_EQ(o.code, 74) << arguments.back();
    EXPECT_EQ(o.err, "");
  }
  ::close(ends[1]);
}

TEST_F(Output, FullStandardErrorDoesNotEndTheRun) {
  const std::string command = "cd " + folder_.string() + " && " + places::binary() +
                              " run small.toml --out out --set algorithm.alpha=1 --set "
                              "algorithm.beta=0.5 > out.txt 2> /dev/full";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(summary("out")["status"], "finished");
}

TEST_F(Output, VersionIsOneLine) {
  const Outcome o = ticopd({"--version"});
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(o.out.starts_with("ticopd ")) << o.out;
  EXPECT_EQ(lines_of(o.out).size(), 1u);
}

TEST_F(Output, ListNamesEveryEntry) {
  const std::map<std::string, std::vector<std::string>> lists = {
      {"algorithms",
       {"ticopd", "choco_sgd", "cp_sgd", "def_atc", "beer", "dgd", "extra", "gradient_tracking",
        "primal_dual", "prox_gpda", "prox_pda_perturbed", "nids", "lead", "dgd_quantized"}},
      {"codecs", {"identity", "qsgd", "top_k", "rand_k", "sign"}},
      {"graphs",
       {"ring", "path", "star", "complete", "grid", "torus", "hypercube", "exponential",
        "erdos_renyi", "geometric", "file"}},
      {"objectives", {"mlp", "softmax", "logistic", "nonconvex_logistic", "least_squares"}},
      {"datasets", {"mnist", "idx:DIR", "libsvm:FILE", "csv:FILE", "npy:DIR", "synthetic"}},
      {"kernels", {}}};
  const json all = json::parse(ticopd({"list", "--json"}).out);
  for (const auto& [what, names] : lists) {
    const Outcome text = ticopd({"list", what}), machine = ticopd({"list", what, "--json"});
    EXPECT_EQ(text.code, 0);
    const json list = json::parse(machine.out);
    EXPECT_EQ(all[what], list);
    ASSERT_FALSE(list.empty()) << what;
    for (const std::string& name : names) {
      EXPECT_NE(text.out.find("  " + name + " "), std::string::npos)
          << name << " is not in: " << text.out;
      EXPECT_TRUE(std::any_of(list.begin(), list.end(), [&](const json& e) {
        return e["name"] == name;
      })) << name;
    }
  }
  EXPECT_NE(ticopd({"list"}).out.find("algorithms\n"), std::string::npos);
  EXPECT_NE(ticopd({"list", "algorithms"}).out.find("form = \""), std::string::npos);
}

TEST_F(Output, JsonSummaryEqualsRunJson) {
  const Outcome o = ticopd({"run", "small.toml", "--out", "out", "--json"});
  EXPECT_EQ(json::parse(o.out), summary("out"));
  const json verdict = json::parse(ticopd({"verify", "out", "--json"}).out);
  EXPECT_EQ(verdict["same"], true);
  EXPECT_EQ(verdict["digest"], summary("out")["digest"]);
}

TEST_F(Output, HasNoEscapeCodesAndNoProgressWithoutATerminal) {
  const Outcome o = ticopd({"run", "small.toml", "--out", "out"});
  EXPECT_EQ(o.err, "");
  EXPECT_EQ(o.out.find('\033'), std::string::npos);
  EXPECT_EQ(o.out.find('\r'), std::string::npos);
  EXPECT_NE(o.out.find("finished after 30 rounds"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("worst accuracy"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find(summary("out")["digest"].get<std::string>()), std::string::npos) << o.out;
}

TEST_F(Output, QuietStillPrintsStepSizeWarnings) {
  Arguments bold{"run",   "small.toml",        "--out", "out",
                 "--set", "algorithm.alpha=1", "--set", "algorithm.beta=0.5"};
  const Outcome said = ticopd(bold);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.err.find("warning: "), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("lambda_max"), std::string::npos) << said.err;
  std::filesystem::remove_all(folder_ / "out");
  bold.push_back("--quiet");
  EXPECT_EQ(ticopd(bold).err, said.err);
  bold[0] = "compare";
  bold[3] = "all";
  const Outcome compared = ticopd(bold);
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_NE(compared.err.find("small: warning: "), std::string::npos) << compared.err;
}

TEST_F(Output, DemoDoesNotSuggestOptionsItDoesNotHave) {
  write("taken/dgd/metrics.csv", "mine");
  const Outcome o = ticopd({"demo", "--offline", "--out", "taken"});
  EXPECT_EQ(o.code, 64) << o.err;
  EXPECT_NE(o.err.find("taken: is not empty; give a new folder"), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("--resume"), std::string::npos) << o.err;
}

TEST_F(Output, DemoRunsWithoutMnistAndPrintsItsTable) {
  std::filesystem::create_directory(folder_ / "cache");
  const Outcome o =
      ticopd({"demo", "--offline", "--set", "iterations=3", "--set", "problem.samples=600"},
             {{"XDG_CACHE_HOME", (folder_ / "cache").string()}});
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* part :
       {"MNIST is not available", "digit-like images drawn in code", "worst accuracy",
        "consensus error", "Mbit", "TiCoPD", "CHOCO-SGD", "DGD"})
    EXPECT_NE(o.out.find(part), std::string::npos) << "`" << part << "` is not in: " << o.out;
  EXPECT_EQ(o.out.find('\033'), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "cache"));
}

// The README's first command, shortened: on MNIST where it is in the cache, and on drawn digits.
TEST_F(Output, DemoEndsWithATableOfThreeMethods) {
  const auto ends_well = [&](const std::string& out,
                             const std::map<std::string, std::string>& environment) {
    const Outcome o = ticopd({"demo", "--out", out, "--offline", "--quiet", "--set", "iterations=2",
                              "--set", "problem.max_samples=1000"},
                             environment);
    EXPECT_EQ(o.code, 0) << o.err;
    for (const char* row : {"TiCoPD, 8-bit qsgd", "CHOCO-SGD, 8-bit qsgd", "DGD, uncompressed"})
      EXPECT_NE(o.out.find(row), std::string::npos) << o.out;
    for (const char* run : {"ticopd", "choco_sgd", "dgd"})
      EXPECT_EQ(summary(out + "/" + run)["status"], "finished");
  };
  ends_well("mnist", {});
  ends_well("digits", {{"XDG_CACHE_HOME", folder_}});
}

}  // namespace
}  // namespace ticopd
