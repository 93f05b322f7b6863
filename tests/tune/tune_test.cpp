// The search with real runs: what it finds, what it costs, and that it can be stopped at any time.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "ticopd/experiment/prepare.hpp"
#include "tune/small_search.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Tune : public SmallSearch {
 protected:
  // Stops the search at its nth call of on_progress, like Ctrl-C.
  Tuned stopped(const Config& c, const std::string& name, int at) const {
    std::atomic<bool> stop = false;
    TuneOptions options = into(name);
    options.stop = &stop;
    int calls = 0;
    options.on_progress = [&](const TuneProgress&) { stop = ++calls >= at; };
    return tune(c, options);
  }

  // The search passes over step sizes that are better at the end of the budget and grow later.
  void expect_no_step_that_grows(const std::string& codec) const {
    const Config c = Config::parse(R"(iterations = 20
[problem]
objective = "softmax"
data = "synthetic"
samples = 300
features = 10
classes = 5
partition = "label"
l2 = 0.01
[graph]
agents = 5
[algorithm]
name = "beer"
[codec]
kind = "qsgd"
)" + codec + "\n",
                                   ".");
    const Tuned t = tune(c, into(codec, 40));
    EXPECT_EQ(t.beyond, Trial::Beyond::held);
    EXPECT_GT(t.grew, 0u);
    const auto loss_after = [&](int rounds, const std::string& eta, const std::string& gamma) {
      json tree = c.tree();
      tree["iterations"] = rounds;
      tree["algorithm"]["eta"] = std::stod(eta);
      tree["algorithm"]["gamma"] = std::stod(gamma);
      return final_loss(Config::from_json(tree, "."));
    };
    // The best at the end of the budget, which a search without the check would take.
    std::vector<std::string> blind;
    for (const auto& row : rows(codec))
      if (row[2] == "20" && (blind.empty() || std::stod(row[6]) < std::stod(blind[6]))) blind = row;
    EXPECT_LT(std::stod(blind[6]), t.value);
    EXPECT_EQ(loss_after(20, blind[4], blind[5]), std::stod(blind[6]));
    EXPECT_GT(loss_after(40, blind[4], blind[5]), 1.05 * std::stod(blind[6])) << "it grows";
    EXPECT_LE(loss_after(40, t.values.at("eta").dump(), t.values.at("gamma").dump()),
              1.05 * t.value);
  }

  // Prepares a new search in which only trial 0 has a checkpoint, with this eta or its own.
  void put_state_of_first_trial(const std::string& from, const std::string& to, int rounds,
                                const std::string& eta) const {
    fs::create_directories(base_ / to / "trials");
    fs::copy(base_ / from / "search.json", base_ / to / "search.json");
    const auto first = rows(from).front();
    ASSERT_EQ(first[1], "0");
    Prepared<float> p = prepare<float>(
        config({"iterations=" + std::to_string(rounds),
                "algorithm.eta=" + (eta.empty() ? first[4] : eta), "algorithm.gamma=" + first[5]}),
        {.threads = 1});
    p.setup.saving.file = base_ / to / "trials/0.safetensors";
    solve(p.algorithm, p.setup);
  }
};

TEST_F(Tune, FoundStepSizesReachTheReportedValue) {
  const Tuned t = tune(config(), into("a"));
  EXPECT_TRUE(t.finished);
  EXPECT_EQ(t.metric, "loss_max");
  EXPECT_EQ(t.rounds, 64u);
  EXPECT_LE(t.cost, 8);
  EXPECT_GT(t.cost, 3);
  Set set;
  for (const auto& [name, value] : t.values)
    set.push_back("algorithm." + name + "=" + json(value).dump());
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(final_loss(config(set)), t.value);
  EXPECT_LT(t.value, final_loss(config({"algorithm.eta=0.01", "algorithm.gamma=0.3"})));
}

TEST_F(Tune, AnyNumberOfThreadsGivesTheSameAnswer) {
  const Tuned one = tune(config(), into("one"));
  TuneOptions options = into("three");
  options.prepare.threads = 3;
  expect_same(tune(config(), options), one);
  EXPECT_EQ(trials("three"), trials("one"));
}

