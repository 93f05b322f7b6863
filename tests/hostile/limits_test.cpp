// A missing or full TMPDIR, and the limits of the system: file size, CPU time.
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "hostile/hostile.hpp"
#include "places.hpp"

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

bool gnuplot_is_here() {
  return std::system("gnuplot --version >/dev/null 2>&1") == 0;
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
      expect_does_not_say(tuned.err + compared.err, {"missing: figure", "missing: search"});
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
      "printf '<svg></svg>' > figure.svg\nprintf '%%%%PDF %%%%%%%%EOF' > figure.pdf\n"
      "printf 'PNG IEND' > figure.png\n";
  for (const std::string half : {"printf 'PNG' > figure.png\n", ": > figure.pdf\n",
                                 "rm figure.svg\n", "printf '<svg>' > figure.svg\n"}) {
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
  expect_does_not_say(fine.err, {"missing: figure"});  // the page may be, in a build without npm
  EXPECT_EQ(read_text(folder_ / "one/figure.png"), "PNG IEND");
}

TEST_F(HalfFigures, OldFiguresStayIfNewOnesCannotBeDrawn) {
  for (const char* name : {"one/figure.svg", "one/figure.pdf", "one/figure.png"})
    write(name, "old");
  write_gnuplot("printf '<svg></svg>' > figure.svg\n");
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

}  // namespace
}  // namespace ticopd
