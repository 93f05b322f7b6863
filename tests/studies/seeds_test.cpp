// Comparisons over seeds and sweeps: side by side, and nothing of a run depends on it.
#include <algorithm>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "studies/small_study.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/studies/comparison.hpp"
#include "ticopd/studies/side_by_side.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class SeedsAndSweeps : public SmallStudy {
 protected:
  static RunSet many(std::vector<std::string> set = {}) {
    set.insert(set.begin(),
               {"seeds=3", "problem.seed=5", "problem.batch=4", "sweep.codec.bits=[2,4]"});
    return two(set);
  }
  static CompareOptions into(const std::string& name, int threads, bool resume = false) {
    CompareOptions options;
    options.prepare.threads = threads;
    options.out = name;
    options.resume = resume;
    return options;
  }
  static json digests(const Compared& compared) {
    json all;
    for (const Series& run : compared.collection.runs) all[run.label] = run.word("/digest");
    return all;
  }
  // groups.csv, or summary.csv, without its columns of seconds.
  static std::string untimed(const fs::path& file) {
    std::istringstream lines(read_file(file));
    std::string text, line;
    std::vector<bool> timed;
    while (std::getline(lines, line)) {
      std::vector<std::string> cells;
      bool quoted = false;
      cells.emplace_back();
      for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted)
          cells.emplace_back();
        else
          cells.back() += c;
      }
      if (timed.empty())
        for (const std::string& head : cells)
          timed.push_back(head.find("seconds") != std::string::npos);
      for (std::size_t c = 0; c < cells.size(); ++c)
        if (!timed.at(c)) text += cells[c] + ",";
      text += "\n";
    }
    return text;
  }
};

TEST_F(SeedsAndSweeps, DigestsAreThoseOfTheRunsAlone) {
  const RunSet set = many();
  ASSERT_EQ(set.runs.size(), 2u * 3 + 3);
  const json one = digests(compare(set, into("one", 1)));
  for (const int threads : {2, 5, 16})
    EXPECT_EQ(digests(compare(set, into("on" + std::to_string(threads), threads))), one) << threads;
  std::set<std::string> different;
  for (const RunSet::Run& run : set.runs)
    for (const int threads : {1, 3}) {
      RunOptions alone;
      alone.prepare.threads = threads;
      alone.out = "alone" + std::to_string(threads) + run.folder;
      EXPECT_EQ(run_experiment(run.config, alone)["digest"], one[run.label]) << run.label;
      different.insert(one[run.label]);
    }
  EXPECT_EQ(different.size(), set.runs.size()) << "every seed and value is a run of its own";
}

TEST_F(SeedsAndSweeps, RunsOnOneProblemShareItsInputs) {
  const Compared compared = compare(many(), into("out", 4));
  for (const Series& run : compared.collection.runs)
    EXPECT_EQ(run.field("/inputs"), compared.collection.runs[0].field("/inputs")) << run.label;
  const Compared apart = compare(two({"seeds=2"}), into("apart", 4));
  EXPECT_NE(apart.collection.runs[0].field("/inputs"), apart.collection.runs[1].field("/inputs"));
}

TEST_F(SeedsAndSweeps, FilesDoNotDependOnTheThreads) {
  compare(many(), into("one", 1));
  compare(many(), into("four", 4));
  for (const char* file : {"groups.csv", "summary.csv"})
    EXPECT_EQ(untimed(fs::path("one") / file), untimed(fs::path("four") / file));
  EXPECT_EQ(untimed("one/groups.csv").substr(0, 34), "group,codec.bits,iteration,runs,bi");
}

TEST_F(SeedsAndSweeps, StoppedOnesResumeToTheSameFiles) {
  const json whole = digests(compare(many({"iterations=400"}), into("whole", 4)));
  int cuts = 0;
  for (int life = 0; life < 50; ++life) {
    std::atomic<bool> stop = false;
    std::atomic<int> rounds = 0;
    CompareOptions options = into("cut", 4, life > 0);
    options.stop = &stop;
    options.on_round = [&](std::uint32_t) { stop = ++rounds > 200 + 37 * life; };
    try {
      EXPECT_EQ(digests(compare(many({"iterations=400"}), options)), whole);
      break;
    } catch (const Interrupted&) {
      ++cuts;
    }
  }
  EXPECT_GT(cuts, 2);
  for (const char* file : {"groups.csv", "summary.csv"})
    EXPECT_EQ(untimed(fs::path("cut") / file), untimed(fs::path("whole") / file)) << file;
}

TEST_F(SeedsAndSweeps, ADivergedRunDoesNotEndTheOthers) {
  const RunSet set = two({"seeds=2", "sweep.algorithm.eta=[0.1, 1e30]"});
  const Compared compared = compare(set, into("out", 4));
  int diverged = 0;
  for (const RunOutcome& run : compared.runs) diverged += !run.diverged.empty();
  EXPECT_EQ(diverged, 4);
  EXPECT_EQ(compared.runs[3].swept, (json{{"algorithm.eta", 1e30}}));
  EXPECT_NE(compared.runs[3].diverged, "");
}

