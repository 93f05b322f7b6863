// Every ending has an exit code and a message: names that are not UTF-8, missing and full disks,
// limits of the system, labels that are our own file names, too many ranks, and bad input of all
// kinds. 70 is for our own bugs.
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "hostile/hostile.hpp"
#include "places.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/audit.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/report/report.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::function<void()> limit(int resource, rlim_t soft) {
  return [=] {
    rlimit both{};
    ::getrlimit(static_cast<__rlimit_resource>(resource), &both);
    both.rlim_cur = soft;
    ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
  };
}

// summary.csv as a name of a test.
std::string with_underscores(std::string text) {
  std::ranges::replace(text, '.', '_');
  return text;
}

bool gnuplot_is_here() {
  return std::system("gnuplot --version >/dev/null 2>&1") == 0;
}

bool valid_utf8(const std::string& text) {
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

class OddNames : public Hostile {
 protected:
  static inline const std::string bad = "caf\xe9";

  // Either all is there in the end, or nothing was begun. Both ends talk in UTF-8.
  void expect_all_or_nothing(const Arguments& words, const std::string& out) const {
    const Snapshot before = snapshot();
    const Outcome o = ticopd(words);
    EXPECT_TRUE(valid_utf8(o.err) && valid_utf8(o.out)) << o.err;
    if (o.code == 0) {
      const json made = json::parse(read_text(folder_ / out / "run.json"), nullptr, false);
      ASSERT_TRUE(made.is_object());
      EXPECT_EQ(made["status"], "finished");
      EXPECT_TRUE(fs::exists(folder_ / out / "final.npy"));
      EXPECT_EQ(ticopd({"run", words[1], "--out", out, "--resume", "--quiet"}).code, 0);
    } else {
      EXPECT_EQ(o.code, 78) << o.err;
      expect_says(o.err, {"UTF-8"});
      EXPECT_TRUE(snapshot() == before) << changes(before, snapshot());
    }
  }
};

TEST_F(OddNames, OfAConfigThatIsNotUtf8EndWell) {
  write(bad + ".toml", small_problem);
  expect_all_or_nothing({"run", bad + ".toml", "--out", "out"}, "out");
}

TEST_F(OddNames, OfAnOutputFolderThatIsNotUtf8EndWell) {
  expect_all_or_nothing({"run", "small.toml", "--out", bad}, bad);
}

TEST_F(OddNames, OfTheConfigsFolderThatIsNotUtf8EndWell) {
  write(bad + "/in.toml", small_problem);
  expect_all_or_nothing({"run", bad + "/in.toml", "--out", "out"}, "out");
}

TEST_F(OddNames, OfARunInADefaultFolderEndWell) {
  write(bad + ".toml", small_problem);
  const Outcome o = ticopd({"run", bad + ".toml"});
  EXPECT_TRUE(o.code == 0 || o.code == 78) << o.err;
  EXPECT_TRUE(valid_utf8(o.err) && valid_utf8(o.out));
  EXPECT_EQ(o.code == 78, !fs::exists(folder_ / "runs"));
}

TEST_F(OddNames, OfDataThatAreNotUtf8EndWell) {
  std::string csv;
  for (int i = 0; i < 40; ++i)
    csv += std::to_string(i % 4) + "," + std::to_string(i % 7) + "," + std::to_string(i % 3) + "\n";
  write(bad + ".csv", csv);
  write("data.toml",
        with(with(with(with(small_problem, "samples = 200\n", ""), "features = 6\n", ""),
                  "classes = 4\n", ""),
             "\"synthetic\"", "\"csv:data.csv\""));
  const Snapshot before = snapshot();
  const Outcome o =
      ticopd({"run", "data.toml", "--out", "out", "--set", "problem.data=csv:" + bad + ".csv"});
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_TRUE(valid_utf8(o.err)) << o.err;
  EXPECT_TRUE(snapshot() == before) << changes(before, snapshot());
}

TEST_F(OddNames, InValuesAreRefusedBeforeTheFirstRound) {
  write("label.toml", small_problem + "[[run]]\nlabel = \"" + bad + "\"\n");
  write("title.toml", "name = \"" + bad + "\"\n" + small_problem);
  for (const Arguments& words : std::vector<Arguments>{
           {"compare", "label.toml", "--out", "out"},
           {"tune", "label.toml", "--out", "out"},
           {"run", "title.toml", "--out", "out"},
           {"run", "small.toml", "--out", "out", "--set", "name=" + bad},
           {"run", "small.toml", "--out", "out", "--set", "name=\"" + bad + "\""},
           {"run", "small.toml", "--out", "out", "--set", bad + "=1"},
           {"run", "small.toml", "--out", "out", "--set", "report.title=" + bad},
           {"compare", "small.toml", "--out", "out", "--set", "report.title=" + bad},
           {"run", "small.toml", "--out", "out", "--set", "graph.kind=" + bad}}) {
    const Snapshot before = snapshot();
    const Outcome o = ticopd(words);
    EXPECT_EQ(o.code, 78) << words.back() << o.err;
    EXPECT_TRUE(valid_utf8(o.err)) << o.err;
    EXPECT_TRUE(snapshot() == before) << changes(before, snapshot());
  }
}

TEST_F(OddNames, OfComparisonsAndSearchesEndWell) {
  write(bad + ".toml", small_problem);
  for (const Arguments& words :
       std::vector<Arguments>{{"compare", bad + ".toml", "--out", "c", "--quiet"},
                              {"tune", bad + ".toml", "--out", "t", "--runs", "2"},
                              {"compare", "small.toml", "--out", bad, "--quiet"},
                              {"tune", "small.toml", "--out", bad + "t", "--runs", "2"},
                              {"theory", bad + ".toml"}}) {
    const Outcome o = ticopd(words);
    EXPECT_TRUE(o.code == 0 || o.code == 78) << words[0] << o.err;
    EXPECT_TRUE(valid_utf8(o.err) && valid_utf8(o.out)) << o.err;
    if (o.code == 78 && words.size() > 3) {
      EXPECT_FALSE(fs::exists(folder_ / words[3])) << words[0];
    }
  }
  if (fs::exists(folder_ / "t/tuned.toml")) {
    EXPECT_EQ(ticopd({"run", "t/tuned.toml", "--out", "again", "--quiet"}).code, 0);
  }
}

TEST_F(OddNames, OfReportedFoldersAreEscaped) {
  run("out");
  fs::rename(folder_ / "out", folder_ / bad);
  for (const Arguments& words :
       std::vector<Arguments>{{"report", bad, "--json"},
                              {"report", bad + "=" + bad, "--out", "r", "--json"},
                              {"report", "x=" + bad, bad, "--out", "s", "--title", bad, "--json"},
                              {"verify", bad, "--json"}}) {
    const Outcome o = ticopd(words);
    EXPECT_TRUE(o.code == 0 || o.code == 78) << o.err;
    EXPECT_TRUE(valid_utf8(o.err) && valid_utf8(o.out)) << o.err;
    if (o.code == 0) {
      EXPECT_FALSE(json::parse(o.out, nullptr, false).is_discarded()) << o.out;
    }
  }
  for (const auto& [name, bytes] : snapshot())
    if (name.ends_with(".csv") || name.ends_with(".html") || name.ends_with(".json")) {
      EXPECT_TRUE(valid_utf8(bytes)) << name;
    }
}

class OddTmpdir : public Hostile {
 protected:
  void expect_complete(const std::map<std::string, std::string>& environment) const {
    write("two.toml", small_problem + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\nseed = 2\n");
    const Outcome tuned =
        ticopd({"tune", "small.toml", "--out", "tuned", "--runs", "2"}, environment);
    EXPECT_EQ(tuned.code, 0) << tuned.err;
    EXPECT_TRUE(fs::exists(folder_ / "tuned/tuned.toml"));
    const Outcome compared =
        ticopd({"compare", "two.toml", "--out", "all", "--quiet"}, environment);
    EXPECT_EQ(compared.code, 0) << compared.err;
    EXPECT_TRUE(fs::exists(folder_ / "all/summary.csv"));
    if (gnuplot_is_here()) {
      expect_does_not_say(tuned.err + compared.err, {"missing"});
      EXPECT_TRUE(contains(read_text(folder_ / "all/figure.svg"), "</svg>"));
      EXPECT_TRUE(contains(read_text(folder_ / "all/figure.png"), "IEND"));
      EXPECT_TRUE(contains(read_text(folder_ / "tuned/search.pdf"), "%%EOF"));
    }
    expect_no_leftovers();
  }
};

TEST_F(OddTmpdir, MissingLosesNoResult) {
  expect_complete({{"TMPDIR", "/no/such/folder"}});
}

TEST_F(OddTmpdir, RelativeOrAFileLosesNoResult) {
  expect_complete({{"TMPDIR", "."}});
  for (const char* out : {"tuned", "all"}) fs::remove_all(folder_ / out);
  expect_complete({{"TMPDIR", (folder_ / "small.toml").string()}});
}

TEST_F(OddTmpdir, FullLosesNoResult) {
  write("tiny/", "");
  const fs::path tiny = folder_ / "tiny";
  if (::mount("none", tiny.c_str(), "tmpfs", 0, "size=4k") != 0)
    GTEST_SKIP() << "no right to mount a small disk";
  std::ofstream(tiny / "fill") << std::string(4096, 'x');
  expect_complete({{"TMPDIR", tiny.string()}});
  ::umount2(tiny.c_str(), MNT_DETACH);
}

TEST_F(OddTmpdir, LaunchNeedsNone) {
  write_script("mpirun",
               "if [ \"$1\" = --version ]; then echo 'mpirun (Open MPI) 4.1.4'; fi\nexit 0\n");
  const Outcome o =
      ticopd({"launch", "-n", "2", "--mpirun", "./mpirun", "--", "run", "small.toml"},
             {{"TMPDIR", "/no/such/folder"},
              {"TICOPD_MPI_PLUGIN", places::stub_plugins() + "/libopen_mpi_stub.so"}});
  EXPECT_EQ(o.code, 0) << o.err;
}

class HalfFigures : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    run("one");
  }
  void expect_missing(const Outcome& o) const {
    EXPECT_EQ(o.code, 0) << o.err;
    expect_says(o.err, {"missing: figure.svg, figure.pdf, figure.png"});
    for (const char* name : {"figure.svg", "figure.pdf", "figure.png"})
      EXPECT_FALSE(fs::exists(folder_ / "one" / name)) << name;
    EXPECT_TRUE(fs::exists(folder_ / "one/summary.csv"));
    expect_no_leftovers();
  }
};