TEST_F(Tune, AnotherSeedTriesOtherPoints) {
  tune(config(), into("a", 3));
  tune(config({"tune.seed=2"}), into("b", 3));
  EXPECT_NE(rows("a")[0][4], rows("b")[0][4]);
}

TEST_F(Tune, OptionOverridesTheBudgetOfTheFile) {
  EXPECT_LE(tune(config({"tune.runs=2"}), into("a", 0)).cost, 2);
  const double told = tune(config({"tune.runs=2"}), into("b", 12)).cost;
  EXPECT_GT(told, 2);
  EXPECT_LE(told, 12);
}

TEST_F(Tune, TrialsFileAddsUpToTheCost) {
  const Tuned t = tune(config(), into("a"));
  double spent = 0;
  std::size_t lost = 0;
  for (const auto& row : rows("a")) {
    ASSERT_EQ(row.size(), 15u);
    spent += std::stod(row[3]);
    lost += row[9] == "diverged";
  }
  EXPECT_DOUBLE_EQ(spent / t.rounds, t.cost);
  EXPECT_EQ(lost, t.lost);
}

TEST_F(Tune, RemovesTheCheckpointsOfItsTrials) {
  tune(config(), into("a", 3));
  EXPECT_FALSE(fs::exists(base_ / "a/trials"));
  EXPECT_TRUE(fs::exists(base_ / "a/trials.csv"));
  EXPECT_TRUE(fs::exists(base_ / "a/search.json"));
}

TEST_F(Tune, StoppedSearchResumesToTheSameAnswer) {
  const Config c = config({"iterations=12000"});  // long enough to be stopped in the middle
  const Tuned whole = tune(c, into("whole", 2));
  for (const int threads : {1, 3}) {
    const std::string name = "cut" + std::to_string(threads);
    int parts = 0;
    for (bool cut = true; cut; ++parts) {  // each time a little later
      std::atomic<bool> stop = false;
      TuneOptions options = into(name, 2);
      options.stop = &stop;
      options.prepare.threads = threads;
      int calls = 0;
      options.on_progress = [&](const TuneProgress&) { stop = ++calls > parts; };
      const Tuned part = tune(c, options);
      cut = !part.finished;
      if (!cut) expect_same(part, whole);
    }
    EXPECT_GT(parts, 1) << "it was never stopped";
    EXPECT_EQ(trials(name), trials("whole"));
    EXPECT_FALSE(fs::exists(base_ / name / "trials"));
  }
}

TEST_F(Tune, SearchStoppedBeforeTheFirstRoundResumesToo) {
  std::atomic<bool> stop = true;
  TuneOptions options = into("a", 3);
  options.stop = &stop;
  EXPECT_FALSE(tune(config(), options).finished);
  EXPECT_TRUE(rows("a").empty());
  stop = false;
  expect_same(tune(config(), options), tune(config(), into("b", 3)));
  EXPECT_EQ(trials("a"), trials("b"));
}

TEST_F(Tune, FinishedSearchAnswersFromItsLog) {
  const Tuned first = tune(config(), into("a", 3));
  const std::string before = trials("a");
  TuneOptions again = into("a", 3);
  again.on_progress = [](const TuneProgress&) { ADD_FAILURE() << "a round was made"; };
  expect_same(tune(config(), again), first);
  EXPECT_EQ(trials("a"), before);
}

// A killed search: the checkpoints of its trials may be ahead of its log.
TEST_F(Tune, RepeatsTrialsThatAreMissingInItsLog) {
  const Tuned whole = tune(config(), into("whole"));
  put_state_of_first_trial("whole", "cut", 64, "");
  expect_same(tune(config(), into("cut")), whole);
  EXPECT_EQ(trials("cut"), trials("whole"));
}

TEST_F(Tune, ContinuesFromTheCheckpointsItFinds) {
  tune(config(), into("whole"));
  put_state_of_first_trial("whole", "same", 2, "");
  tune(config(), into("same"));
  EXPECT_EQ(trials("same"), trials("whole"));
  put_state_of_first_trial("whole", "other", 2, "5");  // from a trial with another step size
  tune(config(), into("other"));
  EXPECT_NE(rows("other")[0], rows("whole")[0]);
  EXPECT_EQ(rows("other")[1], rows("whole")[1]);
}

