// Runs of several seeds are one line with a band, and a sweep has panels against its key.
#include <regex>

#include "report/folders.hpp"
#include "ticopd/report/curve.hpp"
#include "ticopd/report/gnuplot.hpp"
#include "ticopd/report/style.hpp"
#include "ticopd/report/swept.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

class FigureGroups : public Folders {
 protected:
  void SetUp() override {
    Folders::SetUp();
    if (!Gnuplot::available()) GTEST_SKIP() << Gnuplot::how_to_get_it();
  }

  // For each method and number of bits, three seeds that end at losses around 1 / bits.
  Collection swept(const std::vector<std::string>& methods, const std::vector<int>& bits) const {
    json runs = json::array();
    for (const std::string& method : methods)
      for (const int b : bits)
        for (int seed = 1; seed <= 3; ++seed) {
          const std::string group = fmt::format("{}, codec.bits = {}", method, b);
          const std::string folder = fmt::format("{}-{}-{}", method, b, seed);
          const double end = 0.1 * seed / b;
          made_up("all/" + folder, group,
                  {{"0", "3", ""},
                   {"10", fmt::format("{}", 10 * end), ""},
                   {"100", fmt::format("{}", end), ""}},
                  method, b);
          runs.push_back({{"label", fmt::format("{}, seed {}", group, seed)},
                          {"folder", folder},
                          {"group", group},
                          {"seed", seed},
                          {"swept", {{"codec.bits", b}}}});
        }
    write("all/compare.json", json{{"title", "swept"},
                                   {"sweep", {"codec.bits"}},
                                   {"targets", {{{"metric", "loss_max"}, {"value", 0.12}}}},
                                   {"runs", runs}}
                                  .dump());
    const std::vector<std::string> folders{(base_ / "all").string()};
    return read_folders(folders);
  }

  std::string drawn(const Collection& all, const char* file) const {
    const Written written = write_report(base_ / "out", all.runs, all.options);
    for (const std::string& missing : written.missing)
      EXPECT_EQ(missing.find("figure"), std::string::npos) << missing;
    return read(base_ / "out" / file);
  }

  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  }
};

TEST_F(FigureGroups, HaveOneLineAndOneBandEach) {
  const Collection all = swept({"a", "b"}, {1, 4});
  const std::string script = drawn(all, "figure.gp");
  EXPECT_EQ(count(script, "$run0 using"), 2 * 6u);  // band and line in each of six panels
  EXPECT_EQ(count(script, "filledcurves"), 4 * 6u);
  EXPECT_EQ(count(script, "$run4 "), 0u);
  const std::string picture = read(base_ / "out/figure.svg");
  EXPECT_GT(count(picture, ">a, codec.bits = 4 ("), 0u);
  EXPECT_EQ(count(picture, "seed 1"), 0u);
  EXPECT_GT(count(picture, "line: median, band: smallest to largest of 3 runs each"), 0u);
}

TEST_F(FigureGroups, BandHasTheEndsOfTheRuns) {
  const Collection all = swept({"a"}, {1});
  const std::vector<Curve> curves = curves_of(all.runs, groups_of(all.runs, Band::range));
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_NEAR(curves[0].at("loss_max").back().value(), 0.2, 1e-12);
  EXPECT_NEAR(curves[0].low_of("loss_max").back().value(), 0.1, 1e-12);
  EXPECT_NEAR(curves[0].high_of("loss_max").back().value(), 0.3, 1e-12);
  const std::string data = drawn(all, "figure.dat");
  EXPECT_NE(data.find("100 10000 0.2 "), std::string::npos) << data;
}

TEST_F(FigureGroups, SweptPanelsHaveALineForEachEntry) {
  const Collection all = swept({"a", "b"}, {1, 2, 4});
  const auto groups = groups_of(all.runs, Band::range);
  const SweptPanel end = swept_panel(
      all.runs, groups, {FigurePanel::Kind::end, "loss_max", "codec.bits"}, Band::range);
  ASSERT_EQ(end.lines.size(), 2u);
  ASSERT_EQ(end.lines[0].size(), 3u);
  EXPECT_EQ(end.lines[0][2].x, 4);
  EXPECT_NEAR(end.lines[0][2].y.mid, 0.05, 1e-12);
  EXPECT_TRUE(end.words.empty());
  const std::string script = drawn(all, "figure.gp");
  EXPECT_EQ(count(script, "set title 'Mbit to training loss 0.12'"), 1u);
  EXPECT_EQ(count(script, "set title 'training loss at the end'"), 1u);
  EXPECT_EQ(count(script, "set xlabel 'codec.bits'"), 2u);
}

// One of three seeds reaches 0.12 with one bit: the median run does not.
TEST_F(FigureGroups, TargetThatTheMedianDoesNotReachHasNoPoint) {
  const Collection all = swept({"a"}, {1, 2, 4});
  const auto groups = groups_of(all.runs, Band::range);
  const SweptPanel panel = swept_panel(
      all.runs, groups, {FigurePanel::Kind::bits_to, "loss_max", "codec.bits", 0.12}, Band::range);
  ASSERT_EQ(panel.lines.size(), 1u);
  ASSERT_EQ(panel.lines[0].size(), 2u);
  EXPECT_EQ(panel.lines[0][0].x, 2);
  EXPECT_EQ(panel.lines[0][0].y.mid, 0.01);
  EXPECT_TRUE(std::isinf(panel.lines[0][0].y.high));
}

TEST_F(FigureGroups, RunsOfAGroupShareItsStyle) {
  const std::vector<Style> two = styles(swept({"a", "b"}, {1, 4}).runs);
  for (std::size_t r = 0; r < two.size(); ++r) {
    EXPECT_EQ(two[r].marker, static_cast<int>(r / 3));
    EXPECT_EQ(two[r].color, static_cast<int>(r / 6));
  }
  const std::vector<Style> one = styles(swept({"a"}, {1, 2, 4}).runs);
  for (std::size_t r = 0; r < one.size(); ++r) EXPECT_EQ(one[r].color, static_cast<int>(r / 3));
}

TEST_F(FigureGroups, ColourAndPanelsMayNameGroupAndKey) {
  Collection all = swept({"a"}, {1, 4});
  all.options.figure = {{"colours", {{"a, codec.bits = 4", "#123456"}}},
                        {"panels", {"loss_max:bits", "end:consensus:codec.bits"}}};
  const std::string script = drawn(all, "figure.gp");
  EXPECT_EQ(count(script, "set xlabel"), 2u);
  EXPECT_GT(count(script, "#123456"), 2u);
}

}  // namespace
}  // namespace ticopd