// As gnuplot does on a full disk: it writes a part and ends with success.
TEST_F(HalfFigures, AreNotPublished) {
  const std::string whole =
      "printf '<svg></svg>' > picture.svg\nprintf '%%%%PDF %%%%%%%%EOF' > picture.pdf\n"
      "printf 'PNG IEND' > picture.png\n";
  for (const std::string half : {"printf 'PNG' > picture.png\n", ": > picture.pdf\n",
                                 "rm picture.svg\n", "printf '<svg>' > picture.svg\n"}) {
    write_gnuplot(whole + half);
    expect_missing(ticopd({"report", "one"}, {{"TICOPD_GNUPLOT", folder_ / "gnuplot"}}));
  }
  write_gnuplot(whole + "echo 'No space left on device' >&2\nexit 1\n");
  const Outcome failed = ticopd({"report", "one"}, {{"TICOPD_GNUPLOT", folder_ / "gnuplot"}});
  expect_missing(failed);
  expect_says(failed.err, {"No space left on device"});
  write_gnuplot(whole);
  const Outcome fine = ticopd({"report", "one"}, {{"TICOPD_GNUPLOT", folder_ / "gnuplot"}});
  EXPECT_EQ(fine.code, 0);
  expect_does_not_say(fine.err, {"missing"});
  EXPECT_EQ(read_text(folder_ / "one/figure.png"), "PNG IEND");
}