TEST_F(Tune, CountsTheRoundsOfADivergedTrialAcrossAStop) {
  // Every step size is so large that the second round overflows, or nearly.
  const Config c = config({"problem.objective=least_squares", "tune.search.eta=[2e4, 4e4]"});
  EXPECT_THROW(tune(c, into("whole")), Diverged);
  EXPECT_FALSE(stopped(c, "cut", 1).finished);  // stopped after the first round of the first trial
  EXPECT_THROW(tune(c, into("cut")), Diverged);
  EXPECT_EQ(trials("cut"), trials("whole"));
}

TEST_F(Tune, RejectsTheFolderOfAnotherSearch) {
  tune(config(), into("a", 3));
  const std::string before = trials("a");
  const auto refused = [&](const Set& set, TuneOptions options, const std::string& what) {
    expect_parts(message_of<ConfigError>([&] { tune(config(set), options); }),
                 {(base_ / "a").string(), "another search", what});
  };
  refused({"problem.samples=110"}, into("a", 3), "problem.samples");
  refused({"seed=2"}, into("a", 3), "seed");
  refused({"tune.seed=2"}, into("a", 3), "seed");
  refused({"tune.search.eta=[0.01, 1]"}, into("a", 3), "ranges");
  refused({"tune.search.gamma=0.5"}, into("a", 3), "gamma");
  refused({}, into("a", 4), "runs");
  TuneOptions options = into("a", 3);
  options.metric = "loss_mean";
  refused({}, options, "metric");
  EXPECT_EQ(trials("a"), before);
  tune(config({"tune.search.gamma=0.5"}), into("b", 3));
  expect_parts(
      message_of<ConfigError>([&] { tune(config({"tune.search.gamma=0.6"}), into("b", 3)); }),
      {"another search", "gamma"});
}

TEST_F(Tune, PrefersTheHighestAccuracy) {
  TuneOptions options = into("a");
  options.metric = "accuracy_mean";
  const Tuned t = tune(
      config({"iterations=16", "problem.samples=400", "tune.search.eta=[0.0005, 0.3]"}), options);
  double best = 0, worst = 1;
  for (const auto& row : rows("a"))
    if (row[2] == "16") {
      best = std::max(best, std::stod(row[6]));
      worst = std::min(worst, std::stod(row[6]));
    }
  EXPECT_LT(worst, best) << "a test that cannot fail";
  EXPECT_EQ(t.value, best);
  EXPECT_GT(t.value, 0.8);
}

TEST_F(Tune, RejectsAnUnknownMetric) {
  TuneOptions options = into("a");
  options.metric = "loss_maxx";
  expect_parts(message_of<ConfigError>([&] { tune(config(), options); }),
               {"tune.metric", "loss_maxx", "did you mean \"loss_max\"?"});
  expect_parts(
      message_of<ConfigError>([&] { tune(config({"tune.metric=\"accuracy\""}), into("a")); }),
      {"tune.metric", "accuracy_min"});
  EXPECT_FALSE(fs::exists(base_ / "a"));
}

TEST_F(Tune, RejectsAMetricThatTheProblemDoesNotHave) {
  TuneOptions options = into("a");
  options.metric = "accuracy_min";
  expect_parts(
      message_of<ConfigError>([&] { tune(config({"problem.objective=least_squares"}), options); }),
      {"tune.metric", "accuracy_min", "no such metric"});
}

TEST_F(Tune, SpendsLittleOnDivergedTrials) {
  const Tuned t = tune(config({"problem.objective=least_squares", "iterations=640",
                               "tune.search.eta=[0.001, 1000]", "tune.search.gamma=0.5"}),
                       into("a"));
  std::size_t lost = 0;
  for (const auto& row : rows("a")) {
    if (row[8] != "diverged") continue;
    ++lost;
    EXPECT_EQ(row[5], "nan");
    EXPECT_LE(std::stod(row[3]), std::stod(row[2]));
    EXPECT_LE(std::stod(row[3]), std::stod(row[4]) > 30 ? 16 : 640);
  }
  EXPECT_GT(lost, 3u);
  EXPECT_LT(t.values.at("eta"), 10);
  EXPECT_TRUE(std::isfinite(t.value));
}