TEST_F(SeedsAndSweeps, AnErrorEndsAllAndLeavesWhatCanBeResumed) {
  RunSet set = many({"iterations=400", "checkpoint.every=50"});
  fs::create_directories("out");
  const json good = set.runs[4].config.tree();
  json bad = good;
  bad["problem"]["data"] = "csv:none.csv";
  for (const char* key : {"samples", "features", "classes"}) bad["problem"].erase(key);
  set.runs[4].config = Config::from_json(bad, ".");
  EXPECT_THROW(compare(set, into("out", 4)), FormatError);
  EXPECT_FALSE(fs::exists("out/summary.csv"));
  set.runs[4].config = Config::from_json(good, ".");
  EXPECT_EQ(digests(compare(set, into("out", 4, true))), digests(compare(set, into("other", 1))));
}

TEST_F(SeedsAndSweeps, EachWarningIsToldOnce) {
  std::vector<std::string> told;
  std::ofstream("warned.toml") << read_file("two.toml")
                               << "[[run]]\nlabel = \"Q\"\nalgorithm = { name = \"dgd_quantized\", "
                                  "eta = 0.01 }\ncodec = { kind = \"qsgd\" }\n";
  const fs::path file = "warned.toml";
  CompareOptions options = into("out", 2);
  options.on_warning = [&](const std::string& label, const std::string& text) {
    told.push_back(label + ": " + text);
  };
  compare(read_run_set({&file, 1}, std::vector<std::string>{"seeds=6"}), options);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].starts_with("Q, seed 1 and 5 more: ")) << told[0];
}

TEST_F(SeedsAndSweeps, ProgressCountsUpToAllRounds) {
  CompareProgress last;
  int at_once = 0;
  CompareOptions options = into("out", 3);
  options.on_plan = [&](int n) { at_once = n; };
  options.on_progress = [&](const CompareProgress& p) {
    EXPECT_GE(p.done, last.done);
    EXPECT_LE(p.running, 3u);
    last = p;
  };
  compare(many(), options);
  EXPECT_EQ(at_once, 3);
  EXPECT_EQ(last.ended, 9u);
  EXPECT_EQ(last.runs, 9u);
  EXPECT_NEAR(last.done, 1, 1e-9);
  EXPECT_EQ(last.done_before, 0);
  options.resume = true;
  last = {};
  compare(many(), options);
  EXPECT_NEAR(last.done_before, 1, 1e-9);
}

TEST_F(SeedsAndSweeps, AFolderOfAnEarlierVersionIsResumed) {
  compare(two(), into("out", 1));
  json record = json::parse(read_file("out/compare.json"));
  for (json& run : record["runs"])
    for (const char* key : {"group", "seed", "swept"}) run.erase(key);
  for (const char* key : {"sweep", "band"}) record.erase(key);
  std::ofstream("out/compare.json") << record.dump();
  EXPECT_EQ(compare(two(), into("out", 1, true)).runs.size(), 2u);
  EXPECT_THROW(compare(two({"seeds=2"}), into("out", 1, true)), ConfigError);
}

// So many tasks of a moment on four threads; returns the most that went on at once.
int most_at_once(double memory, std::function<double(std::size_t)> weight, bool settle) {
  std::atomic<int> now = 0, most = 0;
  SideBySide tasks;
  tasks.tasks = 12;
  tasks.threads = tasks.at_once = 4;
  tasks.memory = memory;
  tasks.weight = std::move(weight);
  tasks.work = [&](std::size_t, int, const std::atomic<bool>&,
                   const std::function<void()>& settled) {
    const int running = ++now;
    for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
    }
    if (settle) settled();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    --now;
  };
  run_side_by_side(tasks);
  return most;
}

TEST(SideBySide, AsManyGoOnAsFitIntoMemory) {
  const auto same = [](std::size_t) { return 1.0; };
  EXPECT_EQ(most_at_once(1e12, same, true), 4);
  EXPECT_EQ(most_at_once(0, same, true), 1);
  EXPECT_EQ(most_at_once(1e12, same, false), 1) << "nobody knows yet what one of them takes";
}

TEST(SideBySide, ShareTheThreadsAndTakeOneEachIfThereAreEnough) {
  for (const auto& [count, expected] : {std::pair<std::size_t, int>{2, 4}, {20, 1}}) {
    std::mutex mutex;
    std::set<int> given;
    SideBySide tasks;
    tasks.tasks = count;
    tasks.threads = 8;
    tasks.at_once = static_cast<int>(std::min<std::size_t>(count, 8));
    tasks.memory = 1e12;
    tasks.weight = [](std::size_t) { return 1.0; };
    tasks.work = [&](std::size_t task, int threads, const std::atomic<bool>&, const auto& settled) {
      settled();
      const std::lock_guard lock(mutex);
      if (task == 0) given.insert(threads);
    };
    run_side_by_side(tasks);
    EXPECT_EQ(*given.begin(), expected);
  }
}

TEST(SideBySide, AnErrorStopsTheOthersAndWinsOverTheirInterruption) {
  SideBySide tasks;
  tasks.tasks = 8;
  tasks.threads = tasks.at_once = 4;
  tasks.memory = 1e12;
  tasks.weight = [](std::size_t) { return 1.0; };
  std::atomic<int> begun = 0;
  tasks.work = [&](std::size_t task, int, const std::atomic<bool>& stop, const auto& settled) {
    settled();
    ++begun;
    if (task == 2) throw DiskError("full");
    while (!stop) std::this_thread::yield();
    throw Interrupted("");
  };
  EXPECT_THROW(run_side_by_side(tasks), DiskError);
  EXPECT_LE(begun, 4);
}

}  // namespace
}  // namespace ticopd