TEST_F(HalfFigures, OldFiguresStayIfNewOnesCannotBeDrawn) {
  for (const char* name : {"one/figure.svg", "one/figure.pdf", "one/figure.png"})
    write(name, "old");
  write_gnuplot("printf '<svg></svg>' > picture.svg\n");
  const Outcome o = ticopd({"report", "one"}, {{"TICOPD_GNUPLOT", folder_ / "gnuplot"}});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read_text(folder_ / "one/figure.svg"), "old");
}

TEST_F(HalfFigures, BeyondTheLimitOfFilesAreNotPublished) {
  if (!gnuplot_is_here()) GTEST_SKIP() << "no gnuplot";
  run("two");
  // Enough for tables and scripts, too little for a figure.
  Program program(folder_, {"report", "one"}, {}, limit(RLIMIT_FSIZE, 9000));
  const Outcome o = program.wait();
  EXPECT_TRUE(o.code == 0 || o.code == 74) << o.code << o.err;
  for (const char* name : {"figure.svg", "figure.pdf", "figure.png"})
    EXPECT_FALSE(fs::exists(folder_ / "one" / name)) << name;
  expect_no_leftovers();
}

class Limits : public Hostile {
 protected:
  const Arguments long_run{
      "run",   "small.toml",      "--out", "out", "--quiet", "--set", "iterations=4000000",
      "--set", "log.every=100000"};
};

