// Targets, summary.csv and the table on the terminal.
#include <sstream>

#include "report/folders.hpp"
#include "ticopd/error.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

using Summary = Folders;

TEST_F(Summary, FindsTheFirstLoggedRoundThatReachesATarget) {
  const Series s = read_series(made_up(
      "run", "a", {{"0", "nan", ""}, {"4", "0.5", "0.3"}, {"8", "0.2", "0.9"}, {"9", "0.1", "1"}}));
  const auto loss = reached(s, {"loss_max", 0.2});
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->iteration, 8u);
  EXPECT_EQ(loss->megabits, 800 / 1e6);
  EXPECT_EQ(loss->seconds, 0.8);
  EXPECT_EQ(reached(s, {"accuracy_min", 0.3})->iteration, 4u);
  EXPECT_FALSE(reached(s, {"loss_max", 0.09}).has_value());
  const Series agreed =  // all agents start from the same model
      read_series(made_up("agreed", "b", {{"0", "0", ""}, {"4", "0.5", ""}, {"8", "0.1", ""}}));
  EXPECT_EQ(reached(agreed, {"consensus", 0.2})->iteration, 8u);
}

TEST_F(Summary, ChoosesTargetsThatHalfTheRunsReach) {
  std::vector<Series> runs;
  const auto add = [&](const char* loss, const char* accuracy) {
    const std::string name(1, static_cast<char>('a' + runs.size()));
    runs.push_back(read_series(made_up(name, name, {{"0", "3", "0.1"}, {"5", loss, accuracy}})));
  };
  add("0.0312", "0.957");
  add("0.5", "0.913");
  add("nan", "0.1");
  const std::vector<Target> targets = default_targets(runs);
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].metric, "loss_max");
  EXPECT_EQ(targets[0].value, 0.5);  // not 0.51: 0.5 needs no rounding
  EXPECT_EQ(targets[1].metric, "accuracy_min");
  EXPECT_EQ(targets[1].value, 0.91);  // rounded towards the easier target
  add("0.0312", "");
  const std::vector<Target> without = default_targets(runs);  // one run has no accuracy
  ASSERT_EQ(without.size(), 1u);
  EXPECT_EQ(without[0].value, 0.032);
  int reach = 0;
  for (const Series& run : runs) reach += reached(run, without[0]).has_value();
  EXPECT_EQ(reach, 2);
}

TEST(TargetOption, ParsesAMetricAndANumber) {
  EXPECT_EQ(parse_target("accuracy_min=0.9").value, 0.9);
  EXPECT_EQ(parse_target("consensus=1e-3").metric, "consensus");
  expect_refused<ConfigError>([] { parse_target("los_max=0.9"); },
                              {"los_max", "did you mean \"loss_max\"?"});
  for (const char* text : {"loss_max", "loss_max=", "loss_max=low", "loss_max=nan"})
    EXPECT_THROW(parse_target(text), UsageError) << text;
}

TEST_F(Summary, NamesTheRoundOfTheFiguresOfAStoppedRun) {
  const auto folder =
      made_up("run", "a", {{"0", "2", ""}, {"8", "1", ""}}, "dgd", 8, "interrupted");
  const auto table = [&] {
    return summary_table(std::vector<Series>{read_series(folder)}, {}, 80);
  };
  EXPECT_NE(table().find("  interrupted after 8 iterations: a\n"), std::string::npos) << table();
  nlohmann::json summary = nlohmann::json::parse(read(folder / "run.json"));
  summary["iterations"] = 11u;
  write("run/run.json", summary.dump());
  EXPECT_NE(table().find("  interrupted after 11 iterations (values at iteration 8): a\n"),
            std::string::npos)
      << table();
}

