// Wrong use of the C interface ends in an error code: nothing crashes, nothing hangs.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>

#include "capi/asked_run.hpp"

namespace ticopd::capi {
namespace {

bool says(const std::string& words) {
  return std::string(tc_message()).find(words) != std::string::npos;
}

// Every function that takes a run, with arguments that are right; the codes they return.
std::vector<int> use_everything(tc_run* run) {
  tc_question q{};
  char* text = nullptr;
  double cells[64];
  const void* x = nullptr;
  std::vector<int> codes{tc_run_step(run, 1),
                         tc_run_measure(run, 0),
                         tc_run_save(run, "/nowhere/at/all"),
                         tc_run_resume(run, "/nowhere/at/all"),
                         tc_run_next(run, 0, 0.1, &q),
                         tc_run_give_up(run),
                         tc_run_x(run, &x, nullptr, nullptr, nullptr),
                         tc_run_digest(run, &text),
                         tc_run_log_every(run, 3),
                         tc_run_columns(run, &text),
                         tc_run_rows(run, 0, 0, cells),
                         tc_run_measured(run, cells),
                         tc_run_summary(run, &text),
                         tc_run_warnings(run, &text)};
  EXPECT_EQ(tc_run_pending(run), 0);
  EXPECT_EQ(tc_run_saved_round(run), 0u);
  EXPECT_EQ(tc_run_round(run), 0u);
  EXPECT_EQ(tc_run_finished(run), 0);
  EXPECT_EQ(tc_run_logged(run), 0u);
  EXPECT_EQ(text, nullptr);
  return codes;
}

tc_study* theory() {
  const char* const config =
      "{\"problem\": {\"objective\": \"least_squares\", \"data\": \"synthetic\", \"samples\": 40,"
      " \"features\": 3, \"partition\": \"iid\"}, \"graph\": {\"agents\": 4},"
      " \"codec\": {\"kind\": \"qsgd\"},"
      " \"algorithm\": {\"name\": \"ticopd\", \"alpha\": 0.1, \"theta\": 1, \"eta\": 0.1}}";
  tc_study* study = nullptr;
  EXPECT_EQ(tc_theory(config, ".", nullptr, &study), TC_OK) << tc_message();
  return study;
}

int end_of(tc_study* study) {
  tc_question q{};
  int code = TC_WAIT;
  while (code == TC_WAIT) code = tc_study_next(study, 0, 1, &q);
  return code;
}

tc_codec* qsgd() {
  tc_codec* codec = nullptr;
  EXPECT_EQ(tc_codec_open("{\"kind\": \"qsgd\", \"bits\": 4}", TC_FLOAT, &codec), TC_OK);
  return codec;
}

TEST(Handles, ARunThatWasClosedIsRefused) {
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  tc_run_close(asked.run);
  tc_run_close(asked.run);
  for (const int code : use_everything(asked.run)) EXPECT_EQ(code, TC_USAGE);
  EXPECT_TRUE(says("closed")) << tc_message();
  AskedRun next(config_for("ticopd", AskedRun::agents));  // may lie at the same place
  ASSERT_EQ(next.open(), TC_OK) << tc_message();
  EXPECT_EQ(tc_run_step(asked.run, 1), TC_USAGE);
  tc_run_close(asked.run);
  EXPECT_EQ(next.step(3), TC_OK) << tc_message();
}

TEST(Handles, NullPointersAreRefused) {
  for (const int code : use_everything(nullptr)) EXPECT_EQ(code, TC_USAGE);
  tc_run_close(nullptr);
  tc_codec_close(nullptr);
  tc_study_close(nullptr);
  tc_free(nullptr);
  char* text = nullptr;
  tc_question q{};
  float v[4] = {1, 2, 3, 4};
  const void* bytes = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(tc_codec_encode(nullptr, v, 4, 1, 1, 0, 0, &bytes, &size), TC_USAGE);
  EXPECT_EQ(tc_codec_encode_into(nullptr, v, 4, 1, 1, 0, 0, v, 4), TC_USAGE);
  EXPECT_EQ(tc_codec_decode(nullptr, v, 4, 1, 1, 0, 0, v, 4), TC_USAGE);
  EXPECT_EQ(tc_codec_about(nullptr, 4, &text), TC_USAGE);
  EXPECT_EQ(tc_study_next(nullptr, 0, 0, &q), TC_USAGE);
  EXPECT_EQ(tc_study_progress(nullptr, &text), TC_USAGE);
  EXPECT_EQ(tc_study_stop(nullptr), TC_USAGE);
  EXPECT_EQ(tc_study_result(nullptr, &text), TC_USAGE);
  EXPECT_EQ(tc_ranks_size(nullptr), 0);
  EXPECT_EQ(tc_ranks_rank(nullptr), 0);
  EXPECT_EQ(tc_ranks_close(nullptr), TC_USAGE);
  EXPECT_EQ(tc_ranks_fail(nullptr, 70, "why", &text), TC_USAGE);
  EXPECT_EQ(tc_ranks_leave(nullptr), TC_USAGE);
  EXPECT_EQ(tc_ranks_join(1, nullptr), TC_USAGE);
  EXPECT_EQ(tc_run_open("{}", ".", nullptr, nullptr, nullptr), TC_USAGE);
  EXPECT_EQ(tc_codec_open("{}", TC_FLOAT, nullptr), TC_USAGE);
  EXPECT_EQ(tc_tables(nullptr), TC_USAGE);
  EXPECT_EQ(tc_schema(nullptr), TC_USAGE);
  EXPECT_EQ(tc_config_read(nullptr, nullptr, 0, &text), TC_USAGE);
  EXPECT_EQ(tc_config_complete(nullptr, ".", &text), TC_USAGE);
  EXPECT_EQ(tc_config_to_toml(nullptr, &text), TC_USAGE);
  EXPECT_EQ(tc_folder_read(nullptr, &text), TC_USAGE);
  tc_study* study = nullptr;
  EXPECT_EQ(tc_compare(nullptr, 2, nullptr, &study), TC_USAGE);
  EXPECT_EQ(tc_tune(nullptr, nullptr, nullptr, nullptr, &study), TC_USAGE);
  EXPECT_EQ(tc_theory(nullptr, ".", nullptr, &study), TC_USAGE);
  EXPECT_EQ(tc_report(nullptr, 1, "out", nullptr, &text), TC_USAGE);
  EXPECT_EQ(study, nullptr);
  EXPECT_EQ(text, nullptr);
}

TEST(Handles, NullPointersInsideOfListsAreRefused) {
  char* text = nullptr;
  const char* const nothing[] = {nullptr};
  EXPECT_EQ(tc_config_read("/etc/hostname", nothing, 1, &text), TC_USAGE) << tc_message();
  EXPECT_EQ(tc_config_read("/etc/hostname", nullptr, 1, &text), TC_USAGE) << tc_message();
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK);
  tc_problem problem = asked.problem;
  tc_run* run = nullptr;
  const std::string config = config_for("ticopd", AskedRun::agents).dump();
  problem.metrics = nothing;
  problem.metric_count = 1;
  EXPECT_EQ(tc_run_open(config.c_str(), ".", &problem, nullptr, &run), TC_USAGE) << tc_message();
  problem.metrics = nullptr;
  EXPECT_EQ(tc_run_open(config.c_str(), ".", &problem, nullptr, &run), TC_USAGE) << tc_message();
  tc_codec* codec = qsgd();
  float v[4] = {1, 2, 3, 4};
  std::size_t size = 0;
  EXPECT_EQ(tc_codec_encode(codec, v, 4, 1, 1, 0, 0, nullptr, &size), TC_USAGE);
  tc_codec_close(codec);
  EXPECT_EQ(tc_run_rows(asked.run, 0, 1, nullptr), TC_USAGE);
  ASSERT_EQ(tc_run_measure(asked.run, 0), TC_OK);
  ASSERT_EQ(asked.answer_all(), TC_OK);
  EXPECT_EQ(tc_run_measured(asked.run, nullptr), TC_USAGE);
}

TEST(Codecs, APayloadIsWrittenOnlyIntoMemoryOfItsLength) {
  tc_codec* codec = qsgd();
  const float v[4] = {1, 2, 3, 4};
  const void* bytes = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(tc_codec_encode(codec, v, 4, 1, 1, 0, 0, &bytes, &size), TC_OK) << tc_message();
  const std::string expected(static_cast<const char*>(bytes), size);
  std::string own(size, '\0');
  ASSERT_EQ(tc_codec_encode_into(codec, v, 4, 1, 1, 0, 0, own.data(), size), TC_OK);
  EXPECT_EQ(own, expected);
  for (const std::size_t wrong : {size - 1, size + 1, std::size_t{0}}) {
    EXPECT_EQ(tc_codec_encode_into(codec, v, 4, 1, 1, 0, 0, own.data(), wrong), TC_USAGE);
    EXPECT_TRUE(says("4 numbers has")) << tc_message();
  }
  EXPECT_EQ(tc_codec_encode_into(codec, v, 4, 1, 1, 0, 0, nullptr, size), TC_USAGE);
  const float bad[4] = {1, 2, std::numeric_limits<float>::quiet_NaN(), 4};
  EXPECT_EQ(tc_codec_encode_into(codec, bad, 4, 1, 1, 0, 0, own.data(), size), TC_FORMAT);
  tc_codec_close(codec);
  ASSERT_EQ(tc_codec_open("{\"kind\": \"qsgd\", \"coding\": \"entropy\"}", TC_FLOAT, &codec),
            TC_OK);
  EXPECT_EQ(tc_codec_encode_into(codec, v, 4, 1, 1, 0, 0, own.data(), size), TC_USAGE);
  EXPECT_TRUE(says("no fixed length")) << tc_message();
  tc_codec_close(codec);
}

template <class T>
void expect_gathered(int precision) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> a{1, -2, 3}, b(70, 5), row(78, T{9});
  const void* parts[] = {a.data(), nullptr, b.data()};
  const std::size_t counts[] = {3, 4, 70};
  ASSERT_EQ(tc_gather(row.data(), parts, counts, 3, precision), TC_OK) << tc_message();
  std::vector<T> expected{1, -2, 3, 0, 0, 0, 0};
  expected.insert(expected.end(), 70, T{5});
  expected.push_back(9);  // behind the row
  EXPECT_EQ(row, expected);
  for (const T bad : {infinity, -infinity, std::numeric_limits<T>::quiet_NaN()})
    for (const std::size_t at : {0u, 33u, 69u}) {
      b[at] = bad;
      EXPECT_EQ(tc_gather(row.data(), parts, counts, 3, precision), TC_FORMAT) << at;
      b[at] = std::numeric_limits<T>::max();
      EXPECT_EQ(tc_gather(row.data(), parts, counts, 3, precision), TC_OK) << at;
    }
}

