// [figure]: what it may say, what is drawn, and the script that stays beside the figure.
#include "ticopd/report/figure_options.hpp"

#include <regex>

#include "report/folders.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/report/axis.hpp"
#include "ticopd/report/gnuplot.hpp"
#include "ticopd/system/program.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

FigureOptions figure_of(const json& given) {
  return read_figure(given, "bits_payload");
}

TEST(FigureOptions, LengthsHaveUnits) {
  EXPECT_DOUBLE_EQ(*length_in_inches("2.54 cm"), 1);
  EXPECT_DOUBLE_EQ(*length_in_inches("25.4mm"), 1);
  EXPECT_DOUBLE_EQ(*length_in_inches(" 3 in "), 3);
  EXPECT_DOUBLE_EQ(*length_in_inches("36 pt"), 0.5);
  for (const char* wrong :
       {"", "8.5", "cm", "8.5 km", "-1 cm", "0 cm", "nan cm", "inf in", "1 cm cm"})
    EXPECT_FALSE(length_in_inches(wrong)) << wrong;
}

TEST(FigureOptions, KeysGoBeforeThePreset) {
  const FigureOptions column = figure_of({{"preset", "paper-1col"}});
  EXPECT_NEAR(column.width, 8.5 / 2.54, 1e-12);
  const FigureOptions own = figure_of(
      {{"preset", "slides"}, {"width", "5 in"}, {"font", "Times, 9 pt"}, {"legend", "off"}});
  EXPECT_EQ(own.width, 5);
  EXPECT_FALSE(own.height);  // that of a slide suits its width only
  EXPECT_EQ(own.font, "Times");
  EXPECT_EQ(own.font_size, 9);
  EXPECT_EQ(own.legend, "off");
  EXPECT_EQ(figure_of({{"font", "10 pt"}}).font_size, 10);
  EXPECT_EQ(figure_of({{"font", "DejaVu Sans"}}).font, "DejaVu Sans");
}

// Their names stand in the table of keys, their sizes beside the drawing.
TEST(FigureOptions, EveryPresetHasSizes) {
  for (const std::string& preset : plain_keys().at("figure.preset").domain.words) {
    const FigureOptions figure = figure_of({{"preset", preset}});
    EXPECT_TRUE(preset == "paper-2col" || figure.width != FigureOptions().width) << preset;
  }
}

TEST(FigureOptions, PanelsNameMetricAndColumn) {
  const auto panels = figure_of({{"panels",
                                  {"loss_max:bits", "accuracy_min:seconds", "end:consensus",
                                   "bits_to:accuracy_min=0.95:codec.bits"}}})
                          .panels;
  ASSERT_EQ(panels.size(), 4u);
  EXPECT_EQ(panels[0].x, "bits_payload");
  EXPECT_EQ(panels[1].x, "seconds");
  EXPECT_EQ(panels[2].kind, FigurePanel::Kind::end);
  EXPECT_EQ(panels[3].kind, FigurePanel::Kind::bits_to);
  EXPECT_EQ(panels[3].metric, "accuracy_min");
  EXPECT_EQ(panels[3].value, 0.95);
  EXPECT_EQ(panels[3].x, "codec.bits");
}

TEST(FigureOptions, AxesHaveScaleAndRange) {
  const auto axes =
      figure_of(
          {{"axes",
            {{"loss_max", "log 1e-4..10"}, {"accuracy_min", "0.9 .. 1"}, {"bits", "linear"}}}})
          .axes;
  EXPECT_TRUE(*axes.at("loss_max").log);
  EXPECT_EQ(axes.at("loss_max").low, 1e-4);
  EXPECT_EQ(axes.at("loss_max").high, 10);
  EXPECT_FALSE(axes.at("accuracy_min").log);
  EXPECT_EQ(axes.at("accuracy_min").low, 0.9);
  EXPECT_FALSE(*axes.at("bits_payload").log);
}