TEST_F(Summary, QuotesLabelsInTheCsv) {
  const std::string label = "a \"b\", c\nd";
  const std::vector<Series> runs = {
      read_series(made_up("x/run", label, {{"0", "1", "0.1"}, {"2", "0.25", "0.5"}}))};
  ReportOptions options;
  options.targets = {{"accuracy_min", 0.5}, {"loss_max", 0.1}};
  options.folder = base_ / "x";
  EXPECT_EQ(summary_csv(runs, options),
            "label,folder,status,algorithm,codec,rate," + csv_header() +
                ",digest,accuracy_min_0.5_iteration,accuracy_min_0.5_megabits,"
                "accuracy_min_0.5_seconds,loss_max_0.1_iteration,loss_max_0.1_megabits,"
                "loss_max_0.1_seconds\n"
                "\"a \"\"b\"\", c d\",run,finished,ticopd,\"qsgd, 8 bits\",10,"
                "2,180,200,400,0.25,0.25,0.25,0.5,0.25,0.25,0.5,,,0.2,00ff,2,0.0002,0.2,,,\n");
}

TEST_F(Summary, FitsTheTerminalAndKeepsShortenedLabelsDistinct) {
  std::vector<Series> runs;
  for (const char* bits : {"4", "8"}) {
    const std::string label =
        std::string("Quantisation größer als ") + bits + " Stellen, mit allen Nachbarn im Ring";
    runs.push_back(read_series(
        made_up(bits, label, {{"0", "1e-200", "0.1"}, {"123456", "1.2345e-100", "0.5"}})));
  }
  runs.push_back(read_series(
      made_up("w", "w\x1b[31m", {{"0", "1", ""}, {"7", "nan", ""}}, "dgd", 8, "diverged")));
  ReportOptions options;
  options.targets = {{"loss_max", 1.5e-5}, {"accuracy_min", 0.5}, {"grad_norm2_mean", 1.25e-7}};
  for (const std::size_t width : {80u, 100u, 200u}) {
    const std::string table = summary_table(runs, options, width);
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(characters(line), width) << line;
    EXPECT_EQ(table.find('\x1b'), std::string::npos);
    EXPECT_NE(table.find("diverged after 7 iterations: w"), std::string::npos) << table;
    EXPECT_NE(table.find("accuracy_min >= 0.5"), std::string::npos) << table;
    EXPECT_NE(table.find("loss_max <= 1.5e-05"), std::string::npos) << table;
    EXPECT_NE(table.find("123456"), std::string::npos) << table;
    EXPECT_NE(table.find("nan"), std::string::npos) << table;
    EXPECT_EQ(width == 200, table.find("…") == std::string::npos) << table;
  }
  const std::vector<std::string> labels = {runs[0].label, runs[1].label};
  for (const std::size_t width : {10u, 28u, 40u}) {
    const auto shown = shortened_apart(labels, width);
    EXPECT_LE(characters(shown[0]), width);
    EXPECT_EQ(shown[0] != shown[1], width >= 28) << shown[0];
  }
}

TEST(PlainText, IsOneLineOfValidUtf8) {
  EXPECT_EQ(plain("größe\tα ≤ 𝛽"), "größe α ≤ 𝛽");
  EXPECT_EQ(plain("a\nb\x7f\x1b[0m"), "a b  [0m");
  EXPECT_EQ(plain("\xff|\xc3|\xe2\x82|\xc0\xaf|\xed\xa0\x80|\xf5\x80\x80\x80"),
            "?|?|??|??|???|????");
  EXPECT_EQ(characters("größe"), 5u);
  EXPECT_EQ(shortened("größer", 5), "gr…er");
  EXPECT_EQ(shortened("größer", 6), "größer");
}

TEST(Text, PrintableShowsWhatCannotBeSeen) {
  EXPECT_EQ(printable("größe\tα\n"), "größe\tα\n");
  EXPECT_EQ(printable("a\x1b[0m\r\xc2\x9b"), "a\\x1b[0m\\x0d\\x9b");
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("0 1\xc2\xa0"), "0 1\\u00a0");
  EXPECT_EQ(printable("\xef\xbb\xbf"
                      "a\xe2\x80\x8b"
                      "b\xe2\x80\xae"),
            "\\ufeffa\\u200bb\\u202e");
  EXPECT_EQ(printable("\xe2\x80\x93 \xe2\x86\x92"),
            "\xe2\x80\x93 \xe2\x86\x92");  // a dash, an arrow
  EXPECT_EQ(plain("a\xe2\x80\xae"
                  "b"),
            "a b");
}

}  // namespace
}  // namespace ticopd
