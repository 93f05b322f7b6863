// Groups of runs: their middle and ends, and what tables and files say of them.
#include "ticopd/report/groups.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "ticopd/report/group_table.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

constexpr double inf = std::numeric_limits<double>::infinity();

// A finished run with these losses in rounds 0, 1, ...
Series run_in(const std::string& group, std::uint64_t seed, const std::vector<double>& losses,
              const json& swept = json::object()) {
  Series run;
  run.label = group + ", seed " + std::to_string(seed);
  run.group = group;
  run.seed = seed;
  run.swept = swept;
  run.folder = "folder";
  run.summary = {{"status", "finished"}, {"config", {{"algorithm", {{"name", "dgd"}}}}}};
  const auto names = column_names();
  run.columns.resize(names.size());
  for (std::size_t r = 0; r < losses.size(); ++r)
    for (std::size_t c = 0; c < names.size(); ++c) {
      std::optional<double> value;
      if (names[c] == "iteration") value = static_cast<double>(r);
      if (names[c] == "loss_max") value = losses[r];
      if (names[c] == "bits_payload") value = 1e6 * static_cast<double>(r);
      run.columns[c].push_back(value);
    }
  return run;
}

std::vector<Series> two_groups() {
  return {run_in("a", 1, {9, 5, 1}, {{"codec.bits", 2}}),
          run_in("a", 2, {9, 6, 2}, {{"codec.bits", 2}}),
          run_in("a", 3, {9, 7, 6}, {{"codec.bits", 2}}),
          run_in("b", 1, {9, 4}, {{"codec.bits", 4}})};
}

TEST(Spread, IsMedianAndEndsOrMeanAndDeviation) {
  const Spread odd = *spread_of({3, 1, 8}, Band::range);
  EXPECT_EQ(odd.mid, 3);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 8);
  EXPECT_EQ(spread_of({4, 1, 2, 8}, Band::range)->mid, 3);
  const Spread wide = *spread_of({1, 2, 6}, Band::deviation);
  EXPECT_DOUBLE_EQ(wide.mid, 3);
  EXPECT_DOUBLE_EQ(wide.high - wide.mid, std::sqrt(7.0));  // (4 + 1 + 9) / 2
  EXPECT_DOUBLE_EQ(wide.mid - wide.low, std::sqrt(7.0));
}

TEST(Spread, OfOneValueIsThatValueAndOfNoneNothing) {
  for (const Band band : {Band::range, Band::deviation}) {
    const Spread one = *spread_of({0.1}, band);
    EXPECT_EQ(one.low, 0.1);
    EXPECT_EQ(one.mid, 0.1);
    EXPECT_EQ(one.high, 0.1);
    EXPECT_FALSE(spread_of({}, band).has_value());
    EXPECT_TRUE(std::isnan(spread_of({1, NAN, 2}, band)->mid));
  }
  EXPECT_EQ(spread_of({1, inf}, Band::range)->high, inf);
  EXPECT_EQ(spread_of({inf, inf}, Band::range)->mid, inf);
}

TEST(Groups, ComeInTheOrderOfTheirFirstRuns) {
  std::vector<Series> runs = two_groups();
  std::swap(runs[0], runs[3]);
  const std::vector<Group> groups = groups_of(runs, Band::range);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "b");
  EXPECT_EQ(groups[1].runs, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(groups[1].swept, (json{{"codec.bits", 2}}));
}

