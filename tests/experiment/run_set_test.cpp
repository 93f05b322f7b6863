// Files of several runs, and the experiments of this project.
#include "ticopd/experiment/run_set.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "places.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/prepare.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> experiments() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(places::tree() + "/experiments"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  return files;
}

TEST(RunSet, EveryExperimentOfTheProjectIsValid) {
  ASSERT_GE(experiments().size(), 3u);
  for (const fs::path& file : experiments()) {
    const RunSet run_set = read_run_set(std::span(&file, 1), {});
    for (const RunSet::Run& run : run_set.runs) EXPECT_NO_THROW(check(run.config)) << run.label;
  }
}

TEST(RunSet, PaperFigureHasSevenMethodsAtBothBitRates) {
  const fs::path file = places::tree() + "/experiments/paper_figure.toml";
  std::set<std::pair<std::string, int>> made;
  for (const RunSet::Run& run : read_run_set(std::span(&file, 1), {}).runs) {
    EXPECT_EQ(run.config.get<std::string>("problem.partition"), "label");
    EXPECT_EQ(run.config.get<std::string>("graph.kind"), "ring");
    const bool quantised = run.config.get<std::string>("codec.kind") == "qsgd";
    made.emplace(run.config.get<std::string>("algorithm.name"),
                 quantised ? run.config.get<int>("codec.bits") : 32);
  }
  std::set<std::pair<std::string, int>> expected{{"dgd", 32}};
  for (const char* name : {"ticopd", "cp_sgd", "choco_sgd", "def_atc", "beer", "dgd_quantized"})
    expected.insert({{name, 8}, {name, 4}});
  EXPECT_EQ(made, expected);
}

// A run set from the text of one file.
RunSet from_text(const std::string& toml) {
  const fs::path file =
      fs::temp_directory_path() / ("ticopd_run_set_" + std::to_string(::getpid()));
  std::ofstream(file) << toml;
  RunSet made = read_run_set(std::span(&file, 1), {});
  fs::remove(file);
  return made;
}

const std::string shared =
    "[graph]\nkind = \"erdos_renyi\"\np = 0.5\nagents = 6\n"
    "[codec]\nkind = \"top_k\"\nfraction = 0.01\n"
    "[algorithm]\nalpha = 0.1\ntheta = 1\neta = 0.1\n"
    "[[run]]\nlabel = \"a\"\n";

TEST(RunSet, ACodecOfAnotherKindStartsFromNothing) {
  const RunSet set = from_text(shared + "codec = { kind = \"rand_k\", k = 5 }\n");
  EXPECT_EQ(set.runs[0].config.get<int>("codec.k"), 5);
  EXPECT_FALSE(set.runs[0].config.has("codec.fraction"));
  EXPECT_EQ(set.runs[0].warning, "");
}

TEST(RunSet, AGraphOfAnotherKindStartsFromNothingAndSaysSo) {
  const RunSet set = from_text(shared + "graph.kind = \"ring\"\n");
  EXPECT_EQ(set.runs[0].config.get<int>("graph.agents"), 10);
  EXPECT_FALSE(set.runs[0].config.has("graph.p"));
  EXPECT_NE(set.runs[0].warning.find("graph.agents = 6"), std::string::npos);
}

TEST(RunSet, AnEntryOfTheSameKindOverridesKeyByKey) {
  const RunSet set = from_text(shared + "codec.fraction = 0.02\ngraph.p = 0.9\n");
  EXPECT_EQ(set.runs[0].config.get<double>("codec.fraction"), 0.02);
  EXPECT_EQ(set.runs[0].config.get<int>("graph.agents"), 6);
}

TEST(RunSet, ALabelThatIsAFileOfOursIsRefused) {
  for (const std::string name : {"summary.csv", "Tuned.TOML", "figure.png", "compare.json"})
    EXPECT_THROW(
        from_text("[[run]]\nlabel = \"" + name + "\"\nalgorithm = {name=\"dgd\", eta=1}\n"),
        ConfigError)
        << name;
}

TEST(RunSet, LabelsBecomeFileNamesWithoutSpecialCharacters) {
  EXPECT_EQ(file_name_for("TiCoPD 8-bit"), "ticopd-8-bit");
  EXPECT_EQ(file_name_for("../../etc: \"x\""), "run..-..-etc-x");
  EXPECT_EQ(file_name_for("Zürich"), "z-rich");
  EXPECT_EQ(file_name_for("  "), "run");
  EXPECT_LE(file_name_for(std::string(500, 'a')).size(), 60u);
}

}  // namespace
}  // namespace ticopd
