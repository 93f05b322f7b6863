// `ticopd launch` with scripts in place of mpirun. The tests need no MPI: they check the arguments
// that launch passes and how it translates exit codes.
#include <algorithm>

#include "cli/program.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

// Lines for the body of a script: what a rank writes when it starts, and when it ends with exit
// code 65, 74, 75 or 76.
const std::string rank_starts = "printf '\\377' >> \"$TICOPD_LAUNCH\"\n";
const std::string rank_says_65 = "printf '\\101' >> \"$TICOPD_LAUNCH\"\n";
const std::string rank_says_74 = "printf '\\112' >> \"$TICOPD_LAUNCH\"\n";
const std::string rank_says_75 = "printf '\\113' >> \"$TICOPD_LAUNCH\"\n";
const std::string rank_says_76 = "printf '\\114' >> \"$TICOPD_LAUNCH\"\n";
const std::string wait_for_ever = "while :; do sleep 0.02; done\n";

class Launch : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST", "PBS_NODEFILE",
                             "LSB_DJOB_HOSTFILE", "LSB_HOSTS", "PE_HOSTFILE", "TICOPD_LAUNCH"})
      ::unsetenv(name);
    use_plugin("open_mpi");
  }

  void use_plugin(const std::string& name) {
    plugin_ = places::stub_plugins() + "/lib" + name + "_stub.so";
  }

  // Writes a script that answers --version, saves its arguments in a file and then runs `body`.
  void stand_in(const std::string& body, const std::string& version = "mpirun (Open MPI) 4.1.4",
                const std::string& name = "mpirun") const {
    write(name, "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '" + version +
                    "'; exit 0; fi\nprintf '%s\\n' \"$@\" > arguments\n" + body);
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }

  Arguments words(const Arguments& more = {}, const Arguments& of_run = {}) const {
    Arguments all{"launch", "-n", "3", "--mpirun", "./mpirun"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "run", "small.toml"});
    all.insert(all.end(), of_run.begin(), of_run.end());
    return all;
  }

  std::map<std::string, std::string> environment() const {
    return {{"TICOPD_MPI_PLUGIN", plugin_}, {"TMPDIR", folder_}};
  }
  Outcome launch(const Arguments& more = {}, const Arguments& of_run = {}) const {
    return ticopd(words(more, of_run), environment());
  }

  Arguments told() const { return lines_of(read_text(folder_ / "arguments")); }
  bool was_told(const Arguments& part) const {
    const Arguments all = told();
    return std::ranges::search(all, part).begin() != all.end();
  }

  std::string plugin_;
};

