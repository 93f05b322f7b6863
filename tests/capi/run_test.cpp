// A run through the C interface is the run that the library makes, however its questions are
// answered.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "capi/asked_run.hpp"
#include "ticopd/experiment/prepare.hpp"

namespace ticopd::capi {
namespace {

namespace fs = std::filesystem;

// The same objective, brought to the library itself.
class Brought final : public ExternalObjective {
 public:
  std::shared_ptr<const Objective<float>> in_float() const override { return nullptr; }
  std::shared_ptr<const Objective<double>> in_double() const override {
    return std::make_shared<dense::LeastSquares<double>>(
        dense::ProblemSize{AskedRun::agents, 21, 12});
  }
};

std::string digest_in_process(const json& config) {
  PrepareOptions options;
  options.threads = 1;
  options.external = std::make_shared<Brought>();
  const Prepared<double> p = prepare<double>(Config::from_json(config, "."), options);
  return solve(p.algorithm, p.setup).digest;
}

fs::path scratch(const std::string& name) {
  const fs::path folder =
      fs::temp_directory_path() / ("ticopd_capi_" + name + "_" + std::to_string(::getpid()));
  fs::remove_all(folder);
  return folder;
}

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryAlgorithm, HasTheDigestOfTheSameObjectiveInCpp) {
  const json config = config_for(GetParam(), AskedRun::agents);
  AskedRun asked(config);
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  ASSERT_EQ(asked.step(1000), TC_OK) << tc_message();
  EXPECT_EQ(tc_run_finished(asked.run), 1);
  EXPECT_EQ(asked.digest(), digest_in_process(config));
}

TEST_P(EveryAlgorithm, QuestionsThatAreAskedAgainChangeNothing) {
  const json config = config_for(GetParam(), AskedRun::agents);
  AskedRun asked(config);
  asked.ask_again(30);
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  for (int i = 0; i < 5; ++i) ASSERT_EQ(asked.step(7), TC_OK) << tc_message();
  EXPECT_EQ(asked.digest(), digest_in_process(config));
}

// Whatever the algorithm was doing when its question was left open, the folder that is then saved
// leads to the same end.
TEST_P(EveryAlgorithm, CanBeSavedWhileAQuestionIsOpen) {
  const json config = config_for(GetParam(), AskedRun::agents);
  const fs::path folder = scratch(GetParam());
  {
    AskedRun asked(config);
    ASSERT_EQ(asked.open(), TC_OK) << tc_message();
    ASSERT_EQ(tc_run_step(asked.run, 1000), TC_OK);
    ASSERT_EQ(asked.answer_all(100), TC_ASKS) << "it must ask more than this";
    EXPECT_EQ(tc_run_pending(asked.run), 1);
    ASSERT_EQ(tc_run_save(asked.run, folder.c_str()), TC_OK) << tc_message();
    EXPECT_LE(tc_run_saved_round(asked.run), tc_run_round(asked.run));
  }  // closed with its question open
  AskedRun resumed(config);
  ASSERT_EQ(resumed.open(), TC_OK) << tc_message();
  ASSERT_EQ(tc_run_resume(resumed.run, folder.c_str()), TC_OK) << tc_message();
  ASSERT_EQ(resumed.answer_all(), TC_OK) << tc_message();
  ASSERT_EQ(resumed.step(1000), TC_OK) << tc_message();
  EXPECT_EQ(resumed.digest(), digest_in_process(config));
  EXPECT_EQ(resumed.rows()[0], 0);
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(, EveryAlgorithm, ::testing::ValuesIn(dense::algorithm_names()),
                         [](const auto& tested) { return tested.param; });

TEST(AskedSteps, GoOnAfterAnOpenQuestion) {
  const json config = config_for("ticopd", AskedRun::agents);
  AskedRun asked(config);
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  ASSERT_EQ(asked.step(3), TC_OK);
  ASSERT_EQ(tc_run_step(asked.run, 10), TC_OK);
  ASSERT_EQ(asked.answer_all(0), TC_ASKS);
  EXPECT_EQ(tc_run_round(asked.run), 3u) << "the round that is being made does not count";
  ASSERT_EQ(asked.step(2), TC_OK);
  EXPECT_EQ(tc_run_round(asked.run), 5u);
  ASSERT_EQ(tc_run_step(asked.run, 10), TC_OK);
  ASSERT_EQ(asked.answer_all(0), TC_ASKS);
  ASSERT_EQ(asked.step(0), TC_OK) << "the round that is being made, and no other";
  EXPECT_LE(tc_run_round(asked.run), 6u);
  ASSERT_EQ(asked.step(1000), TC_OK);
  EXPECT_EQ(asked.digest(), digest_in_process(config));
}

TEST(AskedSteps, RefuseOtherWorkWhileAQuestionIsOpen) {
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  ASSERT_EQ(tc_run_step(asked.run, 10), TC_OK);
  ASSERT_EQ(asked.answer_all(0), TC_ASKS);
  EXPECT_EQ(tc_run_measure(asked.run, 2), TC_USAGE);
  EXPECT_NE(std::string(tc_message()).find("question"), std::string::npos) << tc_message();
  EXPECT_EQ(tc_run_resume(asked.run, "/nowhere"), TC_USAGE);
  EXPECT_EQ(tc_run_give_up(asked.run), TC_USAGE);
  ASSERT_EQ(asked.step(10), TC_OK) << tc_message();
}

TEST(AskedMeasurement, CanBeGivenUpAndChangesNothing) {
  const json config = config_for("beer", AskedRun::agents);
  AskedRun asked(config);
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  ASSERT_EQ(asked.step(4), TC_OK);
  ASSERT_EQ(tc_run_measure(asked.run, 2), TC_OK);
  ASSERT_EQ(asked.answer_all(2), TC_ASKS);
  ASSERT_EQ(tc_run_give_up(asked.run), TC_OK) << tc_message();
  EXPECT_EQ(asked.answer_all(), TC_INTERRUPTED);
  ASSERT_EQ(tc_run_measure(asked.run, 2), TC_OK);
  ASSERT_EQ(asked.answer_all(), TC_OK) << tc_message();
  std::vector<double> cells(asked.columns().size());
  ASSERT_EQ(tc_run_measured(asked.run, cells.data()), TC_OK);
  EXPECT_EQ(cells[0], 4);
  EXPECT_TRUE(std::isfinite(cells[4])) << "loss_max";
  ASSERT_EQ(asked.step(1000), TC_OK);
  EXPECT_EQ(asked.digest(), digest_in_process(config));
}

TEST(AskedMetrics, AreLoggedBesideOurs) {
  json config = config_for("ticopd", AskedRun::agents);
  config["log"] = {{"level", "rows"}};
  AskedRun asked(config);
  ASSERT_EQ(asked.open({"first", "accuracy"}), TC_OK) << tc_message();
  ASSERT_EQ(asked.step(1000), TC_OK) << tc_message();
  const std::vector<std::string> names = asked.columns();
  const auto place = [&](const std::string& name) {
    const auto at = std::ranges::find(names, name);
    EXPECT_NE(at, names.end()) << name;
    return static_cast<std::size_t>(at - names.begin());
  };
  const void* x = nullptr;
  std::int32_t first = -1, rows = 0;
  std::uint64_t columns = 0;
  ASSERT_EQ(tc_run_x(asked.run, &x, &first, &rows, &columns), TC_OK);
  ASSERT_EQ(rows, AskedRun::agents);
  double least = INFINITY, greatest = -INFINITY;
  for (int i = 0; i < rows; ++i) {
    const double value = static_cast<const double*>(x)[static_cast<std::size_t>(i) * columns];
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  const std::vector<double> cells = asked.rows();
  const double* last = cells.data() + cells.size() - names.size();
  EXPECT_EQ(last[place("first_min")], least);
  EXPECT_EQ(last[place("first_max")], greatest);
  EXPECT_EQ(last[place("accuracy_min")], least + 1);
  EXPECT_TRUE(std::isfinite(last[place("accuracy_mean")]));
  EXPECT_TRUE(std::isnan(last[place("loss_max")])) << "rows measure no loss";
  EXPECT_EQ(config_for("ticopd", 7)["log"], json());

  const fs::path folder = scratch("metrics");
  ASSERT_EQ(tc_run_save(asked.run, folder.c_str()), TC_OK) << tc_message();
  ASSERT_EQ(asked.answer_all(), TC_OK) << tc_message();
  char* text = nullptr;
  ASSERT_EQ(tc_folder_read(folder.c_str(), &text), TC_OK) << tc_message();
  const json read = json::parse(text_of(text));
  const auto names_read = read["columns"].get<std::vector<std::string>>();
  const auto at = std::ranges::find(names_read, "first_min") - names_read.begin();
  EXPECT_EQ(read["metrics"][static_cast<std::size_t>(at)].back(), least);
  EXPECT_EQ(read["summary"]["status"], "finished");
  fs::remove_all(folder);
}

TEST(AskedMetrics, RefuseNamesThatCannotBeColumns) {
  for (const char* name : {"a,b", "", "loss", "iteration\n"}) {
    AskedRun asked(config_for("ticopd", AskedRun::agents));
    EXPECT_EQ(asked.open({name}), TC_CONFIG) << name;
    EXPECT_NE(std::string(tc_message()).find("metrics"), std::string::npos) << tc_message();
  }
}

TEST(AskedRuns, ValuesThatAreNotFiniteDiverge) {
  AskedRun asked(config_for("dgd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  ASSERT_EQ(tc_run_step(asked.run, 100), TC_OK);
  tc_question q{};
  int code = TC_OK;
  for (std::uint64_t answered = 0;; answered = q.number) {
    code = tc_run_next(asked.run, answered, 1, &q);
    if (code != TC_ASKS) break;
    asked.answer(q);
    if (q.values != nullptr) q.values[0] = NAN;
  }
  EXPECT_EQ(code, TC_DIVERGED);
  EXPECT_EQ(tc_run_step(asked.run, 1), TC_OK);
  EXPECT_EQ(asked.answer_all(), TC_DIVERGED) << "and stays so";
}

TEST(AskedRuns, ASecondThreadIsRefused) {
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  ASSERT_EQ(tc_run_step(asked.run, 5), TC_OK);
  tc_question q{};
  ASSERT_EQ(tc_run_next(asked.run, 0, 10, &q), TC_ASKS);
  std::thread waits([&] {  // nobody answers: it waits, and uses the run meanwhile
    tc_question mine{};
    asked.answer(q);
    for (std::uint64_t answered = q.number; tc_run_next(asked.run, answered, 0.1, &mine) == TC_ASKS;
         answered = mine.number)
      asked.answer(mine);
  });
  int refused = 0;
  for (int i = 0; i < 200000 && refused == 0; ++i) {
    char* hex = nullptr;
    if (tc_run_digest(asked.run, &hex) == TC_USAGE) ++refused;
    tc_free(hex);
  }
  waits.join();
  ASSERT_EQ(asked.answer_all(), TC_OK) << tc_message();
  EXPECT_EQ(tc_run_round(asked.run), 5u);
}

TEST(AskedRuns, AForkedChildIsRefusedAndTheParentGoesOn) {
  const json config = config_for("ticopd", AskedRun::agents);
  AskedRun asked(config);
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  ASSERT_EQ(asked.step(3), TC_OK);
  const pid_t child = ::fork();
  if (child == 0) {
    char* hex = nullptr;
    tc_question q{};
    const bool fine = tc_run_digest(asked.run, &hex) == TC_USAGE &&
                      tc_run_step(asked.run, 1) == TC_USAGE &&
                      tc_run_next(asked.run, 0, 1, &q) == TC_USAGE;
    tc_run_close(asked.run);  // nothing happens
    ::_exit(fine ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(asked.step(1000), TC_OK) << tc_message();
  EXPECT_EQ(asked.digest(), digest_in_process(config));
}

TEST(AskedRuns, ConfigsThatCannotBeSayWhatIsWrong) {
  const auto message_of = [](json config, bool with_problem, int expected) {
    AskedRun asked(std::move(config));
    if (with_problem) {
      EXPECT_EQ(asked.open(), expected);
    } else {
      tc_run* run = nullptr;
      const std::string text = config_for("ticopd", 7).dump();
      EXPECT_EQ(tc_run_open(text.c_str(), nullptr, nullptr, nullptr, &run), expected);
      EXPECT_EQ(run, nullptr);
    }
    return std::string(tc_message());
  };
  json wrong = config_for("ticopd", AskedRun::agents);
  EXPECT_NE(message_of(wrong, false, TC_USAGE).find("tc_problem"), std::string::npos);
  wrong["problem"]["l2"] = 0.1;
  EXPECT_NE(message_of(wrong, true, TC_CONFIG).find("problem.l2"), std::string::npos);
  wrong = config_for("ticopd", 8);
  EXPECT_NE(message_of(wrong, true, TC_CONFIG).find("8 agents"), std::string::npos) << tc_message();
  wrong = config_for("ticopd", AskedRun::agents);
  wrong["algorithm"].erase("alpha");
  EXPECT_NE(message_of(wrong, true, TC_CONFIG).find("alpha"), std::string::npos);
  wrong = config_for("ticopd", AskedRun::agents);
  wrong["problem"] = {{"objective", "least_squares"}, {"data", "synthetic"}};
  EXPECT_NE(message_of(wrong, true, TC_CONFIG).find("external"), std::string::npos);
  tc_run* run = nullptr;
  EXPECT_EQ(tc_run_open("{", nullptr, nullptr, nullptr, &run), TC_USAGE);
  EXPECT_EQ(tc_run_open(nullptr, nullptr, nullptr, nullptr, &run), TC_USAGE);
}

TEST(AskedRuns, TheSaveOfAnotherRunIsRefused) {
  const fs::path folder = scratch("other");
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK);
  ASSERT_EQ(tc_run_save(asked.run, folder.c_str()), TC_OK);
  ASSERT_EQ(asked.answer_all(), TC_OK) << tc_message();
  AskedRun other(config_for("beer", AskedRun::agents));
  ASSERT_EQ(other.open(), TC_OK);
  ASSERT_EQ(tc_run_save(other.run, folder.c_str()), TC_OK);
  EXPECT_EQ(other.answer_all(), TC_CONFIG);
  EXPECT_NE(std::string(tc_message()).find("algorithm"), std::string::npos) << tc_message();
  ASSERT_EQ(tc_run_resume(other.run, folder.c_str()), TC_OK);
  EXPECT_EQ(other.answer_all(), TC_CONFIG);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ticopd::capi