TEST(Groups, TakeTheRoundsThatAllTheirRunsLogged) {
  std::vector<Series> runs = two_groups();
  for (Series::Column& column : runs[1].columns) column.erase(column.begin() + 1);
  const Group a = groups_of(runs, Band::range)[0];
  EXPECT_EQ(a.rounds, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(a.column("loss_max")[1]->mid, 2);
  EXPECT_EQ(a.column("loss_max")[1]->low, 1);
  EXPECT_EQ(a.column("loss_max")[1]->high, 6);
  EXPECT_EQ(a.column("bits_payload")[1]->mid, 2e6);
  EXPECT_FALSE(a.column("accuracy_min")[0].has_value());
}

TEST(Groups, LeaveOutRunsThatDidNotFinishUnlessNoneDid) {
  std::vector<Series> runs = two_groups();
  runs[2].summary["status"] = "diverged";
  EXPECT_EQ(groups_of(runs, Band::range)[0].counted, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(groups_of(runs, Band::range)[0].column("loss_max")[2]->high, 2);
  runs[0].summary["status"] = runs[1].summary["status"] = "running";
  EXPECT_EQ(groups_of(runs, Band::range)[0].counted, (std::vector<std::size_t>{0, 1}));
  runs[0].summary["status"] = runs[1].summary["status"] = "diverged";
  EXPECT_EQ(groups_of(runs, Band::range)[0].counted, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Groups, AreThereWithSeedsOrASweepAlone) {
  EXPECT_TRUE(has_groups(two_groups()));
  EXPECT_TRUE(has_groups(std::vector{run_in("a", 1, {1}, {{"codec.bits", 2}})}));
  EXPECT_FALSE(has_groups(std::vector{run_in("a", 1, {1}), run_in("b", 1, {1})}));
}

TEST(Groups, AFileOfThemHasALineForEachRound) {
  ReportOptions options;
  options.sweep = {"codec.bits"};
  std::istringstream lines(groups_csv(two_groups(), options));
  std::string head, first, second;
  std::getline(lines, head);
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_TRUE(head.starts_with("group,codec.bits,iteration,runs,bits_paper_mid,bits_paper_low,"))
      << head;
  EXPECT_NE(head.find(",loss_max_mid,loss_max_low,loss_max_high,"), std::string::npos);
  EXPECT_TRUE(second.starts_with("a,2,1,3,")) << second;
  EXPECT_NE(second.find(",6,5,7,"), std::string::npos) << second;
  std::size_t count = 2;
  for (std::string line; std::getline(lines, line);) ++count;
  EXPECT_EQ(count, 3u + 2);
}

TEST(Groups, StandBelowTheRunsInTheSummary) {
  ReportOptions options;
  options.sweep = {"codec.bits"};
  options.targets = {{"loss_max", 2}};
  const std::string csv = summary_csv(two_groups(), options);
  EXPECT_NE(csv.find(",group,seed,runs,codec.bits,loss_max_2_reached\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\na: median,,median,dgd,"), std::string::npos);
  EXPECT_NE(csv.find("\na: smallest,,smallest,dgd,"), std::string::npos);
  EXPECT_NE(csv.find(",a,,3,2,2\n"), std::string::npos) << "two of three reached it";
  options.band = Band::deviation;
  EXPECT_NE(summary_csv(two_groups(), options).find("\na: mean - deviation,"), std::string::npos);
}

TEST(Groups, ATableOfManyRunsIsNarrowAndShort) {
  std::vector<Series> runs;
  for (int g = 0; g < 8; ++g)
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      runs.push_back(run_in("TiCoPD, codec.bits = " + std::to_string(g), seed, {9, 5, 1.0 + g}));
  ReportOptions options;
  options.targets = {{"loss_max", 4}};
  const std::string table = summary_table(runs, options, 80);
  std::istringstream lines(table);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_LE(characters(line), 80u) << line;
  EXPECT_LE(count, 25) << table;
  EXPECT_EQ(table.find("seed 3"), std::string::npos) << table;
  EXPECT_NE(table.find("5/5"), std::string::npos) << table;
  EXPECT_NE(table.find("0/5"), std::string::npos) << table;
}

TEST(Groups, ThePageGetsThemRoundByRound) {
  ReportOptions options;
  options.sweep = {"codec.bits"};
  const json page = report_json(two_groups(), options);
  EXPECT_EQ(page["sweep"], json{"codec.bits"});
  EXPECT_EQ(page["band"], "range");
  EXPECT_EQ(page["runs"][1]["group"], "a");
  EXPECT_EQ(page["runs"][1]["seed"], 2);
  EXPECT_EQ(page["runs"][3]["swept"], (json{{"codec.bits", 4}}));
  ASSERT_EQ(page["groups"].size(), 1u) << "a group of one run is its run";
  const json& a = page["groups"][0];
  EXPECT_EQ(a["runs"], (json{0, 1, 2}));
  EXPECT_EQ(a["columns"], page["columns"]);
  const auto at = std::ranges::find(a["columns"], "loss_max") - a["columns"].begin();
  EXPECT_EQ(a["mid"][static_cast<std::size_t>(at)], (json{9, 6, 2}));
  EXPECT_EQ(a["low"][static_cast<std::size_t>(at)], (json{9, 5, 1}));
  EXPECT_EQ(a["high"][static_cast<std::size_t>(at)], (json{9, 7, 6}));
}

}  // namespace
}  // namespace ticopd
