// The static figure shows every run, distinguishable without colour, with any labels and values.
#include <array>
#include <regex>
#include <set>

#include "report/folders.hpp"
#include "ticopd/error.hpp"
#include "ticopd/report/axis.hpp"
#include "ticopd/report/gnuplot.hpp"
#include "ticopd/report/style.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

// Replaces gnuplot by another program, or by one that does not exist.
class Instead {
 public:
  explicit Instead(const std::string& program) { ::setenv("TICOPD_GNUPLOT", program.c_str(), 1); }
  ~Instead() { ::unsetenv("TICOPD_GNUPLOT"); }
};

class FigureTest : public Folders {
 protected:
  void SetUp() override {
    Folders::SetUp();
    if (!Gnuplot::available()) GTEST_SKIP() << Gnuplot::how_to_get_it();
  }

  // Six methods with two codecs each, and one more run.
  std::vector<Series> thirteen() const {
    std::vector<Series> runs;
    for (int r = 0; r < 13; ++r) {
      const std::string name = fmt::format("run {}", r);
      runs.push_back(read_series(made_up(name, name,
                                         {{"0", "3", "0.1"},
                                          {"1", fmt::format("{}", 2.0 / (r + 1)), "0.2"},
                                          {"50", "0.01", "0.9"}},
                                         fmt::format("algorithm {}", r / 2), r % 2 == 0 ? 8 : 4)));
    }
    return runs;
  }

  std::string svg(const std::vector<Series>& runs) const {
    write_report(base_ / "out", runs, {});
    return read(base_ / "out/figure.svg");
  }