TEST_F(Limits, OfFilesAtTheFirstWriteGive74) {
  Program program(folder_, {"run", "small.toml", "--out", "out"}, {}, limit(RLIMIT_FSIZE, 100));
  const Outcome o = program.wait();
  EXPECT_EQ(o.code, 74) << o.err;
  expect_says(o.err, {"out/", "File too large"});
  expect_no_leftovers();
  const Outcome again = ticopd({"run", "small.toml", "--out", "out", "--quiet"});
  EXPECT_TRUE(again.code == 0 || again.code == 64) << again.err;  // 64: some files are there
}

TEST_F(Limits, OfFilesInTheMiddleGive74AndARunThatCanGoOn) {
  const Arguments words{"run",   "small.toml",     "--out", "out",
                        "--set", "log.every=1",    "--set", "checkpoint.every=50",
                        "--set", "iterations=2000"};
  Program program(folder_, words, {}, limit(RLIMIT_FSIZE, 64 << 10));  // metrics.csv outgrows it
  const Outcome o = program.wait();
  EXPECT_EQ(o.code, 74) << o.err;
  expect_says(o.err, {"metrics.csv", "File too large"});
  expect_no_leftovers();
  Arguments resume = words;
  resume.insert(resume.end(), {"--resume", "--quiet"});
  const Outcome again = ticopd(resume);
  ASSERT_EQ(again.code, 0) << again.err;
  Arguments whole = words;
  whole[3] = "whole";
  ASSERT_EQ(ticopd(whole).code, 0);
  EXPECT_EQ(summary("out")["digest"], summary("whole")["digest"]);
  EXPECT_EQ(metrics("out"), metrics("whole"));
}

TEST_F(Limits, OfFilesForCompareAndTuneGive74) {
  write("two.toml", small_problem + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\nseed = 2\n");
  for (const rlim_t bytes : {50, 1500}) {
    for (const Arguments& words :
         std::vector<Arguments>{{"compare", "two.toml", "--out", "c", "--quiet"},
                                {"tune", "small.toml", "--out", "t", "--runs", "3"}}) {
      Program program(folder_, words, {}, limit(RLIMIT_FSIZE, bytes));
      const Outcome o = program.wait();
      EXPECT_EQ(o.code, 74) << words[0] << o.err;
      expect_no_leftovers();
    }
    for (const char* out : {"c", "t"}) fs::remove_all(folder_ / out);
  }
}

TEST_F(Limits, OfFilesForStandardOutputGive74) {
  const std::string command = "cd '" + folder_.string() + "' && ulimit -f 1 && '" +
                              places::binary() + "' schema > schema.json 2> err.txt";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 74) << read_text(folder_ / "err.txt");
}

