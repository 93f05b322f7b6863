// The data of the page, and the page itself if this build has one.
#include "ticopd/report/page.hpp"

#include <cmath>
#include <cstring>

#include "report/folders.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/graph/graph.hpp"

namespace ticopd {
namespace {

using nlohmann::json;
using Page = Folders;

// The JSON that a browser finds in the page.
json data_of(const std::string& html) {
  const std::string id = "id=\"ticopd-report\"";
  const std::size_t at = html.find('>', html.find(id)) + 1;
  return json::parse(html.substr(at, html.find("</script>", at) - at));
}

double number(const json& cell) {
  if (cell == "nan") return NAN;
  if (cell == "inf") return INFINITY;
  if (cell == "-inf") return -INFINITY;
  return cell.get<double>();
}

void expect_same_bits(const json& metrics, const Series& run) {
  ASSERT_EQ(metrics.size(), shown_columns({&run, 1}).size());
  for (std::size_t c = 0; c < metrics.size(); ++c) {
    ASSERT_EQ(metrics[c].size(), run.rows());
    for (std::size_t r = 0; r < run.rows(); ++r) {
      ASSERT_EQ(metrics[c][r].is_null(), !run.columns[c][r].has_value());
      if (metrics[c][r].is_null()) continue;
      const double shown = number(metrics[c][r]), logged = *run.columns[c][r];
      const bool same =
          std::isnan(logged) ? std::isnan(shown) : std::memcmp(&shown, &logged, sizeof shown) == 0;
      EXPECT_TRUE(same) << shown << " instead of " << logged;
    }
  }
}

TEST_F(Page, HoldsTheExactMetrics) {
  const std::vector<Series> runs = {
      read_series(run("real", "real")),
      read_series(made_up("odd", "odd",
                          {{"0", "0.1", ""},
                           {"1", "4.9406564584124654e-324", "nan"},
                           {"2", "1.7976931348623157e+308", "-0"},
                           {"3", "inf", "0.30000000000000004"},
                           {"4", "-inf", "2.2250738585072014e-308"}}))};
  const json report = json::parse(report_json(runs, {}).dump());
  EXPECT_EQ(report["format"], 1);
  EXPECT_EQ(report["columns"].size(), 14u);
  EXPECT_EQ(report["columns"][0], "iteration");
  EXPECT_EQ(report["columns"][13], "seconds");
  for (std::size_t r = 0; r < runs.size(); ++r)
    expect_same_bits(report["runs"][r]["metrics"], runs[r]);
}

TEST_F(Page, DescribesARunCompletely) {
  const std::vector<Series> runs = {read_series(run("real", "real"))};
  ReportOptions options;
  options.title = "My runs";
  options.command = "ticopd compare x.toml";
  options.targets = {{"loss_max", 1e9}, {"loss_max", -1}};
  options.folder = base_;
  const json report = report_json(runs, options);
  EXPECT_EQ(report["title"], "My runs");
  EXPECT_EQ(report["command"], "ticopd compare x.toml");
  EXPECT_EQ(report["targets"][0]["value"], 1e9);
  const json& r = report["runs"][0];
  EXPECT_EQ(r["label"], "real");
  EXPECT_EQ(r["folder"], "real");
  EXPECT_EQ(r["status"], "finished");
  EXPECT_EQ(r["algorithm"], "choco_sgd");
  EXPECT_EQ(r["codec"], "qsgd, 8 bits");
  EXPECT_EQ(r["iterations"], 20);
  EXPECT_EQ(r["graph"], "ring");
  EXPECT_EQ(r["agents"], 4);
  EXPECT_EQ(r["edges"].size(), 4u);
  EXPECT_EQ(r["reached"][0]["iteration"], 1);
  EXPECT_TRUE(r["reached"][1].is_null());
  EXPECT_EQ(r["digest"], runs[0].summary["digest"]);
  EXPECT_GT(r["rate"], 9.0);
  EXPECT_EQ(r["machine"]["threads"], 1);
  // One entry per agent; the worst of them is the value in the table.
  ASSERT_EQ(r["last"]["loss"].size(), 4u);
  EXPECT_EQ(*std::ranges::max_element(r["last"]["loss"]),
            runs[0].column("loss_max").back().value());
  ASSERT_EQ(r["last"]["payload_bytes"].size(), 4u);
  // The embedded config can be run again.
  const Config again = Config::parse(r["toml"].get<std::string>(), ".");
  EXPECT_EQ(again.tree(), runs[0].summary["config"]);
}

TEST_F(Page, HoldsTheLossesOfAllAgentsAtTheLoggedRounds) {
  const std::vector<Series> runs = {read_series(run("real", "real"))};
  const json r = report_json(runs, {})["runs"][0];
  ASSERT_TRUE(r.contains("history"));
  EXPECT_FALSE(r.contains("positions"));
  EXPECT_EQ(r["history"]["metric"], "loss");
  ASSERT_EQ(r["history"]["values"].size(), runs[0].rows());
  for (std::size_t row = 0; row < runs[0].rows(); ++row) {
    EXPECT_EQ(r["history"]["iterations"][row], *runs[0].column("iteration")[row]);
    const json& values = r["history"]["values"][row];
    ASSERT_EQ(values.size(), 4u);
    EXPECT_NEAR(*std::ranges::max_element(values), *runs[0].column("loss_max")[row], 1e-4);
  }
}

TEST_F(Page, PlacesTheAgentsOfAGeometricNetworkUnlessTheFolderIsForeign) {
  Series run = read_series(made_up("a", "a", {{"0", "1", ""}}));
  const Graph graph = geometric(40, 0.3, 7);
  run.summary["agents"] = 40u;
  run.summary["config"]["graph"] = {{"kind", "geometric"}, {"radius", 0.3}};
  run.summary["config"]["seed"] = 7u;
  run.summary["edges"] = json::array();
  for (int i = 0; i < 40; ++i)
    for (const int j : graph.neighbours(i))
      if (i < j) run.summary["edges"].push_back({i, j});
  const json places = report_json({&run, 1}, {})["runs"][0].value("positions", json());
  ASSERT_EQ(places.size(), 40u);
  EXPECT_NEAR(places[3][0], geometric_points(40, 0.3, 7)[3].first, 1e-4);
  run.summary["config"]["seed"] = 8u;
  EXPECT_FALSE(report_json({&run, 1}, {})["runs"][0].contains("positions"));
  run.summary["config"]["graph"]["radius"] = -1;
  EXPECT_FALSE(report_json({&run, 1}, {})["runs"][0].contains("positions"));
}

TEST_F(Page, ListsNoAgentsForADivergedRun) {
  const std::vector<Series> runs = {
      read_series(made_up("a", "a", {{"0", "1", ""}, {"7", "nan", ""}}, "dgd", 8, "diverged"))};
  const json r = report_json(runs, {})["runs"][0];
  EXPECT_EQ(r["status"], "diverged");
  EXPECT_EQ(r["iterations"], 7);
  EXPECT_TRUE(r["last"].is_null());
}

TEST_F(Page, EscapesALabelThatLooksLikeMarkup) {
  if (page_template().empty()) GTEST_SKIP() << "this build has no page: npm could not build it";
  const std::string label = "</script><script>alert('x')</script> \"quoted\" & <!-- \xe2\x82\xac";
  const std::vector<Series> runs = {
      read_series(made_up("a", label, {{"0", "1", ""}, {"7", "0.1", ""}}))};
  const std::string html = page(report_json(runs, {}));
  EXPECT_EQ(html.find("alert('x')</script>"), std::string::npos);
  EXPECT_EQ(html.find("TICOPD_REPORT"), std::string::npos);
  const json report = data_of(html);
  EXPECT_EQ(report["runs"][0]["label"], label);
  expect_same_bits(report["runs"][0]["metrics"], runs[0]);
}

TEST_F(Page, IsWrittenOrReportedAsMissing) {
  const std::vector<Series> runs = {read_series(made_up("a", "a", {{"0", "1", ""}}))};
  const Written written = write_report(base_ / "out", runs, {});
  EXPECT_EQ(std::filesystem::exists(base_ / "out/report.html"), !page_template().empty());
  const bool said = std::ranges::any_of(
      written.missing, [](const std::string& m) { return m.starts_with("report.html: "); });
  EXPECT_EQ(said, page_template().empty());
}

TEST_F(Page, AcceptsALabelThatIsNotUtf8) {
  Series odd = read_series(made_up("a", "a", {{"0", "1", ""}}));
  odd.label = "\xff\xfe";
  const std::vector<Series> runs = {odd};
  EXPECT_NO_THROW(write_report(base_ / "out", runs, {}));
}

}  // namespace
}  // namespace ticopd