TEST(Rows, AreGatheredFromPartsAndNumbersThatAreNotFiniteAreSeen) {
  expect_gathered<float>(TC_FLOAT);
  expect_gathered<double>(TC_DOUBLE);
}

TEST(Rows, WrongPrecisionsAndNullPointersAreRefused) {
  float row[2] = {1, 2};
  const void* parts[] = {row};
  const std::size_t counts[] = {2};
  EXPECT_EQ(tc_gather(row, parts, counts, 1, 2), TC_USAGE);
  EXPECT_EQ(tc_gather(nullptr, parts, counts, 1, TC_FLOAT), TC_USAGE);
  EXPECT_EQ(tc_gather(row, nullptr, counts, 1, TC_FLOAT), TC_USAGE);
  EXPECT_EQ(tc_gather(row, parts, nullptr, 1, TC_FLOAT), TC_USAGE);
}

TEST(Handles, AnotherKindOfHandleAndStrayPointersAreRefused) {
  tc_codec* codec = qsgd();
  EXPECT_EQ(tc_run_step(reinterpret_cast<tc_run*>(codec), 1), TC_USAGE);
  EXPECT_TRUE(says("run")) << tc_message();
  int somewhere = 0;
  EXPECT_EQ(tc_run_step(reinterpret_cast<tc_run*>(&somewhere), 1), TC_USAGE);
  tc_run_close(reinterpret_cast<tc_run*>(codec));  // it is not this function's to close
  char* text = nullptr;
  EXPECT_EQ(tc_codec_about(codec, 4, &text), TC_OK) << tc_message();
  tc_free(text);
  tc_codec_close(codec);
  tc_codec_close(codec);
  text = nullptr;
  EXPECT_EQ(tc_codec_about(codec, 4, &text), TC_USAGE);
}