TEST_F(Limits, OfTimeSaveTheRunAndGive75) {
  Program program(folder_, long_run, {}, limit(RLIMIT_CPU, 1));
  const Outcome o = ended_within(120, program);
  ASSERT_EQ(o.code, 75) << o.err;
  expect_says(o.err, {"--resume --out out"});
  EXPECT_EQ(summary("out")["status"], "interrupted");
  EXPECT_TRUE(fs::exists(folder_ / "out/checkpoint.safetensors"));
  expect_no_leftovers();
  const auto reached = summary("out")["iterations"].get<int>();
  Arguments resume = long_run;
  resume.push_back("--resume");
  Program second(folder_, resume, {}, limit(RLIMIT_CPU, 1));
  EXPECT_EQ(ended_within(120, second).code, 75);
  EXPECT_GT(summary("out")["iterations"].get<int>(), reached);
}

TEST_F(Limits, OfTimeSaveAComparisonAndASearch) {
  for (const Arguments& words : std::vector<Arguments>{
           {"compare", "small.toml", "--out", "c", "--quiet", "--set", "iterations=4000000"},
           {"tune", "small.toml", "--out", "t", "--budget-iterations", "4000000"}}) {
    Program program(folder_, words, {}, limit(RLIMIT_CPU, 1));
    const Outcome o = ended_within(120, program);
    EXPECT_EQ(o.code, 75) << o.err;
    expect_says(o.err, {"--resume"});
    expect_no_leftovers();
  }
}

class OurFileNames : public Hostile, public ::testing::WithParamInterface<std::string> {};

TEST_P(OurFileNames, AsALabelAreRefusedBeforeTheFirstRun) {
  write("set.toml", small_problem + "[[run]]\nlabel = \"fine\"\n[[run]]\nlabel = \"" + GetParam() +
                        "\"\nseed = 2\n");
  expect_refused({"compare", "set.toml", "--out", "out"}, 78, {GetParam(), "label"});
}

INSTANTIATE_TEST_SUITE_P(Of, OurFileNames,
                         ::testing::Values("summary.csv", "compare.json", "report.html",
                                           "figure.svg", "figure.pdf", "figure.png"),
                         [](const auto& test) { return with_underscores(test.param); });

TEST_F(OurFileNames, OfASearchAreRefusedAsALabel) {
  write("set.toml",
        small_problem + "[[run]]\nlabel = \"fine\"\n[[run]]\nlabel = \"tuned.toml\"\nseed = 2\n");
  expect_refused({"tune", "set.toml", "--out", "out"}, 78, {"tuned.toml", "label"});
}

TEST_F(OurFileNames, AsALabelOfAReportAreFine) {
  run("a");
  const Outcome o = ticopd({"report", "summary.csv=a", "--out", "r"});
  EXPECT_EQ(o.code, 0) << o.err;
}

class TooManyRanks : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write_script(
        "mpirun",
        "if [ \"$1\" = --version ]; then echo 'mpirun (Open MPI) 4.1.4'; exit 0; fi\n: > ran\n");
  }
  Arguments launch(int ranks, const Arguments& more = {}) const {
    Arguments all{"launch", "-n",  std::to_string(ranks), "--mpirun", "./mpirun",
                  "--",     "run", "small.toml"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  const std::map<std::string, std::string> stub{
      {"TICOPD_MPI_PLUGIN", places::stub_plugins() + "/libopen_mpi_stub.so"}};
};

TEST_F(TooManyRanks, AreRefusedBeforeAnyProcessStarts) {
  expect_refused(launch(50), 78, {"-n 50", "4", "agents"}, stub);
  expect_refused(launch(5), 78, {"-n 5", "4", "agents"}, stub);
  write("edges.txt", "0 1\n1 2\n");
  expect_refused(launch(4, {"--set", "graph={kind=\"file\",path=\"edges.txt\"}"}), 78,
                 {"-n 4", "3", "agents"}, stub);
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
  EXPECT_EQ(ticopd(launch(4), stub).code, 0);
  EXPECT_TRUE(fs::remove(folder_ / "ran"));
  EXPECT_EQ(ticopd(launch(5, {"--set", "graph.agents=5"}), stub).code, 0);
}

TEST_F(TooManyRanks, AWrongConfigIsRefusedBeforeAnyProcessStarts) {
  expect_refused(launch(2, {"--set", "codec.bitz=4"}), 78, {"codec.bitz"}, stub);
}

// run.json with one wrong value after the other: every reader says what is wrong with the file.
class WrongSummary : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    run("out", {"--set", "network.transport=threads"});
    summary_ = summary("out");
  }

  static std::vector<json::json_pointer> values_of(const json& tree, const json::json_pointer& at) {
    std::vector<json::json_pointer> all;
    if (!at.empty()) all.push_back(at);
    if (tree.is_object())
      for (const auto& [key, value] : tree.items())
        for (auto& p : values_of(value, at / key)) all.push_back(p);
    if (tree.is_array() && !tree.empty())
      for (auto& p : values_of(tree[0], at / 0)) all.push_back(p);
    return all;
  }

  // No exception but our own errors: anything else would end with 70.
  template <class Read>
  void expect_no_bug(const json::json_pointer& at, const json& wrong, const std::string& who,
                     const Read& read) const {
    try {
      read();
    } catch (const Error& e) {
      EXPECT_NE(e.exit_code(), 70) << who << " " << at << " = " << wrong << ": " << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << who << " " << at << " = " << wrong << ": " << e.what();
    }
  }

  json summary_;
};

