// Every ending has an exit code and a message: too many ranks, and bad input of all kinds. 70 is
// for our own bugs.
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