TEST_F(Tune, LooksLowerIfItsRangesAllDiverge) {
  std::string csv;  // features in the thousands make a steep problem
  for (int i = 0; i < 40; ++i)
    csv += std::to_string(i) + "," + std::to_string(10000 + 700 * (i % 11)) + "," +
           std::to_string(5000 + 900 * (i % 7)) + "\n";
  write("steep.csv", csv);
  const Tuned t = tune(config({"problem.objective=least_squares", "precision=double",
                               "problem.data=\"csv:" + (base_ / "steep.csv").string() + "\""}),
                       into("a"));
  EXPECT_LT(t.values.at("eta"), 1e-4);  // the lower end of the default range
}

TEST_F(Tune, ReportsThatAllTrialsDiverged) {
  const Config c = config({"problem.objective=least_squares", "tune.search.eta=[1e3, 1e6]"});
  expect_parts(message_of<Diverged>([&] { tune(c, into("a")); }),
               {"all", "[tune.search]", "eta", "gamma"});
}

TEST_F(Tune, CoarserCodecsGetMoreRoundsForTheSameBits) {
  const auto rounds = [&](int bits) {
    TuneOptions options = into("bits" + std::to_string(bits), 2);
    options.budget_bits = 20000;
    const Tuned t =
        tune(config({"problem.features=60", "codec.bits=" + std::to_string(bits)}), options);
    double most = 0;
    for (const auto& row : rows("bits" + std::to_string(bits)))
      if (row[7] != "nan") most = std::max(most, std::stod(row[7]));
    EXPECT_LE(most, 20000);
    EXPECT_GT(most, 0.9 * 20000);
    return t.rounds;
  };
  const double ratio = static_cast<double>(rounds(4)) / rounds(8);
  EXPECT_GT(ratio, 1.7);
  EXPECT_LT(ratio, 2.1);
}

TEST_F(Tune, RejectsABudgetBelowOneRound) {
  TuneOptions options = into("a");
  options.budget_bits = 10;
  expect_parts(message_of<ConfigError>([&] { tune(config(), options); }),
               {"--budget-bits 10", "one round sends"});
  EXPECT_FALSE(fs::exists(base_ / "a"));
}

TEST_F(Tune, RejectsADamagedFolder) {
  tune(config(), into("a", 3));
  const std::string whole = trials("a");
  write("a/trials.csv", whole.substr(0, whole.size() - 20));
  EXPECT_THROW(tune(config(), into("a", 3)), FormatError);
  write("a/trials.csv", whole);
  EXPECT_NO_THROW(tune(config(), into("a", 3)));
  write("a/search.json", "{");
  EXPECT_THROW(tune(config(), into("a", 3)), FormatError);
}

TEST_F(Tune, CountsATrialWithTheMedianOfItsSeeds) {
  TuneOptions options = into("a");
  options.seeds = {1, 2, 3};
  const Tuned t = tune(config(), options);
  EXPECT_EQ(t.seeds, options.seeds);
  std::vector<double> values;
  for (const std::uint64_t seed : options.seeds) {
    Set set{"seed=" + std::to_string(seed)};
    for (const auto& [name, value] : t.values)
      set.push_back("algorithm." + name + "=" + value.dump());
    values.push_back(final_loss(config(set)));
  }
  std::ranges::sort(values);
  EXPECT_NE(values[0], values[2]);
  EXPECT_EQ(t.value, values[1]);
  double spent = 0;
  for (const auto& row : rows("a")) spent += std::stod(row[3]);
  EXPECT_NEAR(spent / t.rounds / 3, t.cost, 1e-9) << "all seeds count";
  expect_same(tune(config({"tune.seeds=3"}), into("b")), t);
  expect_same(tune(config({"tune.seeds=[1, 2, 3]"}), into("c")), t);
}

TEST_F(Tune, ATrialWithADivergedSeedLoses) {
  // Only the split and the data of seed 1 stand such steps: with the others one run is lost.
  TuneOptions options = into("a");
  options.seeds = {1, 2, 3, 4, 5};
  const Tuned t =
      tune(config({"problem.objective=least_squares", "tune.search.eta=[0.01, 10]"}), options);
  std::map<std::string, std::set<std::string>> status;  // of each trial
  for (const auto& row : rows("a")) status[row[1]].insert(row[9]);
  std::size_t both = 0;
  for (const auto& [trial, of] : status) both += of.size() > 1 && of.contains("diverged");
  EXPECT_GT(both, 0u) << "a test that cannot fail";
  for (const auto& row : rows("a"))
    if (std::stod(row[4]) == t.values.at("eta").get<double>() &&
        std::stod(row[5]) == t.values.at("gamma").get<double>()) {
      EXPECT_NE(row[9], "diverged");
    }
}