TEST_F(WrongSummary, IsNeverAnInternalErrorOfTheReport) {
  const fs::path out = folder_ / "out";
  for (const json::json_pointer& at : values_of(summary_, json::json_pointer()))
    for (const json& wrong : {json(5), json(-1), json(1.5e300), json("x"), json(nullptr),
                              json::array({1}), json::object({{"x", 1}}), json(true)}) {
      json edited = summary_;
      edited[at] = wrong;
      std::ofstream(out / "run.json") << edited.dump();
      expect_no_bug(at, wrong, "report", [&] {
        Collection all = read_folders(std::vector<std::string>{out.string()});
        all.options.folder = out;
        (void)summary_csv(all.runs, all.options);
        (void)summary_table(all.runs, all.options, 80);
        (void)report_json(all.runs, all.options);
      });
      expect_no_bug(at, wrong, "audit",
                    [&] { (void)audit_ledger(RunFolder::require_summary(out)); });
    }
}

TEST_F(WrongSummary, IsNeverAnInternalErrorOfVerifyAndResume) {
  const fs::path out = folder_ / "out";
  int turn = 0;
  const std::vector<json> wrongs{json(5),       json("x"),        json(-1),
                                 json(nullptr), json::array({1}), json::object({{"x", 1}}),
                                 json(1.5e300)};
  const Config config = Config::read(folder_ / "small.toml", {});
  for (const json::json_pointer& at : values_of(summary_, json::json_pointer())) {
    if (at.to_string().starts_with("/transport/parts/0/") || at.to_string().starts_with("/edges"))
      continue;
    const json wrong = wrongs[static_cast<std::size_t>(turn++) % wrongs.size()];
    // A huge number of agents or rounds is a right value, and would run for long.
    if (wrong == 5 && at.to_string().starts_with("/config")) continue;
    json edited = summary_;
    edited[at] = wrong;
    std::ofstream(out / "run.json") << edited.dump();
    expect_no_bug(at, wrong, "verify", [&] { (void)verify_experiment(out, {}); });
    expect_no_bug(at, wrong, "resume", [&] {
      RunOptions options;
      options.out = out;
      options.resume = true;
      (void)run_experiment(config, options);
    });
  }
}

TEST_F(WrongSummary, IsRefusedByTheProgramWithTheName) {
  json edited = summary_;
  edited["device"] = 5;
  write("out/run.json", edited.dump());
  expect_refused({"verify", "out", "--quiet"}, 65, {"out/run.json", "device"});
  edited = summary_;
  edited["seconds"]["total"] = "x";
  write("out/run.json", edited.dump());
  expect_refused(
      {"run", "small.toml", "--out", "out", "--resume", "--set", "network.transport=threads"}, 65,
      {"out/run.json", "seconds"});
}

class WrongInput : public Hostile {};