  // The text of the PDF's pages; empty if pdftotext is not installed.
  std::string pdf_text() const {
    const std::string command =
        "pdftotext " + (base_ / "out/figure.pdf").string() + " " + (base_ / "out/text").string();
    return std::system((command + " 2> /dev/null").c_str()) == 0 ? read(base_ / "out/text") : "";
  }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_F(FigureTest, IsDrawnInThreeFormats) {
  const Written written = write_report(base_ / "out", thirteen(), {});
  EXPECT_TRUE(read(base_ / "out/figure.svg").starts_with("<?xml"));
  EXPECT_TRUE(read(base_ / "out/figure.pdf").starts_with("%PDF"));
  EXPECT_TRUE(read(base_ / "out/figure.png").starts_with("\x89PNG"));
  for (const fs::path& file : written.files) EXPECT_TRUE(fs::exists(file)) << file;
  for (const auto& entry : fs::directory_iterator(base_ / "out"))
    EXPECT_FALSE(entry.path().filename().string().starts_with('.')) << entry;
}

TEST_F(FigureTest, ShowsEveryRunInEveryPanelAndInTheLegend) {
  const std::vector<Series> runs = thirteen();
  const std::string picture = svg(runs);
  for (const Series& run : runs) {
    // Curve and markers in each of the eight panels and in the legend, which also has the name.
    EXPECT_EQ(count(picture, "<title>" + legend(run) + "</title>"), 18u) << run.label;
    EXPECT_EQ(count(picture, ">" + legend(run) + "<"), 19u) << run.label;
  }
  for (const char* title : {"training loss", "squared gradient norm", "consensus error",
                            "worst test accuracy", "iterations", "bits per agent"})
    EXPECT_NE(picture.find(title), std::string::npos) << title;
}

TEST_F(FigureTest, GivesEveryRunItsOwnStyle) {
  const std::vector<Series> runs = thirteen();
  const std::string picture = svg(runs);
  std::set<std::array<std::string, 3>> seen;     // colour, dash, marker
  std::set<std::array<std::string, 2>> in_grey;  // what is left in a black and white copy
  for (const Series& run : runs) {
    const std::string title = "<title>" + legend(run) + "</title>";
    const std::size_t curve = picture.find(title), markers = picture.find(title, curve + 1);
    ASSERT_NE(markers, std::string::npos);
    const std::string part = picture.substr(curve, picture.find("<title>", markers + 1) - curve);
    const auto find = [&](const char* pattern) {
      std::smatch match;
      return std::regex_search(part, match, std::regex(pattern)) ? match[1].str() : std::string();
    };
    const std::string color = find("path stroke='(rgb[^']*)'");
    const std::string dash = find("stroke-dasharray='([^']*)'");
    const std::string marker = find("xlink:href='#(gpPt[0-9]+)'");
    EXPECT_FALSE(marker.empty()) << part.substr(0, 2000);
    EXPECT_TRUE(seen.insert({color, dash, marker}).second) << run.label;
    EXPECT_TRUE(in_grey.insert({dash, marker}).second) << run.label;
  }
}

TEST_F(FigureTest, PdfHasSearchableText) {
  const std::vector<Series> runs = thirteen();
  write_report(base_ / "out", runs, {});
  const std::string text = pdf_text();
  if (text.empty()) GTEST_SKIP() << "pdftotext is not installed (Debian: poppler-utils)";
  for (const Series& run : runs) EXPECT_NE(text.find(legend(run)), std::string::npos) << text;
}

TEST_F(FigureTest, DrawsAnyLabelAsPlainText) {
  const std::string mark = (base_ / "ran").string();
  const std::vector<std::string> labels = {
      "x_1^2 {a} @b $c", "<script>alert(1)</script> & more", "it's \"quoted\" \\n 100 %",
      "`touch " + mark + "` $(touch " + mark + ")", "two\nlines; system('touch " + mark + "')"};
  std::vector<Series> runs;
  for (const std::string& label : labels)
    runs.push_back(
        read_series(made_up(std::to_string(runs.size()), label, {{"0", "2", ""}, {"9", "1", ""}})));
  const std::string picture = svg(runs);
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_NE(picture.find("x_1^2 {a} @b $c (10 bit)<"), std::string::npos);
  const std::regex markup("&lt;script(>|&gt;)alert\\(1\\)&lt;/script(>|&gt;) &amp; more");
  EXPECT_TRUE(std::regex_search(picture, markup));
  EXPECT_EQ(picture.find("<script"), std::string::npos);
  const std::string text = pdf_text();
  if (text.empty()) GTEST_SKIP() << "pdftotext is not installed (Debian: poppler-utils)";
  for (const char* part : {"x_1^2 {a} @b $c", "<script>alert(1)</script> & more",
                           "it's \"quoted\" \\n 100 %", "two lines;"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
}

TEST_F(FigureTest, DrawsRunsWithInfinitiesAndNans) {
  std::vector<Series> runs;
  runs.push_back(read_series(made_up(
      "a", "diverges", {{"0", "2", ""}, {"4", "1e30", ""}, {"9", "inf", ""}, {"11", "nan", ""}},
      "dgd", 8, "diverged")));
  runs.push_back(read_series(made_up("b", "only nan", {{"0", "nan", ""}, {"9", "nan", ""}})));
  runs.push_back(read_series(made_up("c", "only zero", {{"0", "0", ""}, {"9", "0", ""}})));
  runs.push_back(read_series(made_up("d", "one row", {{"0", "1", ""}})));
  runs.push_back(read_series(made_up("e", "calm", {{"0", "2", ""}, {"9", "1", ""}})));
  const std::string picture = svg(runs);
  for (const Series& run : runs)
    EXPECT_NE(picture.find(">" + legend(run) + "<"), std::string::npos) << run.label;
  EXPECT_EQ(picture.find("worst test accuracy"), std::string::npos);  // no run has an accuracy
  for (const Series& run : runs) EXPECT_NO_THROW(svg({run})) << run.label;
}

// A run counts as diverged by its status, or if its loss was once a hundred times the first. Its
// large values must not hide what the other runs reached.
TEST_F(FigureTest, DivergedRunsDoNotSetTheAxis) {
  const Series good = read_series(made_up("a", "good", {{"0", "2", ""}, {"9", "1e-8", ""}}));
  const auto high = [&](const std::string& folder, const char* loss, const char* status) {
    const Series other = read_series(made_up(
        folder, folder, {{"0", "2", ""}, {"4", loss, ""}, {"9", "2", ""}}, "dgd", 8, status));
    const std::vector<Curve> both = curves_of(std::vector<Series>{good, other}, {});
    const Axis axis =
        y_axis(both, "loss_max", "iteration", x_axis(both, "iteration", {.log = false}));
    EXPECT_EQ(axis.low, 1e-8) << folder;
    return axis.high;
  };
  EXPECT_EQ(high("b", "1e9", "finished"), 20);
  EXPECT_EQ(high("c", "100", "diverged"), 20);
  EXPECT_EQ(high("d", "100", "finished"), 100);  // large, but it recovered
}

TEST_F(FigureTest, ReportsAMissingGnuplot) {
  const Instead none("no-such-gnuplot");
  EXPECT_FALSE(Gnuplot::available());
  const Written written = write_report(base_ / "out", thirteen(), {});
  ASSERT_FALSE(written.missing.empty());
  EXPECT_EQ(written.missing[0],
            "figure.svg, figure.pdf, figure.png: TICOPD_GNUPLOT = \"no-such-gnuplot\": no such "
            "program on PATH");
  EXPECT_TRUE(fs::exists(base_ / "out/summary.csv"));
  EXPECT_FALSE(fs::exists(base_ / "out/figure.svg"));
  expect_refused<UnavailableError>([&] { Gnuplot::draw("plot x\n", base_ / "p", 3, 2); },
                                   {"no-such-gnuplot"});
}

TEST_F(FigureTest, ReportsAFailingGnuplot) {
  write("broken", "#!/bin/sh\n[ \"$2\" = --version ] && exit 0\necho out of ink\nexit 1\n");
  fs::permissions(base_ / "broken", fs::perms::owner_all);
  const Instead broken((base_ / "broken").string());
  const Written written = write_report(base_ / "out", thirteen(), {});
  ASSERT_FALSE(written.missing.empty());
  for (const char* part : {"figure.svg, figure.pdf, figure.png: ", "could not draw", "out of ink"})
    EXPECT_NE(written.missing[0].find(part), std::string::npos) << written.missing[0];
  EXPECT_TRUE(fs::exists(base_ / "out/summary.csv"));
  EXPECT_TRUE(written.missing.size() > 1 || fs::exists(base_ / "out/report.html"));
}

// If every round of every run has the same value, the axis would have length zero.
TEST_F(FigureTest, IsDrawnIfAValueNeverChanges) {
  for (const char* accuracy : {"0", "0.25", "1", "0.0123456"}) {
    const std::vector<Series> runs{read_series(made_up(
        std::string("a") + accuracy, "flat", {{"0", "2", accuracy}, {"9", "1", accuracy}}))};
    const Written written = write_report(base_ / "out", runs, {});
    for (const std::string& missing : written.missing)
      EXPECT_EQ(missing.find("figure"), std::string::npos) << missing;
  }
}

TEST_F(FigureTest, ErrorQuotesGnuplot) {
  expect_refused<DiskError>([&] { Gnuplot::draw("plot x wth lines\n", base_ / "p", 3, 2); },
                            {"p: gnuplot could not draw it", "wth lines"});
  EXPECT_FALSE(fs::exists(base_ / "p.svg"));
  expect_refused<DiskError>([&] { Gnuplot::draw("plot x\n", base_ / "no/folder/p", 3, 2); },
                            {"no/folder"});
}

TEST_F(FigureTest, HasOneColourPerAlgorithmAndOneDashPerCodec) {
  const std::vector<Style> all = styles(thirteen());
  for (std::size_t r = 0; r < all.size(); ++r) {
    EXPECT_EQ(all[r].color, static_cast<int>(r / 2));
    EXPECT_EQ(all[r].dash, static_cast<int>(r % 2));
    EXPECT_EQ(all[r].marker, static_cast<int>(r));
  }
}

// gnuplot rounds the label of a tic that is not a power of ten, so a label could be wrong by up to
// a factor of ten.
TEST(Axis, LogAxisHasTicsAtPowersOfTen) {
  const std::string text = axis_commands('x', Axis{3.2e5, 3.1e9, true});
  EXPECT_NE(text.find("set xtics 1e6,1e1,1e9\n"), std::string::npos) << text;
  const std::string wide = axis_commands('y', Axis{2e-4, 5e8, true});
  EXPECT_NE(wide.find("set ytics 1e-3,1e3,1e8\n"), std::string::npos) << wide;
}

}  // namespace
}  // namespace ticopd
