// A legend of many curves stays readable: whole, in parts, or with a count of what is left out.
#include <set>

#include "report/folders.hpp"
#include "ticopd/report/figure_key.hpp"
#include "ticopd/report/figure_layout.hpp"
#include "ticopd/report/figure_notes.hpp"
#include "ticopd/report/key_parts.hpp"
#include "ticopd/report/style.hpp"

namespace ticopd {
namespace {

using Strings = std::vector<std::string>;

Curve curve(const std::string& label, int color, int dash) {
  Curve made;
  made.name = made.label = label;
  made.style = {color, dash, 0};
  made.color = std::string(colors[static_cast<std::size_t>(color)]);
  return made;
}

// Methods with a colour each, codecs with a dash each.
std::vector<Curve> product(const Strings& methods, const Strings& codecs) {
  std::vector<Curve> curves;
  for (std::size_t m = 0; m < methods.size(); ++m)
    for (std::size_t c = 0; c < codecs.size(); ++c)
      curves.push_back(
          curve(methods[m] + ", " + codecs[c], static_cast<int>(m), static_cast<int>(c)));
  return curves;
}

Strings labels_of(const std::vector<Curve>& curves) {
  Strings labels;
  for (const Curve& c : curves) labels.push_back(c.label);
  return labels;
}

// Forty labels of about forty letters: too many for a column, a slide, or any page that is narrow.
Strings forty() {
  Strings labels;
  for (int i = 0; i < 40; ++i)
    labels.push_back(fmt::format("number {} with a label that explains itself", i));
  return labels;
}

FigureLayout layout_of(const char* preset, const Strings& labels, const Strings& parts = {}) {
  const FigureOptions options = read_figure({{"preset", preset}}, "bits_payload");
  const Strings titles{"training loss", "worst test accuracy"};
  return lay_out(options, labels, labels, titles, 0, parts);
}

TEST(KeyParts, HaveALineForEachColourAndEachDash) {
  const KeyParts parts = key_parts(product({"A", "B", "C"}, {"qsgd, 2 bits", "sign"}), {});
  EXPECT_EQ(parts.names, (Strings{"A", "B", "C", "qsgd, 2 bits", "sign"}));
  std::set<std::string> lines;
  for (const Pen& pen : parts.pens) lines.insert(pen.line);
  EXPECT_EQ(lines.size(), 5u);
  EXPECT_NE(parts.pens[1].line.find(colors[1]), std::string::npos);
  EXPECT_NE(parts.pens[4].line.find("dt (7,3)"), std::string::npos);
}

TEST(KeyParts, AreRefusedIfAColourOrDashMeansTwoThings) {
  const auto refused = [](std::vector<Curve> curves) {
    return key_parts(curves, {}).names.empty();
  };
  std::vector<Curve> curves = product({"A", "B", "C"}, {"1", "2", "3"});
  EXPECT_FALSE(refused(curves));
  curves[4].color = "#123456";  // B has two colours
  EXPECT_TRUE(refused(curves));
  curves = product({"A", "B", "C"}, {"1", "2", "3"});
  for (int i : {3, 4, 5}) curves[static_cast<std::size_t>(i)].color = curves[0].color;
  EXPECT_TRUE(refused(curves)) << "A and B have one colour";
  curves = product({"A", "B", "C"}, {"1", "2", "3"});
  curves[4].style.dash = 2;
  EXPECT_TRUE(refused(curves)) << "codec 2 has two dashes";
  curves = product({"A", "B", "C"}, {"1", "2", "3"});
  curves[4].label = "no second part";
  EXPECT_TRUE(refused(curves));
  EXPECT_TRUE(refused(product({"A", "B"}, {"1", "2"}))) << "four lines in place of four";
  EXPECT_TRUE(refused(product({"A", "B", "C"}, {"1", "2", "3", "4", "5", "6"})))
      << "there are five dashes";
}

TEST(FigureKey, SaysIfEveryNameCanBeReadToItsEnd) {
  const Strings few{"TiCoPD (9 bit)", "BEER (18 bit)"}, labels{"TiCoPD", "BEER"};
  EXPECT_TRUE(FigureKey(few, labels, 3, 8).is_whole());
  const Strings many = forty();
  EXPECT_FALSE(FigureKey(many, many, 3.35, 8).is_whole());
  EXPECT_TRUE(FigureKey(many, many, 12, 8).is_whole());
}

TEST(FigureKey, CountsTheNamesThatAreLeftOut) {
  const Strings names = forty();
  const FigureKey key(names, names, 3.35, 8, 1, 10, 10);
  EXPECT_EQ(key.lines(), 10u);
  const std::vector<Pen> pens(names.size(), Pen{"lc rgb 'black'", "pt 7"});
  const std::string commands = key.commands(pens, 0, 0, 3.35, 4);
  EXPECT_NE(commands.find("'and 31 more'"), std::string::npos) << commands;
  EXPECT_NE(commands.find("$key8 "), std::string::npos);
  EXPECT_EQ(commands.find("$key9 "), std::string::npos);
}

TEST(Legend, TakesPartsIfTheWholeDoesNotFit) {
  const std::vector<Curve> curves =
      product({"TiCoPD", "CHOCO-SGD", "BEER", "CP-SGD", "DEF-ATC", "DoCoM", "LEAD", "DeepSqueeze"},
              {"qsgd, 2 bits", "qsgd, 4 bits", "qsgd, 8 bits", "infinity 4", "top 2 percent"});
  const Strings labels = labels_of(curves), parts = key_parts(curves, {}).names;
  ASSERT_EQ(parts.size(), 13u);
  for (const char* preset : {"paper-1col", "slides"}) {
    const FigureLayout layout = layout_of(preset, labels, parts);
    EXPECT_TRUE(layout.key_in_parts) << preset;
    EXPECT_TRUE(layout.key->is_whole()) << preset;
    EXPECT_LE(layout.key->lines(), 7u) << preset;
  }
  EXPECT_FALSE(layout_of("paper-2col", labels, parts).key_in_parts);
  EXPECT_FALSE(layout_of("slides", {"A, 1", "B, 1"}, {"A", "B", "1"}).key_in_parts);
}

TEST(Legend, LeavesASlideItsHeightAndMostOfItToPanels) {
  const FigureLayout layout = layout_of("slides", forty());
  EXPECT_NEAR(layout.height, 5.625, 1e-9);
  EXPECT_GT(layout.panels[0].height, 2);
}

TEST(Styles, CurvesOfAnAlgorithmDifferAlsoWithMoreCodecsThanDashes) {
  const auto run = [](const std::string& algorithm, int bits) {
    Series series;
    series.label = series.group = fmt::format("{} {}", algorithm, bits);
    series.summary = {
        {"config",
         {{"algorithm", {{"name", algorithm}}}, {"codec", {{"kind", "qsgd"}, {"bits", bits}}}}}};
    return series;
  };
  std::vector<Series> runs;
  for (int bits = 1; bits <= 4; ++bits) runs.push_back(run("ticopd", bits));
  for (int bits = 5; bits <= 8; ++bits) runs.push_back(run("lead", bits));
  std::set<int> dashes;
  const std::vector<Style> all = styles(runs);
  for (std::size_t r = 4; r < 8; ++r) dashes.insert(all[r].dash % static_cast<int>(dash_count));
  EXPECT_EQ(dashes, (std::set<int>{0, 1, 2, 3}));
}

class FigureNotes : public Folders {};

TEST_F(FigureNotes, NameRunsThatDiverged) {
  const auto run = [&](const std::string& label, const char* status) {
    return read_series(made_up(label, label, {{"0", "2", ""}, {"9", "1e9", ""}}, "dgd", 8, status));
  };
  FigureOptions options;
  options.width = 3.35;
  std::vector<Series> runs{run("calm", "finished")};
  EXPECT_TRUE(notes_of(runs, {}, Band::range, options).empty());
  runs.push_back(run("wild", "diverged"));
  EXPECT_EQ(notes_of(runs, {}, Band::range, options), Strings{"diverged: wild"});
  for (int i = 0; i < 20; ++i) runs.push_back(run(fmt::format("wilder {}", i), "diverged"));
  const Strings notes = notes_of(runs, {}, Band::range, options);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("diverged: wild; wilder 0; ")) << notes[0];
  EXPECT_TRUE(notes[0].ends_with(" more")) << notes[0];
  EXPECT_LE(text_width(notes[0], note_font_size(options)), 3.35) << notes[0];
}

}  // namespace
}  // namespace ticopd