TEST(FigureOptions, ErrorsNameKeyValueAndNearestWord) {
  const auto refused = [](const json& given, std::initializer_list<const char*> parts) {
    try {
      figure_of(given);
      FAIL() << given;
    } catch (const ConfigError& e) {
      for (const char* part : parts)
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused({{"widht", "8 cm"}}, {"widht", "did you mean \"width\""});
  refused({{"width", 8}}, {"figure.width = 8"});
  refused({{"width", "8 parsecs"}}, {"figure.width = \"8 parsecs\"", "cm"});
  refused({{"width", "1000 cm"}}, {"figure.width", "40 in"});
  refused({{"preset", "paper-1cols"}}, {"figure.preset", "did you mean \"paper-1col\""});
  refused({{"panels", {"los_max:bits"}}}, {"figure.panels", "did you mean \"loss_max\""});
  refused({{"panels", {"loss_max:bit"}}}, {"figure.panels", "did you mean \"bits\""});
  refused({{"panels", {"loss_max"}}}, {"figure.panels = \"loss_max\"", "METRIC:X"});
  refused({{"panels", {"bits_to:loss_max"}}}, {"figure.panels", "METRIC=VALUE"});
  refused({{"panels", json::array()}}, {"figure.panels = []", "list"});
  refused({{"panels", "loss_max:bits"}}, {"figure.panels", "list"});
  refused({{"axes", {{"loss_max", "logarithmic"}}}}, {"figure.axes.loss_max", "log 1e-4..10"});
  refused({{"axes", {{"loss_max", "log 0..1"}}}}, {"figure.axes.loss_max", "above 0"});
  refused({{"axes", {{"loss_max", "2..1"}}}}, {"figure.axes.loss_max"});
  refused({{"axes", {{"loss", "log"}}}}, {"figure.axes", "\"loss\""});
  refused({{"colours", {{"a", "blu"}}}}, {"figure.colours", "did you mean \"blue\""});
  refused({{"colours", {{"a", "#12345"}}}}, {"figure.colours", "#RRGGBB"});
  refused({{"font", "Times, big"}}, {"figure.font", "9 pt"});
  refused({{"font", "Times'; system('true'), 9 pt"}}, {"figure.font"});
  refused({{"format", {"pdf", "jpeg"}}}, {"figure.format", "jpeg"});
  refused({{"legend", "bellow"}}, {"figure.legend", "did you mean \"below\""});
  refused("wide", {"figure", "[figure]"});
}

TEST(FigureOptions, ColoursAndPanelsFitTheRuns) {
  const auto check = [](const json& given, const std::vector<std::string>& swept) {
    check_figure(figure_of(given), {"TiCoPD", "LEAD"}, swept);
  };
  EXPECT_NO_THROW(check({{"colours", {{"LEAD", "black"}}}}, {}));
  EXPECT_THROW(check({{"colours", {{"LAED", "black"}}}}, {}), ConfigError);
  EXPECT_THROW(check({{"panels", {"end:loss_max"}}}, {}), ConfigError);
  EXPECT_NO_THROW(check({{"panels", {"end:loss_max"}}}, {"codec.bits"}));
  EXPECT_THROW(check({{"panels", {"end:loss_max:codec.bit"}}}, {"codec.bits"}), ConfigError);
}

class FigureFiles : public Folders {
 protected:
  void SetUp() override {
    Folders::SetUp();
    if (!Gnuplot::available()) GTEST_SKIP() << Gnuplot::how_to_get_it();
  }

  std::vector<Series> runs(const std::vector<std::string>& labels) const {
    std::vector<Series> all;
    for (const std::string& label : labels)
      all.push_back(read_series(made_up(
          "run" + std::to_string(all.size()), label,
          {{"0", "3", "0.1"}, {"1", "2.5", "0.2"}, {"30", "0.5", "0.8"}, {"100", "0.01", "0.9"}})));
    return all;
  }

  std::string svg(const json& figure, const std::vector<std::string>& labels = {"a", "b"}) const {
    ReportOptions options;
    options.figure = figure;
    const Written written = write_report(base_ / "out", runs(labels), options);
    for (const std::string& missing : written.missing)
      EXPECT_EQ(missing.find("figure"), std::string::npos) << missing;
    return read(base_ / "out/figure.svg");
  }

  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  }
};

TEST_F(FigureFiles, ScriptDrawsTheSamePictureAgain) {
  const std::string first = svg({{"preset", "paper-1col"}});
  const std::string png = read(base_ / "out/figure.png");
  fs::create_directory(base_ / "elsewhere");
  for (const char* file : {"figure.gp", "figure.dat"})
    fs::copy(base_ / "out" / file, base_ / "elsewhere" / file);
  EXPECT_TRUE(run_program({"gnuplot", "figure.gp"}, base_ / "elsewhere", 60).fine);
  EXPECT_EQ(read(base_ / "elsewhere/figure.svg"), first);
  EXPECT_EQ(read(base_ / "elsewhere/figure.png"), png);
}

TEST_F(FigureFiles, ScriptOfHostileLabelsRunsNothing) {
  const std::string mark = (base_ / "ran").string();
  const std::vector<std::string> labels = {"`touch " + mark + "`",
                                           "a'; system('touch " + mark + "'); '",
                                           "\"; system(\"touch " + mark + "\") #",
                                           "$(touch " + mark + ") @x ${x}",
                                           "line\n! touch " + mark,
                                           "line\r\nsystem 'touch " + mark + "'",
                                           "ends with a backslash \\",
                                           "{ open } END\nEND",
                                           "%s %T {/=50 big}"};
  const std::string picture = svg({}, labels);
  EXPECT_TRUE(run_program({"gnuplot", "figure.gp"}, base_ / "out", 60).fine);
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_EQ(read(base_ / "out/figure.svg"), picture);
  EXPECT_NE(picture.find("ends with a backslash \\ ("), std::string::npos);
}

TEST_F(FigureFiles, OnlyWantedFormatsAreDrawn) {
  svg({});
  fs::remove_all(base_ / "out");
  ReportOptions options;
  options.figure = {{"format", {"eps", "pdf"}}};
  write_report(base_ / "out", runs({"a"}), options);
  EXPECT_TRUE(read(base_ / "out/figure.eps").starts_with("%!PS-Adobe"));
  EXPECT_TRUE(read(base_ / "out/figure.pdf").starts_with("%PDF"));
  EXPECT_FALSE(fs::exists(base_ / "out/figure.png"));
}

TEST_F(FigureFiles, WidthAndHeightAreThoseAskedFor) {
  const std::string picture = svg({{"width", "3 in"}, {"height", "6 in"}});
  EXPECT_NE(picture.find("width=\"288\" height=\"576\""), std::string::npos)
      << picture.substr(0, 300);
}

TEST_F(FigureFiles, PanelsAreThoseAskedFor) {
  const std::string picture = svg({{"panels", {"accuracy_min:seconds"}}});
  EXPECT_EQ(count(picture, "worst test accuracy"), 1u);
  EXPECT_EQ(count(picture, "training loss"), 0u);
  EXPECT_EQ(count(picture, ">seconds<"), 1u);
  EXPECT_EQ(count(picture, "<title>a (10 bit)</title>"),
            4u);  // curve and markers, panel and legend
}

TEST_F(FigureFiles, LegendCanBeLeftOutOrStandBeside) {
  EXPECT_EQ(count(svg({{"legend", "off"}}), ">b (10 bit)<"), count(svg({}), ">b (10 bit)<") - 3);
  EXPECT_EQ(count(svg({{"legend", "right"}}), ">b (10 bit)<"), count(svg({}), ">b (10 bit)<"));
}

TEST_F(FigureFiles, ColourOfALabelIsUsed) {
  EXPECT_NE(svg({{"colours", {{"a", "#123456"}}}}).find("rgb( 18,  52,  86)"), std::string::npos);
  EXPECT_THROW(svg({{"colours", {{"c", "#123456"}}}}), ConfigError);
}

TEST_F(FigureFiles, TooSmallAHeightIsReported) {
  ReportOptions options;
  options.figure = {{"height", "2 cm"}};
  const Written written = write_report(base_ / "out", runs({"a"}), options);
  ASSERT_FALSE(written.missing.empty());
  EXPECT_NE(written.missing[0].find("figure.height"), std::string::npos) << written.missing[0];
  EXPECT_TRUE(fs::exists(base_ / "out/summary.csv"));
}

// The value at round 0 is not drawn against a logarithmic axis, nor is what lies beyond its range.
TEST_F(FigureFiles, YRangeFollowsWhatIsDrawn) {
  const std::vector<Curve> curves = curves_of(runs({"a"}), {});
  const auto range = [&](const AxisWish& wish) {
    return y_axis(curves, "loss_max", "iteration", x_axis(curves, "iteration", wish));
  };
  EXPECT_EQ(range({.log = true}).high, 2.5);
  EXPECT_EQ(range({.log = false}).high, 3);
  EXPECT_EQ(range({.log = true, .low = 10, .high = 50}).high, 0.5);
  EXPECT_EQ(range({.log = true, .low = 10, .high = 50}).low, 0.5);
}

}  // namespace
}  // namespace ticopd