TEST(Handles, AStudyThatWasClosedIsRefused) {
  tc_study* study = theory();
  ASSERT_EQ(end_of(study), TC_OK) << tc_message();
  tc_study_close(study);
  tc_study_close(study);
  tc_question q{};
  char* text = nullptr;
  EXPECT_EQ(tc_study_next(study, 0, 0.1, &q), TC_USAGE);
  EXPECT_EQ(tc_study_progress(study, &text), TC_USAGE);
  EXPECT_EQ(tc_study_stop(study), TC_USAGE);
  EXPECT_EQ(tc_study_result(study, &text), TC_USAGE);
}

TEST(Handles, OfTheParentAreRefusedInAForkedChild) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the study's thread may hold a lock of AddressSanitizer's heap, and the child "
                  "waits for ever";
#endif
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  tc_codec* codec = qsgd();
  tc_study* study = theory();
  const pid_t child = ::fork();
  if (child == 0) {
    bool fine = true;
    for (const int code : use_everything(asked.run)) fine = fine && code == TC_USAGE;
    fine = fine && says("fork");
    char* text = nullptr;
    fine = fine && tc_codec_about(codec, 4, &text) == TC_USAGE;
    fine = fine && tc_study_stop(study) == TC_USAGE;
    tc_run_close(asked.run);
    tc_codec_close(codec);
    tc_study_close(study);
    tc_codec* own = nullptr;  // the library can be used anew
    fine = fine && tc_codec_open("{\"kind\": \"sign\"}", TC_FLOAT, &own) == TC_OK;
    fine = fine && tc_codec_about(own, 4, &text) == TC_OK;
    tc_codec_close(own);
    ::_exit(fine && !::testing::Test::HasFailure() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(asked.step(3), TC_OK) << tc_message();
  EXPECT_EQ(end_of(study), TC_OK) << tc_message();
  tc_study_close(study);
  char* text = nullptr;
  EXPECT_EQ(tc_codec_about(codec, 4, &text), TC_OK);
  tc_free(text);
  tc_codec_close(codec);
}

TEST(TwoThreads, OneOfThemIsRefusedByACodec) {
  tc_codec* codec = qsgd();
  constexpr std::size_t d = 1 << 20;
  const std::vector<float> v(d, 0.5f);
  std::atomic<int> refused{0}, fine{0}, other{0};
  const auto work = [&] {
    for (int i = 0; i < 200 && refused == 0; ++i) {
      const void* bytes = nullptr;
      std::size_t size = 0;
      const int code = tc_codec_encode(codec, v.data(), d, 1, 1, 0, 0, &bytes, &size);
      ++(code == TC_OK ? fine : code == TC_USAGE ? refused : other);
    }
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
  EXPECT_EQ(other, 0);
  EXPECT_GT(fine, 0);
  EXPECT_GT(refused, 0);
  tc_codec_close(codec);
}

// The waiting thread hears of it, even if it waits without end.
TEST(TwoThreads, ClosingEndsTheWaitOfTheOther) {
  for (int i = 0; i < 20; ++i) {
    json config = config_for("ticopd", AskedRun::agents);
    AskedRun asked(config);
    ASSERT_EQ(asked.open(), TC_OK) << tc_message();
    ASSERT_EQ(tc_run_step(asked.run, 20), TC_OK);
    std::atomic<int> code{-1};
    std::thread waits([&] {
      tc_question q{};
      int got = TC_OK;
      do {  // nobody answers: every wait is for the same question, or for a closed run
        got = tc_run_next(asked.run, 0, -1, &q);
      } while (got == TC_ASKS || got == TC_OK);
      code = got;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 5));
    tc_run_close(asked.run);
    waits.join();
    EXPECT_EQ(code, TC_USAGE) << tc_message();
  }
}

TEST(TwoThreads, AHandleClosedByBothIsClosedOnce) {
  for (int i = 0; i < 50; ++i) {
    AskedRun asked(config_for("ticopd", AskedRun::agents));
    ASSERT_EQ(asked.open(), TC_OK) << tc_message();
    std::thread one([&] { tc_run_close(asked.run); }), two([&] { tc_run_close(asked.run); });
    one.join();
    two.join();
    EXPECT_EQ(tc_run_step(asked.run, 1), TC_USAGE);
  }
}

TEST(WrongNumbers, OfSecondsRoundsAndRowsAreRefusedOrHarmless) {
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  tc_question q{};
  for (const double seconds : std::initializer_list<double>{NAN, INFINITY, -INFINITY, 1e300, 0}) {
    ASSERT_EQ(tc_run_step(asked.run, 1), TC_OK);
    int code = TC_WAIT;
    while (code == TC_WAIT) code = tc_run_next(asked.run, 0, seconds, &q);
    EXPECT_EQ(code, TC_ASKS) << seconds;
    EXPECT_EQ(tc_run_next(asked.run, q.number + 17, seconds, &q), TC_ASKS) << "no such question";
    ASSERT_EQ(asked.answer_all(), TC_OK);
  }
  std::vector<double> cells(64);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(tc_run_rows(asked.run, most, 1, cells.data()), TC_USAGE);
  EXPECT_EQ(tc_run_rows(asked.run, 1, most, cells.data()), TC_USAGE);
  EXPECT_EQ(tc_run_measure(asked.run, -1), TC_USAGE);
  EXPECT_EQ(tc_run_measure(asked.run, 3), TC_USAGE);
  EXPECT_EQ(tc_run_log_every(asked.run, 0), TC_CONFIG);
  EXPECT_EQ(asked.step(std::numeric_limits<std::uint32_t>::max()), TC_OK);
  EXPECT_EQ(tc_run_finished(asked.run), 1);
}

TEST(WrongNumbers, InAProblemAreRefused) {
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  const std::string config = config_for("ticopd", AskedRun::agents).dump();
  const auto code_with = [&](auto change) {
    tc_problem problem = asked.problem;
    change(problem);
    tc_run* run = nullptr;
    int code = tc_run_open(config.c_str(), ".", &problem, nullptr, &run);
    tc_question q{};
    while (code == TC_OK && (code = tc_run_next(run, 0, 1, &q)) == TC_WAIT) code = TC_OK;
    tc_run_close(run);
    return code;
  };
  EXPECT_EQ(code_with([](tc_problem& p) { p.struct_size = 8; }), TC_USAGE);
  EXPECT_EQ(code_with([](tc_problem& p) { p.struct_size = 0; }), TC_USAGE);
  EXPECT_EQ(code_with([](tc_problem& p) { p.dimension = 0; }), TC_CONFIG);
  EXPECT_EQ(code_with([](tc_problem& p) { p.dimension = ~std::uint64_t{0}; }), TC_CONFIG);
  EXPECT_EQ(code_with([](tc_problem& p) { p.agents = -1; }), TC_CONFIG);
  EXPECT_EQ(code_with([](tc_problem& p) { p.agents = 3; }), TC_CONFIG);
  EXPECT_EQ(code_with([](tc_problem& p) { p.samples = nullptr; }), TC_CONFIG) << "batch = 4";
  for (const char* layout : {"", "[", "5", "[5]", "[[\"a\", [12, -1]]]", "[[\"a\", [1e9]]]",
                             "[[\"a\", []], [\"b\", [5]]]", "[[1, [12]]]", "{\"a\": 12}"})
    EXPECT_EQ(code_with([&](tc_problem& p) { p.layout = layout; }), TC_CONFIG) << layout;
  std::vector<double> start(asked.f.dimension(), 0.0);
  start[3] = NAN;
  EXPECT_EQ(code_with([&](tc_problem& p) { p.start = start.data(); }), TC_CONFIG);
  EXPECT_TRUE(says("start")) << tc_message();
}

TEST(Waits, ThatAreLeftOutLoseNothing) {
  AskedRun asked(config_for("ticopd", AskedRun::agents));
  ASSERT_EQ(asked.open(), TC_OK) << tc_message();
  ASSERT_EQ(asked.step(3), TC_OK);
  ASSERT_EQ(tc_run_save(asked.run, "/proc/not/possible"), TC_OK);  // and nobody asks how it ended
  ASSERT_EQ(asked.step(3), TC_OK) << tc_message();
  EXPECT_EQ(tc_run_round(asked.run), 6u);
  char* text = nullptr;
  ASSERT_EQ(tc_run_warnings(asked.run, &text), TC_OK);
  EXPECT_NE(text_of(text).find("/proc/not"), std::string::npos) << "the error is not lost";
}

TEST(Waits, OfAStepMayBeLeftOutToo) {
  json config = config_for("ticopd", AskedRun::agents);
  config["problem"] = {{"objective", "least_squares"}, {"data", "synthetic"}, {"partition", "iid"}};
  tc_run* run = nullptr;
  ASSERT_EQ(tc_run_open(config.dump().c_str(), ".", nullptr, nullptr, &run), TC_OK) << tc_message();
  tc_question q{};
  while (tc_run_next(run, 0, 1, &q) == TC_WAIT) continue;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(tc_run_step(run, 2), TC_OK) << tc_message();
    while (tc_run_round(run) < 2u * (static_cast<unsigned>(i) + 1)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
  }
  ASSERT_EQ(tc_run_next(run, 0, 10, &q), TC_OK) << tc_message();
  EXPECT_EQ(tc_run_round(run), 8u);
  tc_run_close(run);
}

TEST(WrongText, OfConfigsAndFoldersIsRefused) {
  char* text = nullptr;
  for (const char* config : {"", "[]", "5", "null", "\"a\"", "{\"graph\": 5}", "{\"a\": [[[[",
                             "{\"seed\": -1}", "{\"problem\": [1]}", "\xff\xfe"})
    EXPECT_NE(tc_config_complete(config, ".", &text), TC_OK) << config;
  EXPECT_NE(tc_config_to_toml("[1]", &text), TC_OK);
  EXPECT_NE(tc_config_to_toml("{\"a\": null}", &text), TC_INTERNAL) << tc_message();
  tc_free(text);
  text = nullptr;
  EXPECT_EQ(tc_folder_read("", &text), TC_FORMAT);
  EXPECT_EQ(tc_codec_open("[]", TC_FLOAT, reinterpret_cast<tc_codec**>(&text)), TC_CONFIG);
  EXPECT_EQ(tc_codec_open("{\"kind\": 5}", TC_FLOAT, reinterpret_cast<tc_codec**>(&text)),
            TC_CONFIG);
  EXPECT_EQ(tc_codec_open("{}", 5, reinterpret_cast<tc_codec**>(&text)), TC_USAGE);
  std::string deep = "{\"a\": ";
  deep.append(100000, '[');
  EXPECT_NE(tc_config_complete(deep.c_str(), ".", &text), TC_OK);
  EXPECT_EQ(text, nullptr);
}

}  // namespace
}  // namespace ticopd::capi