TEST_F(Tune, MinimizesTheBitsUntilATarget) {
  TuneOptions options = into("a", 12);
  options.metric = "bits_to:accuracy_min=0.9";
  const Set lists{"problem.samples=200", "tune.search.codec.bits=[2, 4, 8]"};
  const Tuned t = tune(config(lists), options);
  double best = INFINITY;
  for (const auto& row : rows("a"))
    if (row[2] == "64") best = std::min(best, std::stod(row[7]));
  EXPECT_TRUE(std::isfinite(best));
  EXPECT_EQ(t.value, best);
  EXPECT_EQ(t.rounds, 64u) << "the config goes on to the end of the budget";
  // A run with these values says the same.
  Set set{"problem.samples=200", "codec.bits=" + t.values.at("codec.bits").dump(),
          "algorithm.eta=" + t.values.at("eta").dump(),
          "algorithm.gamma=" + t.values.at("gamma").dump()};
  Prepared<float> p = prepare<float>(config(set), {.threads = 1});
  std::optional<double> bits;
  p.setup.watch.on_log = [&](const Metrics& m) {
    if (!bits && m.accuracy_min.value() >= 0.9) bits = m.bits_payload;
  };
  solve(p.algorithm, p.setup);
  EXPECT_EQ(bits, t.value);
  options.out = base_ / "far";
  options.metric = "iterations_to:loss_max=1e-30";
  EXPECT_EQ(tune(config(), options).value, INFINITY);
}

TEST_F(Tune, RejectsATargetThatTheStartHas) {
  TuneOptions options = into("a");
  options.metric = "bits_to:loss_max=1000";
  expect_parts(message_of<ConfigError>([&] { tune(config(), options); }),
               {"bits_to:loss_max=1000", "the start has", "already"});
  EXPECT_FALSE(fs::exists(base_ / "a"));
}

TEST_F(Tune, RunsItsAnswerOnForTwiceTheBudget) {
  const Tuned t = tune(config(), into("a", 12));
  EXPECT_EQ(t.beyond, Trial::Beyond::held);
  EXPECT_LE(t.cost, 12);
  bool ran_on = false;
  for (const auto& row : rows("a"))
    ran_on = ran_on || (row[2] == "128" && row[9] == "finished" &&
                        std::stod(row[4]) == t.values.at("eta").get<double>());
  EXPECT_TRUE(ran_on);
  EXPECT_EQ(tune(config(), into("b", 3)).beyond, Trial::Beyond::unknown) << "too few runs for it";
}

TEST_F(Tune, FindsCodecGraphAndSchedule) {
  const Set set{"tune.search.codec.bits=[1, 4]", "tune.search.graph.kind=[\"ring\", \"complete\"]",
                "tune.search.eta={schedule=\"inverse_sqrt\", t0=[1, 100]}"};
  TuneOptions options = into("a", 12);
  const Tuned t = tune(config(set), options);
  EXPECT_EQ(t.values.size(), 5u);
  Config found = config(set);
  json tree = found.tree();
  tree["codec"]["bits"] = t.values.at("codec.bits");
  tree["graph"]["kind"] = t.values.at("graph.kind");
  tree["algorithm"]["eta"] = {
      {"schedule", "inverse_sqrt"}, {"c", t.values.at("eta.c")}, {"t0", t.values.at("eta.t0")}};
  tree["algorithm"]["gamma"] = t.values.at("gamma");
  EXPECT_EQ(final_loss(Config::from_json(tree, ".")), t.value);
  const std::string all = trials("a");
  EXPECT_NE(all.find("complete"), std::string::npos);
  EXPECT_NE(all.find("ring"), std::string::npos);
}

