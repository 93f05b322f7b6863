// `ticopd tune`: the files in its folder, and that a stopped or killed search resumes.
#include <csignal>

#include "cli/wrong.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string two_runs = small_problem.substr(0, small_problem.find("[algorithm]")) +
                             R"([[run]]
label = "TiCoPD"
algorithm = {name = "ticopd"}
[[run]]
label = "CHOCO, 4 bit"
algorithm = {name = "choco_sgd"}
codec = {bits = 4}
)";

class TuneCommand : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    write("two.toml", two_runs);
  }

  // `ticopd tune FILE --out NAME --runs 3 ...`; add `longer` for a search that can be interrupted.
  static Arguments tuning(const std::string& file, const std::string& out,
                          const Arguments& more = {}) {
    Arguments all{"tune", file, "--out", out, "--runs", "3"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static inline const Arguments longer{"--budget-iterations", "20000", "--set", "codec.bits=6"};

  // Sends the signal once the file exists. On a busy machine the signal may come after the end;
  // then it tries again.
  Outcome interrupted_by(int signal, const Arguments& arguments, const std::string& file) const {
    for (int attempt = 1;; ++attempt) {
      Program program(folder_, arguments);
      EXPECT_TRUE(program.wait_for(folder_ / file));
      program.signal(signal);
      const Outcome o = program.wait();
      if (o.code != 0 || attempt == 10) return o;
      fs::remove_all(folder_ / "cut");
    }
  }

  void expect_same_as_uninterrupted(const std::string& file,
                                    const std::vector<std::string>& searches) const {
    const Outcome whole = ticopd(tuning(file, "whole", longer));
    ASSERT_EQ(whole.code, 0) << whole.err;
    EXPECT_EQ(read_text(folder_ / "cut/tuned.toml"), read_text(folder_ / "whole/tuned.toml"));
    for (const std::string& s : searches) {
      EXPECT_EQ(read_text(folder_ / "cut" / s / "trials.csv"),
                read_text(folder_ / "whole" / s / "trials.csv"));
      EXPECT_FALSE(fs::exists(folder_ / "cut" / s / "trials"));
    }
    for (const auto& [name, bytes] : snapshot("cut")) EXPECT_FALSE(name.ends_with(".tmp")) << name;
  }

  // Runs the command that the program printed for resuming.
  int go_on(const std::string& message) const {
    const std::string before = "go on with: ticopd ";
    const std::size_t at = message.find(before);
    if (at == std::string::npos) return -1;
    const std::string command = message.substr(at + before.size());
    return std::system(("cd '" + folder_.string() + "' && '" + places::binary() + "' " +
                        command.substr(0, command.find('\n')) + " >resumed.txt 2>&1")
                           .c_str());
  }
};

TEST_F(TuneCommand, WritesAConfigThatRuns) {
  const Outcome o = ticopd(tuning("small.toml", "out"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("alpha = "), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("written: out/tuned.toml"), std::string::npos) << o.out;
  EXPECT_GT(lines_of(read_text(folder_ / "out/trials.csv")).size(), 5u);
  EXPECT_FALSE(fs::exists(folder_ / "out/trials"));
  const Outcome run = ticopd({"run", "out/tuned.toml", "--out", "run", "--quiet"});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(TuneCommand, PrintsItsAnswerAsJson) {
  const Outcome o = ticopd(tuning("small.toml", "out", {"--json", "--metric", "loss_mean"}));
  ASSERT_EQ(o.code, 0) << o.err;
  const json answer = json::parse(o.out, nullptr, false);
  ASSERT_TRUE(answer.is_array() && answer.size() == 1) << o.out;
  EXPECT_EQ(answer[0]["metric"], "loss_mean");
  EXPECT_EQ(answer[0]["iterations"], 30);
  EXPECT_LE(answer[0]["cost"].get<double>(), 3);
  ASSERT_EQ(ticopd({"run", "out/tuned.toml", "--out", "run", "--quiet"}).code, 0);
  const auto rows = metrics("run");
  const auto column = std::ranges::find(rows[0], "loss_mean") - rows[0].begin();
  // The run reaches the value that tune reported.
  EXPECT_EQ(std::stod(rows.back()[static_cast<std::size_t>(column)]), answer[0]["value"]);
  for (const auto& [name, value] : answer[0]["step_sizes"].items())
    EXPECT_EQ(summary("run")["config"]["algorithm"][name], value) << name;
}

TEST_F(TuneCommand, DrawsAFigureOfItsSearch) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  ASSERT_EQ(ticopd(tuning("small.toml", "out")).code, 0);
  EXPECT_NE(read_text(folder_ / "out/search.svg").find("<svg"), std::string::npos);
  EXPECT_TRUE(read_text(folder_ / "out/search.png").starts_with("\x89PNG"));
  EXPECT_TRUE(read_text(folder_ / "out/search.pdf").starts_with("%PDF"));
}

TEST_F(TuneCommand, SucceedsWithoutGnuplot) {
  const Outcome o = ticopd(tuning("small.toml", "out"), {{"PATH", "/nowhere"}});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("missing: search.svg"), std::string::npos) << o.err;
  EXPECT_TRUE(fs::exists(folder_ / "out/tuned.toml"));
  EXPECT_FALSE(fs::exists(folder_ / "out/search.svg"));
}

TEST_F(TuneCommand, TunesAComparisonIntoAComparison) {
  const Outcome o = ticopd(tuning("two.toml", "out"));
  ASSERT_EQ(o.code, 0) << o.err;
  for (const std::string run : {"ticopd", "choco-4-bit"})
    EXPECT_TRUE(fs::exists(folder_ / "out" / run / "trials.csv")) << run;
  const Outcome compared = ticopd({"compare", "out/tuned.toml", "--out", "both", "--quiet"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(summary("both/ticopd")["status"], "finished");
  EXPECT_EQ(summary("both/choco-4-bit")["config"]["codec"]["bits"], 4);
}

TEST_F(TuneCommand, GivesEveryRunOfAComparisonTheSameNumberOfBits) {
  const Outcome o = ticopd(tuning("two.toml", "out", {"--budget-bits", "9000", "--json"}));
  ASSERT_EQ(o.code, 0) << o.err;
  const json answer = json::parse(o.out);
  EXPECT_GT(answer[1]["iterations"].get<int>(), 1.4 * answer[0]["iterations"].get<int>());
  ASSERT_EQ(ticopd({"compare", "out/tuned.toml", "--out", "both", "--quiet"}).code, 0);
  for (const std::string run : {"both/ticopd", "both/choco-4-bit"}) {
    const auto rows = metrics(run);
    const auto column = std::ranges::find(rows[0], "bits_payload") - rows[0].begin();
    const double sent = std::stod(rows.back()[static_cast<std::size_t>(column)]);
    EXPECT_LE(sent, 9000) << run;
    EXPECT_GT(sent, 8000) << run;
  }
}

TEST_F(TuneCommand, ResumesAfterKillToTheSameAnswer) {
  const Outcome o = interrupted_by(SIGKILL, tuning("small.toml", "cut", longer), "cut/trials.csv");
  EXPECT_EQ(o.code, 128 + SIGKILL);
  write("cut/.trials.csv.123.4.tmp", "bracket,tr");  // as after a kill during a write
  Arguments resume = tuning("small.toml", "cut", longer);
  resume.push_back("--resume");
  // Kill it again each time after another trial was written.
  for (int kills = 0; kills < 4; ++kills) {
    const auto saved = fs::last_write_time(folder_ / "cut/trials.csv");
    Program program(folder_, resume);
    while (!program.ended() && fs::last_write_time(folder_ / "cut/trials.csv") == saved)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.signal(SIGKILL);
    const Outcome part = program.wait();
    EXPECT_TRUE(part.code == 128 + SIGKILL || part.code == 0) << part.err;  // 0: signal too late
  }
  const Outcome last = ticopd(resume);
  ASSERT_EQ(last.code, 0) << last.err;
  expect_same_as_uninterrupted("small.toml", {""});
}

TEST_F(TuneCommand, SearchWithSeedsListsAndATargetResumesAfterKillToTheSameAnswer) {
  const auto searching = [](const std::string& out) {
    return Arguments{"tune",
                     "small.toml",
                     "--out",
                     out,
                     "--runs",
                     "6",
                     "--seeds",
                     "2",
                     "--metric",
                     "bits_to:loss_max=1e-6",
                     "--budget-iterations",
                     "4000",
                     "--set",
                     "tune.search.codec.bits=[3, 6]",
                     "--set",
                     "tune.search.graph.kind=[\"ring\", \"complete\"]"};
  };
  const Outcome whole = ticopd(searching("whole"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Outcome o = interrupted_by(SIGKILL, searching("cut"), "cut/trials.csv");
  EXPECT_EQ(o.code, 128 + SIGKILL);
  Arguments resume = searching("cut");
  resume.push_back("--resume");
  for (int kills = 0; kills < 4; ++kills) {
    Program program(folder_, resume);
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * kills));
    program.signal(SIGKILL);
    program.wait();
  }
  const Outcome last = ticopd(resume);
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(read_text(folder_ / "cut/trials.csv"), read_text(folder_ / "whole/trials.csv"));
  EXPECT_EQ(read_text(folder_ / "cut/tuned.toml"), read_text(folder_ / "whole/tuned.toml"));
  const Outcome run = ticopd({"run", "cut/tuned.toml", "--out", "run", "--quiet"});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(TuneCommand, SaysIfItsAnswerHolds) {
  const Outcome o = ticopd({"tune", "small.toml", "--out", "out", "--runs", "8"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("held for twice the budget"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("alpha theta lambda_max"), std::string::npos) << o.out;
  const std::string tuned = read_text(folder_ / "out/tuned.toml");
  EXPECT_NE(tuned.find("#   held for twice the budget"), std::string::npos) << tuned;
  EXPECT_NE(tuned.find("#   alpha theta lambda_max"), std::string::npos) << tuned;
}

TEST_F(TuneCommand, CtrlCPrintsTheCommandToResume) {
  const Outcome o = interrupted_by(SIGINT, tuning("small.toml", "cut", longer), "cut/trials.csv");
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_NE(o.err.find("--resume --out cut"), std::string::npos) << o.err;
  EXPECT_FALSE(fs::exists(folder_ / "cut/tuned.toml"));
  ASSERT_EQ(go_on(o.err), 0) << o.err << read_text(folder_ / "resumed.txt");
  expect_same_as_uninterrupted("small.toml", {""});
}

TEST_F(TuneCommand, ResumesInTheSecondRunOfAComparison) {
  const Outcome o =
      interrupted_by(SIGTERM, tuning("two.toml", "cut", longer), "cut/choco-4-bit/trials.csv");
  EXPECT_EQ(o.code, 75) << o.err;
  ASSERT_EQ(go_on(o.err), 0) << o.err << read_text(folder_ / "resumed.txt");
  expect_same_as_uninterrupted("two.toml", {"ticopd", "choco-4-bit"});
}

TEST_F(TuneCommand, ResumeRejectsAnotherSearch) {
  ASSERT_EQ(ticopd(tuning("small.toml", "out")).code, 0);
  const auto before = snapshot();
  const Outcome o =
      ticopd(tuning("small.toml", "out", {"--resume", "--set", "problem.samples=300"}));
  EXPECT_EQ(o.code, 78);
  EXPECT_NE(o.err.find("problem.samples is 300 now and was 200"), std::string::npos) << o.err;
  EXPECT_EQ(snapshot(), before);
}

class BadTune : public Refused {};
TEST_P(BadTune, IsRejectedWithAReason) {
  expect_refusal();
}

Wrong tuned(std::string name, const Arguments& more, int code, std::vector<std::string> says,
            std::vector<GivenFile> files = {}) {
  Arguments all{"tune", "small.toml"};
  all.insert(all.end(), more.begin(), more.end());
  return {std::move(name), std::move(all), code, std::move(says), std::move(files)};
}

INSTANTIATE_TEST_SUITE_P(
    Usage, BadTune,
    ::testing::Values(
        tuned("folder_taken", {"--out", "out"}, 64, {"--out out", "not empty", "--resume"},
              {{"out/mine.txt", "mine"}}),
        tuned("folder_of_something_else", {"--out", "out", "--resume"}, 64,
              {"--resume", "out", "no search"}, {{"out/mine.txt", "mine"}}),
        tuned("folder_is_a_file", {"--out", "out", "--resume"}, 64, {"--out out", "is a file"},
              {{"out", "mine"}}),
        tuned("resume_without_folder", {"--resume"}, 64, {"--resume", "--out"}),
        tuned("two_budgets", {"--out", "out", "--budget-bits", "1e6", "--budget-iterations", "100"},
              64, {"--budget-bits", "--budget-iterations"}),
        tuned("too_few_runs", {"--out", "out", "--runs", "1"}, 64, {"--runs", "2"}),
        tuned("no_bits", {"--out", "out", "--budget-bits", "0"}, 64, {"--budget-bits"}),
        tuned("metric", {"--out", "out", "--metric", "loss_mxa"}, 78,
              {"tune.metric", "loss_mxa", "did you mean \"loss_max\"?"}),
        tuned("metric_in_the_file", {"--out", "out", "--set", "tune.metric=accuracy_mni"}, 78,
              {"tune.metric", "did you mean \"accuracy_min\"?"}),
        tuned("few_bits", {"--out", "out", "--budget-bits", "100"}, 78,
              {"--budget-bits 100", "one round sends"}),
        tuned("parameter", {"--out", "out", "--set", "tune.search.alhpa=[0.1, 1]"}, 78,
              {"tune.search", "alhpa", "did you mean \"alpha\"?"}),
        tuned("range", {"--out", "out", "--set", "tune.search.alpha=[1, 0.1]"}, 78,
              {"tune.search.alpha", "0 < low < high"}),
        tuned("key", {"--out", "out", "--set", "tune.run=3"}, 78,
              {"tune.run", "did you mean \"tune.runs\"?"}),
        tuned("list", {"--out", "out", "--set", "tune.search.codec.bits=[2, 99]"}, 78,
              {"tune.search.codec.bits = 99", "from 1 to 16"}),
        tuned("empty_list", {"--out", "out", "--set", "tune.search.codec.bits=[]"}, 78,
              {"tune.search.codec.bits = []", "list"}),
        tuned("key_of_another_kind", {"--out", "out", "--set", "tune.search.codec.fraction=[0.1]"},
              78, {"tune.search", "codec.fraction", "top_k"}),
        tuned("misspelt_key", {"--out", "out", "--set", "tune.search.codec.bist=[2]"}, 78,
              {"codec.bist", "did you mean \"codec.bits\"?"}),
        Wrong{"bad_search_of_the_second_run",
              {"tune", "two.toml", "--out", "out"},
              78,
              {"CHOCO, 4 bit", "tune.search", "alpha"},
              {{"two.toml", two_runs + "tune = {search = {alpha = [0.1, 1]}}\n"}}},
        tuned("target", {"--out", "out", "--metric", "bits_to:loss_max=nan"}, 78,
              {"tune.metric", "loss_max = \"nan\"", "finite"}),
        tuned("target_metric", {"--out", "out", "--metric", "bits_to:loss_mxa=0.1"}, 78,
              {"did you mean \"loss_max\"?"}),
        tuned("seconds", {"--out", "out", "--metric", "seconds_to:loss_max=0.1"}, 78,
              {"seconds_to", "bits_to, iterations_to"}),
        tuned("no_seed", {"--out", "out", "--seeds", "0"}, 78, {"--seeds = 0", "from 1 to 1000"}),
        tuned("seed_twice", {"--out", "out", "--seeds", "1,1"}, 78, {"--seeds", "different seeds"}),
        tuned("seed_of_words", {"--out", "out", "--seeds", "few"}, 64, {"--seeds few", "1,5,9"}),
        tuned("seeds_in_the_file", {"--out", "out", "--set", "tune.seeds=[]"}, 78,
              {"tune.seeds = []"}),
        tuned("codec", {"--out", "out", "--set", "algorithm.name=dgd"}, 78, {"codec.kind", "dgd"})),
    name_of);

}  // namespace
}  // namespace ticopd
