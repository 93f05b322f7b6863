// Files of several runs, and the experiments of this project.
#include "ticopd/experiment/run_set.hpp"

#include <gtest/gtest.h>

#include <set>

#include "places.hpp"
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

TEST(RunSet, LabelsBecomeFileNamesWithoutSpecialCharacters) {
  EXPECT_EQ(file_name_for("TiCoPD 8-bit"), "ticopd-8-bit");
  EXPECT_EQ(file_name_for("../../etc: \"x\""), "run..-..-etc-x");
  EXPECT_EQ(file_name_for("Zürich"), "z-rich");
  EXPECT_EQ(file_name_for("  "), "run");
  EXPECT_LE(file_name_for(std::string(500, 'a')).size(), 60u);
}

}  // namespace
}  // namespace ticopd