TEST_F(Tune, SearchWithSeedsAndListsStoppedAnywhereResumesToTheSameAnswer) {
  const Config c = config({"iterations=4000", "tune.search.codec.bits=[2, 4]",
                           "tune.search.graph.kind=[\"ring\", \"complete\"]"});
  const auto options_in = [&](const std::string& name) {
    TuneOptions options = into(name, 6);
    options.seeds = {1, 2};
    options.metric = "bits_to:loss_max=1e-4";
    return options;
  };
  const Tuned whole = tune(c, options_in("whole"));
  int parts = 0;
  for (bool cut = true; cut; ++parts) {
    ASSERT_LT(parts, 200);
    std::atomic<bool> stop = false;
    TuneOptions options = options_in("cut");
    options.stop = &stop;
    options.prepare.threads = 1 + parts % 3;
    int calls = 0;
    options.on_progress = [&](const TuneProgress&) { stop = ++calls > 1 + parts / 4; };
    const Tuned part = tune(c, options);
    cut = !part.finished;
    if (!cut) expect_same(part, whole);
  }
  EXPECT_GT(parts, 1) << "it was never stopped";
  EXPECT_EQ(trials("cut"), trials("whole"));
}

TEST_F(Tune, RejectsTheFolderOfAnOlderVersion) {
  tune(config(), into("a", 3));
  json search = json::parse(read_file(base_ / "a/search.json"));
  search.erase("format");
  write("a/search.json", search.dump());
  expect_parts(message_of<ConfigError>([&] { tune(config(), into("a", 3)); }),
               {(base_ / "a").string(), "another version", "new folder"});
}

TEST_F(Tune, SaysWhatTheTheorySaysOfItsAnswer) {
  const Tuned t = tune(config({"algorithm={name=\"ticopd\"}"}), into("a", 3));
  ASSERT_TRUE(t.theory.is_object());
  EXPECT_GT(t.theory["L"].get<double>(), 0);
  ASSERT_EQ(t.theory["limits"].size(), 5u);
  EXPECT_TRUE(t.theory["limits"][0]["holds"].get<bool>()) << "beta >= 0 by its own definition";
  const json search = json::parse(read_file(base_ / "a/search.json"));
  EXPECT_EQ(search["answer"]["theory"], t.theory);
  EXPECT_EQ(search["answer"]["values"]["alpha"], t.values.at("alpha"));
}

// The best steps for so few rounds of so coarse a codec make a run that grows when it goes on.
TEST_F(Tune, TakesNoStepsThatWinAShortBudgetAndGrowLater) {
  for (const std::string codec : {"bits = 1", "bits = 2\nscaled = false"}) {
    SCOPED_TRACE(codec);
    expect_no_step_that_grows(codec);
  }
}

// Squared house prices: such a problem starts at a loss of 10^10, which is not divergence.
TEST_F(SmallSearch, LargeLossIsNotDivergence) {
  std::ofstream csv(base_ / "prices.csv");
  for (int i = 0; i < 60; ++i)
    csv << (i % 7) * 0.1 << ',' << (i % 5) * 0.2 << ',' << 150000 + 1000 * i << '\n';
  csv.close();
  const Config prices = Config::parse(
      "iterations = 64\nprecision = \"double\"\n[problem]\nobjective = \"least_squares\"\n"
      "data = \"csv:prices.csv\"\npartition = \"iid\"\n[graph]\nagents = 4\n"
      "[algorithm]\nname = \"dgd\"\n",
      base_);
  const Tuned tuned = tune(prices, into("prices"));
  EXPECT_TRUE(tuned.finished);
  EXPECT_GT(tuned.value, 0);
  EXPECT_LT(tuned.value, 2e10) << "half the square of 2e5, where it begins";
}

// To count the bits per round, the search probes a method with some step sizes. This must also work
// for methods that diverge with them or stay silent for several rounds.
TEST_F(Tune, CountsTheBitsPerRoundOfMethodsThatAreHardToProbe) {
  TuneOptions options = into("prox");
  options.budget_bits = 20000;
  EXPECT_GT(tune(config({"problem.objective=least_squares", "codec.kind=identity",
                         "algorithm={name=\"prox_gpda\"}"}),
                 options)
                .rounds,
            1u);
  options.out = into("local").out;
  const Tuned t = tune(
      config({"codec.kind=identity", "iterations=400", "algorithm={name=\"local_sgd\",period=64}"}),
      options);
  EXPECT_GE(t.rounds, 64u);
}

}  // namespace
}  // namespace ticopd