TEST_F(WrongInput, RangesOfASearchThatAreTooSmallAreRefused) {
  for (const std::string range :
       {"[1e-320, 1e-310]", "[1e-320, 1]", "[0, 1e-320]", "[1e-310, 1e308]", "[1e308, 1e309]",
        "[nan, 1]", "[1, inf]", "[1, 1]", "[2, 1]"})
    expect_refused(
        {"tune", "small.toml", "--out", "out", "--runs", "2", "--set", "tune.search.eta=" + range},
        78, {"tune.search.eta"});
}

TEST_F(WrongInput, FilesThatCannotBeReadGiveTheReasonAndNo70) {
  // Reading the first bytes of this file gives an input/output error.
  const std::string bad = "/proc/self/mem";
  std::ifstream probe(bad, std::ios::binary);
  char byte = 0;
  if (!probe || probe.read(&byte, 1)) GTEST_SKIP() << bad << " can be read here";
  write("edges.toml", with(small_problem, "[graph]\n", "[graph]\nkind=\"file\"\n"));
  for (const Arguments& words : std::vector<Arguments>{
           {"run", bad, "--out", "out"},
           {"compare", bad, "--out", "out"},
           {"tune", bad, "--out", "out"},
           {"theory", bad},
           {"run", "small.toml", "--out", "out", "--set", "problem={data=\"csv:" + bad + "\"}"},
           {"run", "edges.toml", "--out", "out", "--set", "graph.path=" + bad}}) {
    const Snapshot before = snapshot();
    const Outcome o = ticopd(words);
    EXPECT_TRUE(o.code == 74 || o.code == 65 || o.code == 78) << o.code << o.err;
    expect_says(o.err, {bad, "Input/output error"});
    EXPECT_TRUE(snapshot() == before) << changes(before, snapshot());
  }
}

TEST_F(WrongInput, FoldersAndDevicesInPlaceOfFilesAreNo70) {
  run("good");
  write("dir/", "");
  for (const std::string name : {"dir", "/dev/null", "/", "dir/"}) {
    for (const Arguments& words : std::vector<Arguments>{
             {"run", name, "--out", "out"},
             {"report", name},
             {"verify", name},
             {"audit", name},
             {"run", "small.toml", "--out", "out", "--set", "problem={data=\"csv:" + name + "\"}"},
             {"run", "small.toml", "--out", "out", "--set",
              "problem={data=\"libsvm:" + name + "\"}"},
             {"run", "small.toml", "--out", "out", "--set", "problem={data=\"idx:" + name + "\"}"},
             {"run", "small.toml", "--out", "out", "--set",
              "problem={objective=\"least_squares\",data=\"npy:" + name + "\"}"},
             {"run", "small.toml", "--out", "out", "--set",
              "graph={kind=\"file\",path=\"" + name + "\"}"}}) {
      const Outcome o = ticopd(words);
      EXPECT_TRUE(o.code == 64 || o.code == 65 || o.code == 74 || o.code == 78)
          << o.code << " " << words[0] << " " << words.back() << o.err;
      EXPECT_NE(o.err, "");
    }
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
}

TEST_F(WrongInput, LongNamesAreNo70) {
  const std::string lengthy(5000, 'x');
  for (const Arguments& words : std::vector<Arguments>{
           {"run", lengthy, "--out", "out"},
           {"run", "small.toml", "--out", lengthy},
           {"run", "small.toml", "--set", "name=" + lengthy},
           {"report", lengthy},
           {"verify", lengthy},
           {"compare", "small.toml", "--out", lengthy},
           {"tune", "small.toml", "--out", lengthy},
           {"run", "small.toml", "--out", "out", "--set", "problem={data=\"csv:" + lengthy + "\"}"},
           {"run", "small.toml", "--out", "out", "--set",
            "graph={kind=\"file\",path=\"" + lengthy + "\"}"}}) {
    const Outcome o = ticopd(words);
    EXPECT_NE(o.code, 70) << words[0] << o.err.substr(0, 200);
    EXPECT_LT(o.code, 128) << words[0];
  }
}

}  // namespace
}  // namespace ticopd