TEST_F(Launch, RunsThisProgramWithTheGivenArguments) {
  stand_in("exit 0\n");
  const Outcome o = launch({}, {"--out", "a b", "--set", "seed=2"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out + o.err, "");
  const std::string binary = std::filesystem::canonical(places::binary());
  EXPECT_TRUE(was_told({binary, "run", "small.toml", "--out", "a b", "--set", "seed=2"}));
  EXPECT_TRUE(was_told({"-n", "3"}));
  EXPECT_EQ(told().back(), "seed=2");
}

TEST_F(Launch, DoesNotBindRanksThatNeedMoreCoresThanThereAre) {
  stand_in("exit 0\n");
  EXPECT_EQ(launch({"--threads", "4096"}).code, 0);
  EXPECT_TRUE(was_told({"--oversubscribe", "--bind-to", "none"}));
  EXPECT_TRUE(was_told({"run", "small.toml", "--threads", "4096"}));
  EXPECT_FALSE(was_told({"--use-hwthread-cpus"}));
}

TEST_F(Launch, UsesTheSlotsOfTheHostfileAndPassesOurVariables) {
  stand_in("exit 0\n");
  write("hosts", "localhost slots=3\n");
  auto variables = environment();
  variables["TICOPD_KERNEL"] = "plain";
  EXPECT_EQ(ticopd(words({"--hostfile", "hosts"}), variables).code, 0);
  EXPECT_TRUE(was_told({"--hostfile", "hosts", "--bind-to", "none"}));
  EXPECT_TRUE(was_told({"-x", "TICOPD_KERNEL"}));
  EXPECT_FALSE(was_told({"--oversubscribe"}));
  EXPECT_EQ(launch({"--hostfile", "hosts", "--threads", "3"}).code, 0);
  EXPECT_TRUE(was_told({"--map-by", "slot:PE=3"}));
}

TEST_F(Launch, UsesTheOptionsOfMpich) {
  use_plugin("mpich");
  stand_in("exit 0\n", "HYDRA build details:");
  write("hosts", "localhost:3\n");
  EXPECT_EQ(launch({"--hostfile", "hosts"}).code, 0);
  EXPECT_TRUE(was_told({"-n", "3", "-f", "hosts", "-bind-to", "none"}));
  EXPECT_FALSE(was_told({"--allow-run-as-root"}));
}

TEST_F(Launch, ShowPrintsTheCommandLineAndRunsNothing) {
  stand_in("touch ran\nexit 0\n");
  const Outcome o = launch({"--show"}, {"--out", "it's"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(o.out.starts_with("./mpirun ")) << o.out;
  EXPECT_TRUE(o.out.ends_with("ticopd run small.toml --out 'it'\\''s'\n")) << o.out;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

struct Ended {
  std::string name;
  std::string body;
  int code;
  std::string says = {};
  std::string plugin = "open_mpi";
};
void PrintTo(const Ended& ended, std::ostream* out) {
  *out << ended.name;
}

class LaunchEnds : public Launch, public ::testing::WithParamInterface<Ended> {};

TEST_P(LaunchEnds, ExitCodeTellsHowTheRanksEnded) {
  const Ended& ended = GetParam();
  use_plugin(ended.plugin);
  stand_in(ended.body, ended.plugin == "mpich" ? "HYDRA build details:" : "mpirun (OpenRTE) 4.1.4");
  const Outcome o = launch({}, {"--out", "out"});
  EXPECT_EQ(o.code, ended.code) << o.err;
  EXPECT_NE(o.err.find(ended.says), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("launch -n 3 --mpirun ./mpirun -- run small.toml --out out --resume") !=
                std::string::npos,
            ended.code == 75)
      << o.err;
}

INSTANTIATE_TEST_SUITE_P(
    OpenMpi, LaunchEnds,
    ::testing::Values(
        Ended{"fine", rank_starts + "exit 0\n", 0}, Ended{"config", rank_starts + "exit 78\n", 78},
        Ended{"interrupted", rank_starts + "exit 75\n", 75},
        Ended{"killed", rank_starts + "exit 137\n", 75, "kill -9"},
        Ended{"killed_on_another_machine", "exit 137\n", 75, "kill -9"},
        Ended{"killed_and_survivors", rank_starts + rank_says_75 + "exit 137\n", 75},
        Ended{"terminated", rank_starts + "exit 143\n", 75},
        Ended{"mpirun_killed", rank_starts + "kill -9 $$\n", 75, "mpirun was ended: Killed"},
        Ended{"mpirun_killed_and_ranks_cannot_print", rank_starts + rank_says_74 + "kill -9 $$\n",
              75, "mpirun was ended: Killed"},
        Ended{"disk_full", rank_says_74 + "exit 74\n", 74},
        Ended{"mpirun_crashed", rank_starts + rank_says_75 + "kill -SEGV $$\n", 75},
        Ended{"crashed", rank_starts + "exit 139\n", 70, "crashed"},
        Ended{"crashed_and_survivors", rank_starts + rank_says_75 + "exit 139\n", 70, "crashed"},
        Ended{"aborted", rank_starts + "exit 134\n", 70, "crashed"},
        Ended{"node_lost", rank_starts + "exit 205\n", 75, "failed with 205"},
        Ended{"broken_off", rank_starts + "exit 1\n", 75, "failed with 1 while"},
        Ended{"no_slots", "echo no slots >&2\nexit 1\n", 69, "no slots"},
        Ended{"no_such_program", "exit 132\n", 69, "before any rank ran"},
        Ended{"no_such_host", "exit 255\n", 69, "failed with 255"},
        Ended{"one_fails_others_lose_it", rank_says_75 + rank_says_65 + rank_says_75 + "exit 75\n",
              65},
        Ended{"diverged_and_killed_after", rank_starts + rank_says_76 + "exit 137\n", 76},
        Ended{"mpirun_says_fine_and_a_rank_does_not", rank_says_75 + "exit 0\n", 75}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Mpich, LaunchEnds,
    ::testing::Values(Ended{"killed", rank_starts + "exit 9\n", 75, "kill -9", "mpich"},
                      Ended{"crashed", rank_starts + "exit 11\n", 70, "crashed", "mpich"},
                      Ended{"fails_and_kills_the_others", rank_starts + rank_says_65 + "exit 9\n",
                            65, "", "mpich"},
                      Ended{"codes_are_mixed", rank_says_65 + rank_says_76 + "exit 77\n", 65, "",
                            "mpich"},
                      Ended{"proxy_lost", rank_starts + "exit 255\n", 75, "", "mpich"},
                      Ended{"no_such_program", "exit 255\n", 69, "", "mpich"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Launch, IsolatesMpirunFromTheTerminal) {
  stand_in("cut -d' ' -f5 /proc/$$/stat > group\necho $$ >> group\ncat > read\nexit 0\n");
  EXPECT_EQ(launch().code, 0);
  const auto group = lines_of(read_text(folder_ / "group"));
  ASSERT_EQ(group.size(), 2U);
  EXPECT_EQ(group[0], group[1]);
  EXPECT_EQ(read_text(folder_ / "read"), "");
}

TEST_F(Launch, TurnsCtrlCIntoSigusr1) {
  stand_in("trap 'touch asked; exit 75' USR1\ntrap 'exit 3' INT TERM\n" + rank_starts +
           "touch ready\n" + wait_for_ever);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Program program(folder_, words({}, {"--out", "out"}), environment());
    ASSERT_TRUE(program.wait_for(folder_ / "ready"));
    program.signal(signal);
    const Outcome o = program.wait();
    EXPECT_EQ(o.code, 75) << o.err;
    EXPECT_NE(o.err.find("interrupted; go on with: ticopd launch -n 3"), std::string::npos)
        << o.err;
    EXPECT_TRUE(std::filesystem::remove(folder_ / "asked"));
    std::filesystem::remove(folder_ / "ready");
  }
}

TEST_F(Launch, KillsRanksThatIgnoreSignals) {
  stand_in("trap 'touch asked' USR1\ntrap 'touch told' TERM\n" + rank_starts + "touch ready\n" +
           wait_for_ever);
  Program program(folder_, words({}, {"--out", "out"}), environment());
  ASSERT_TRUE(program.wait_for(folder_ / "ready"));
  program.signal(SIGINT);
  ASSERT_TRUE(program.wait_for(folder_ / "asked"));
  program.signal(SIGINT);
  ASSERT_TRUE(program.wait_for(folder_ / "told"));
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 75);
}

// Open MPI's does so if a rank is killed while it holds a lock in shared memory.
TEST_F(Launch, EndsAnMpirunThatGoesOnAfterItsRanksHaveEnded) {
  stand_in(rank_starts + "sleep 1 &\nexec sleep 3600\n");
  const Outcome o = launch({}, {"--out", "out"});
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_NE(o.err.find("all ranks have ended, and ./mpirun did not; go on with"), std::string::npos)
      << o.err;
}

// The ranks were killed before launch had looked for them.
TEST_F(Launch, EndsAnMpirunThatGoesOnAfterRanksThatNobodySaw) {
  stand_in("exec sleep 3600\n");
  const Outcome o = launch({}, {"--out", "out"});
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_NE(o.err.find("all ranks have ended, and ./mpirun did not"), std::string::npos) << o.err;
}

TEST_F(Launch, EndsMpirunWhenItIsKilledItself) {
  stand_in("trap 'touch ended; exit 1' TERM\ntouch ready\n" + wait_for_ever);
  {
    Program program(folder_, words(), environment());
    ASSERT_TRUE(program.wait_for(folder_ / "ready"));
    program.signal(SIGKILL);
    EXPECT_EQ(program.wait().code, 128 + SIGKILL);
  }
  for (int i = 0; i < 10000 && !std::filesystem::exists(folder_ / "ended"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "ended"));
}

TEST_F(Launch, RejectsCommandsThatCannotRunOverRanks) {
  stand_in("touch ran\nexit 0\n");
  const std::vector<std::pair<Arguments, std::string>> wrong{
      {{"launch", "-n", "2"}, "nothing to run"},
      {{"launch", "--", "run", "small.toml"}, "-n K"},
      {{"launch", "-n", "0", "--", "run", "small.toml"}, "-n"},
      {{"launch", "-n", "two", "--", "run", "small.toml", "--out", "x"}, "two"},
      {{"launch", "-n", "2", "--", "tune", "small.toml"}, "tune: cannot be run over several ranks"},
      {{"launch", "-n", "2", "--hosts", "a", "--", "run", "small.toml"}, "--hosts: no such option"},
      {{"launch", "-n", "2", "run", "small.toml", "--out", "x"}, "come after --"},
      {{"launch", "-n", "2", "--", "run"}, "FILE"},
      {{"launch", "-n", "2", "--", "run", "small.toml", "--treads", "2"}, "--treads"},
      {{"launch", "-n", "2", "--", "run", "small.toml", "--resume"}, "--out DIR"},
      {{"launch", "-n", "2", "--hostfile", "no", "--", "run", "small.toml"}, "--hostfile no"},
      {{"launch", "-n", "2", "--threads", "2", "--", "run", "small.toml", "--threads", "2"},
       "once is enough"}};
  for (auto [all, says] : wrong) {
    all.insert(all.begin() + 1, {"--mpirun", "./mpirun"});
    const Outcome o = ticopd(all, environment());
    EXPECT_EQ(o.code, 64) << says << o.err;
    EXPECT_NE(o.err.find(says), std::string::npos) << o.err;
    EXPECT_EQ(lines_of(o.err).size(), 1U) << o.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

TEST_F(Launch, RejectsTheMpirunOfAnotherMpi) {
  stand_in("exit 0\n", "HYDRA build details:");
  const Outcome o = launch();
  EXPECT_EQ(o.code, 69);
  EXPECT_NE(o.err.find("./mpirun belongs to MPICH"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("openmpi-bin"), std::string::npos) << o.err;
}

TEST_F(Launch, FindsTheMpirunOfTheSameMpi) {
  std::filesystem::create_directory(folder_ / "bin");
  stand_in("exit 0\n", "HYDRA build details:", "bin/mpirun.mpich");
  stand_in("exit 0\n", "mpirun (Open MPI) 4.1.4", "bin/mpirun");
  auto variables = environment();
  const auto shown = [&](const std::string& plugin) {
    use_plugin(plugin);
    variables["TICOPD_MPI_PLUGIN"] = plugin_;
    variables["PATH"] = (folder_ / "bin").string();
    return ticopd({"launch", "-n", "2", "--show", "--", "run", "small.toml"}, variables).out;
  };
  EXPECT_TRUE(shown("mpich").starts_with((folder_ / "bin/mpirun.mpich").string()));
  EXPECT_TRUE(shown("open_mpi").starts_with((folder_ / "bin/mpirun ").string()));
}

TEST_F(Launch, NamesThePackageToInstall) {
  auto variables = environment();
  variables["PATH"] = folder_.string();
  const Arguments all{"launch", "-n", "2", "--", "run", "small.toml"};
  Outcome o = ticopd(all, variables);
  EXPECT_EQ(o.code, 69);
  EXPECT_NE(o.err.find("openmpi-bin"), std::string::npos) << o.err;
  variables["TICOPD_MPI_PLUGIN"] = (folder_ / "none.so").string();
  o = ticopd(all, variables);
  EXPECT_EQ(o.code, 69);
  EXPECT_NE(o.err.find("TICOPD_MPI_PLUGIN"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace ticopd
