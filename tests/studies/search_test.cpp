// Searches over a run set from C++, without a terminal: results, folders, stop and resume.
#include "ticopd/studies/search.hpp"

#include <nlohmann/json.hpp>

#include "studies/small_study.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Search : public SmallStudy {
 protected:
  static SearchOptions into(const std::string& name, bool resume = false) {
    SearchOptions options;
    options.prepare.threads = 1;
    options.out = name;
    options.resume = resume;
    options.runs = 2;
    return options;
  }
  // Long enough to be stopped in the middle.
  static RunSet longer() { return two({"iterations=8000"}); }
};

TEST_F(Search, FindsStepSizesForEachRun) {
  std::vector<std::string> found;
  SearchOptions options = into("out");
  options.on_found = [&](const Found& f) { found.push_back(f.label); };
  const Searched searched = search_step_sizes(two(), options);
  EXPECT_EQ(found, (std::vector<std::string>{"CHOCO", "DGD"}));
  ASSERT_EQ(searched.found.size(), 2u);
  EXPECT_EQ(searched.folder, "out");
  EXPECT_EQ(searched.found[0].folder, "out/choco");
  EXPECT_TRUE(searched.found[0].tuned.values.contains("gamma"));
  EXPECT_EQ(searched.tuned_toml, "out/tuned.toml");
  const RunSet tuned = read_run_set(std::span(&searched.tuned_toml, 1), {});
  EXPECT_EQ(tuned.runs[1].config.get<double>("algorithm.eta"),
            searched.found[1].tuned.values.at("eta"));
}

TEST_F(Search, BecomesOneJsonObjectPerRun) {
  const Searched searched = search_step_sizes(two(), into("out"));
  const json rows = searched_json(searched);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["label"], "DGD");
  EXPECT_EQ(rows[1]["folder"], "out/dgd");
  EXPECT_EQ(rows[1]["iterations"], 40);
  EXPECT_EQ(rows[1]["metric"], "loss_max");
  EXPECT_EQ(rows[1]["value"], searched.found[1].tuned.value);
  EXPECT_EQ(rows[1]["step_sizes"]["eta"], searched.found[1].tuned.values.at("eta"));
}

TEST_F(Search, StoppedSearchResumesToTheSameAnswer) {
  const Searched whole = search_step_sizes(longer(), into("whole"));
  std::atomic<bool> stop = false;
  SearchOptions options = into("cut");
  options.stop = &stop;
  std::size_t current = 0, ended = 0;
  options.on_begin = [&](const RunSet::Run&, std::size_t index) { current = index; };
  options.on_progress = [&](const TuneProgress&) { stop = current == 1; };
  options.on_end = [&](const Tuned& tuned) {
    ++ended;
    EXPECT_EQ(tuned.finished, current == 0);
  };
  EXPECT_THROW(search_step_sizes(longer(), options), Interrupted);
  EXPECT_EQ(ended, 2u);
  EXPECT_FALSE(fs::exists("cut/tuned.toml"));
  EXPECT_THROW(search_step_sizes(longer(), into("cut")), UsageError) << "without resume";
  const Searched resumed = search_step_sizes(longer(), into("cut", true));
  ASSERT_EQ(resumed.found.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(resumed.found[i].tuned.values, whole.found[i].tuned.values);
    EXPECT_EQ(resumed.found[i].tuned.value, whole.found[i].tuned.value);
  }
  EXPECT_EQ(read_file("cut/tuned.toml"), read_file("whole/tuned.toml"));
  EXPECT_EQ(read_file("cut/dgd/trials.csv"), read_file("whole/dgd/trials.csv"));
}

TEST_F(Search, OfOneRunUsesTheFolderItself) {
  RunSet one = two();
  one.runs.pop_back();
  const Searched searched = search_step_sizes(one, into("out"));
  EXPECT_EQ(searched.found[0].folder, "out");
  EXPECT_TRUE(fs::exists("out/search.json"));
}

TEST_F(Search, ResumeNeedsAFolder) {
  EXPECT_THROW(search_step_sizes(two(), into("", true)), UsageError);
}

TEST_F(Search, WithoutAFolderItTakesOneOfItsNameAndTime) {
  const Searched searched = search_step_sizes(two(), into(""));
  EXPECT_EQ(searched.folder.parent_path(), "runs");
  EXPECT_TRUE(searched.folder.filename().string().starts_with("tune-two-2")) << searched.folder;
}

TEST_F(Search, LeavesTheFilesOfOthersAlone) {
  fs::create_directory("mine");
  std::ofstream("mine/thesis.txt") << "years";
  for (const bool resume : {false, true})
    EXPECT_THROW(search_step_sizes(two(), into("mine", resume)), UsageError);
  EXPECT_EQ(files("mine"), std::vector<std::string>{"thesis.txt"});
}

}  // namespace
}  // namespace ticopd
