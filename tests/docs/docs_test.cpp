// The documentation agrees with the code: programs, keys, defaults, columns, versions, links.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "cli/program.hpp"
#include "docs/tables.hpp"
#include "places.hpp"
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/experiment/run_set.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path root = places::tree();

std::string text_of(const fs::path& file) {
  std::ifstream in(root / file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_FALSE(text.str().empty()) << file;
  return text.str();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    all.push_back((*it)[1]);
  return all;
}

std::set<std::string> as_set(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

TEST(Docs, ReadmeShowsTheTestedProgram) {
  const std::string program = text_of("tests/install/outside.cpp");
  EXPECT_TRUE(has(text_of("README.md"), "```cpp\n" + program + "```\n"));
}

TEST(Docs, TablesOfConfigurationAreFresh) {
  const std::string page = text_of("docs/configuration.md");
  const auto tables = matches(page, "<!-- table: ([a-z ]+) -->");
  EXPECT_GT(tables.size(), 12u);
  EXPECT_EQ(with_fresh_tables(page), page) << "a table changed: `make docs` writes it anew";
}

TEST(Docs, StaleTableIsFound) {
  const std::string stale = "a\n<!-- table: transports -->\n| old |\n<!-- end -->\nb\n";
  const std::string fresh = with_fresh_tables(stale);
  EXPECT_FALSE(has(fresh, "| old |"));
  EXPECT_TRUE(has(fresh, "| `threads` |")) << fresh;
  EXPECT_TRUE(fresh.starts_with("a\n") && fresh.ends_with("<!-- end -->\nb\n")) << fresh;
  EXPECT_THROW(with_fresh_tables("<!-- table: pigeons -->\n<!-- end -->"), std::runtime_error);
}

// Without the indentation of a class: the README shows a member function at the margin.
TEST(Docs, ReadmeShowsTheStepOfTiCoPD) {
  const auto shown = matches(text_of("README.md"), "\n```cpp\n(void step\\(\\) \\{[^`]*)```\n");
  ASSERT_EQ(shown.size(), 1u);
  std::istringstream lines(shown[0]);
  std::string indented;
  for (std::string line; std::getline(lines, line);) indented += "  " + line + "\n";
  EXPECT_TRUE(has(text_of("ticopd/algorithms/ticopd.hpp"), indented)) << indented;
}

TEST(Docs, LimitationsNamesOnlyExistingTests) {
  std::string tests;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests"))
    if (entry.path().extension() == ".cpp") tests += text_of(entry.path());
  const auto named =
      matches(text_of("docs/limitations.md"), "`([A-Z][A-Za-z]+\\.[A-Z][A-Za-z0-9]+)`");
  EXPECT_GT(named.size(), 30u);
  for (const std::string& name : named) {
    const std::size_t dot = name.find('.');
    EXPECT_TRUE(has(tests, "(" + name.substr(0, dot) + ", " + name.substr(dot + 1) + ")")) << name;
  }
}

TEST(Docs, ConfigurationHasEveryKeyWithItsDefault) {
  const std::string page = text_of("docs/configuration.md");
  const std::vector<KeyInfo> keys = config_keys();
  ASSERT_GT(keys.size(), 40u);
  for (const KeyInfo& key : keys) {
    const json value = to_json(key.value);
    const std::string cell = value.is_null() ? "| |" : "| `" + value.dump() + "` |";
    EXPECT_TRUE(has(page, "\n| `" + key.name + "` " + cell)) << key.name << " " << cell;
  }
}

TEST(Docs, ConfigurationHasNoUnknownKey) {
  std::set<std::string> known;
  for (const KeyInfo& key : config_keys()) known.insert(key.name);
  const auto keys = matches(text_of("docs/configuration.md"), "\n\\| `([a-z]+\\.[a-z0-9_]+)` \\|");
  int found = 0;
  for (const std::string& key : keys) {
    constexpr std::array files{".csv", ".json", ".npy", ".safetensors", ".html", ".toml"};
    if (std::ranges::any_of(files, [&](auto ending) { return key.ends_with(ending); })) continue;
    EXPECT_TRUE(known.contains(key)) << key;
    ++found;
  }
  EXPECT_GT(found, 35);
}

TEST(Docs, ConfigurationHasEveryParameterWithItsDefault) {
  const std::string page = text_of("docs/configuration.md");
  const auto expect = [&](const AlgorithmInfo& a, std::string_view name, const std::string& value,
                          std::string_view help) {
    const std::string row =
        "\n| `" + std::string(a.name) + "` | `" + std::string(name) + "` | " + value + " |";
    const std::size_t at = page.find(row);
    ASSERT_NE(at, std::string::npos) << row;
    const std::string line = page.substr(at + 1, page.find('\n', at + 1) - at - 1);
    EXPECT_TRUE(has(line, std::string(help))) << line;
  };
  for (const AlgorithmInfo& a : algorithm_table()) {
    for (const ParameterInfo& p : a.parameters) {
      std::ostringstream value;
      if (p.required)
        value << "required";
      else if (!p.derived.empty())
        value << '`' << p.derived << '`';
      else
        value << '`' << p.value << '`';
      expect(a, p.name, value.str(), p.help);
    }
    for (const FlagInfo& f : a.flags) expect(a, f.name, f.value ? "`true`" : "`false`", f.help);
  }
}

TEST(Docs, ConfigurationHasEveryColumn) {
  const std::string page = text_of("docs/configuration.md");
  std::istringstream header{csv_header()};
  for (std::string column; std::getline(header, column, ',');)
    EXPECT_TRUE(has(page, "\n| `" + column + "` |")) << column;
}

TEST(Docs, ConfigurationHasEveryColumnOfASummary) {
  const std::string page = text_of("docs/configuration.md");
  std::istringstream header{summary_csv({}, {})};
  int found = 0;
  for (std::string column; std::getline(header, column, ',');) {
    if (column.ends_with('\n')) column.pop_back();
    EXPECT_TRUE(has(page, "`" + column + "`")) << column;
    ++found;
  }
  EXPECT_GT(found, 15);
}

// The text of --help, once for each command.
std::string help_of(Arguments command) {
  command.push_back("--help");
  const Outcome outcome = Program(root, command).wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

TEST(Docs, ConfigurationHasEveryCommandWithItsOptions) {
  const std::string page = text_of("docs/configuration.md");
  const std::string help = help_of({});
  const auto commands = matches(help.substr(help.find("Subcommands:")), "\n  ([a-z]+) +[A-Z]");
  std::set<std::string> options;
  for (const std::string& command : commands) {
    EXPECT_TRUE(has(page, "\n| `ticopd " + command)) << command;
    options.merge(as_set(matches(help_of({command}), "\n +(?:-[a-z],)?(--[a-z-]+)")));
  }
  options.erase("--help");
  EXPECT_GE(commands.size(), 11u);
  EXPECT_GE(options.size(), 15u);
  for (const std::string& option : options)
    EXPECT_TRUE(has(page, "\n| `" + option + "` |") || has(page, "\n| `" + option + " ")) << option;
}

TEST(Docs, ExampleOfAComparisonParses) {
  const auto shown =
      matches(text_of("docs/configuration.md"), "\n```toml\n([^`]*\\[\\[run\\]\\][^`]*)```\n");
  ASSERT_EQ(shown.size(), 1u);
  const fs::path file = fs::path(testing::TempDir()) / "docs_comparison.toml";
  std::ofstream(file) << shown[0];
  const RunSet run_set = read_run_set({&file, 1}, {});
  fs::remove(file);
  ASSERT_EQ(run_set.runs.size(), 3u);
  EXPECT_EQ(run_set.runs[1].config.get<std::string>("codec.kind"), "qsgd");
  EXPECT_EQ(run_set.runs[1].config.get<int>("codec.bits"), 4);
  EXPECT_FALSE(run_set.runs[2].config.has("algorithm.alpha"));
  EXPECT_EQ(run_set.runs[2].folder, "choco-sgd-8-bits");
}

// Evaluates the last column of the table in docs/tuning.md: the unit of a range.
double unit_in_words(const std::string& words, const std::map<std::string, double>& p,
                     double lambda_max) {
  if (words == "1") return 1;
  if (words == "theta") return p.at("theta");
  if (words == "sqrt(gamma / eta)") return std::sqrt(p.at("gamma") / p.at("eta"));
  if (words == "sqrt(alpha / eta)") return std::sqrt(p.at("alpha") / p.at("eta"));
  if (words == "1 / rho") return 1 / p.at("rho");
  if (words == "1 / lambda_max(L)") return 1 / lambda_max;
  const auto inverse = matches(words, "^1 / \\(([a-z]+) lambda_max\\(L\\)\\)$");
  if (inverse.size() == 1) return 1 / (p.at(inverse[0]) * lambda_max);
  ADD_FAILURE() << "no such unit: " << words << "; a new one is a line of this function";
  return NAN;
}

TEST(Docs, TuningHasEveryRangeWithItsUnit) {
  const std::string page = text_of("docs/tuning.md");
  std::size_t rows = 0;
  for (const AlgorithmInfo& a : algorithm_table()) {
    std::map<std::string, double> before;
    for (const ParameterInfo& p : a.parameters) {
      EXPECT_TRUE(!p.required || p.search_high > 0)
          << a.name << "." << p.name << " is required and has no `search`: tune cannot look for it";
      const double unit = p.unit(before, 4);
      before[std::string(p.name)] = 0.3 + 0.1 * static_cast<double>(before.size());
      if (!(p.search_high > 0)) continue;
      const std::string row =
          fmt::format("\n| `{}` | `{}` | {} to {} | ", a.name, p.name, p.search_low, p.search_high);
      const std::size_t at = page.find(row);
      if (at == std::string::npos) {
        ADD_FAILURE() << "missing:" << row;
        continue;
      }
      const std::size_t end = page.find(" |\n", at + row.size());
      const std::string words = page.substr(at + row.size(), end - at - row.size());
      EXPECT_DOUBLE_EQ(unit_in_words(words, before, 4), unit) << a.name << "." << p.name;
      ++rows;
    }
  }
  EXPECT_EQ(matches(page, "\n(\\| `[a-z_]+` \\| `[a-z_0-9]+` \\|)").size(), rows);
}

// The path of every key; a list counts by its first entry: "/runs/0/style/color".
std::set<std::string> key_paths(const json& tree, const std::string& prefix = "") {
  std::set<std::string> all;
  if (tree.is_object())
    for (const auto& [key, value] : tree.items()) {
      all.insert(prefix + "/" + key);
      all.merge(key_paths(value, prefix + "/" + key));
    }
  if (tree.is_array() && !tree.empty()) all.merge(key_paths(tree[0], prefix + "/0"));
  return all;
}

TEST(Docs, ReportShowsTheKeysOfTheWrittenJson) {
  const auto shown = matches(text_of("docs/report.md"), "\n```json\n([^`]*)```\n");
  ASSERT_EQ(shown.size(), 1u);
  Series run;
  run.label = "one";
  run.group = "both";
  run.swept = {{"codec.bits", 8}};
  run.columns.assign(column_names().size(), Series::Column{0.0, 1.0});
  run.summary = {
      {"config", {{"name", "one"}}},
      {"last",
       {{"iteration", 1},
        {"agents", {{{"loss", 1}, {"grad_norm2", 1}, {"distance2", 1}, {"accuracy", 1}}}}}},
      {"ledger", {{"agents", {{{"payload_bytes", 8}}}}}}};
  ReportOptions options;
  options.targets = {{"loss_max", 2.0}};
  options.sweep = {"codec.bits"};
  Series other = run;
  other.label = "other";
  const json written = report_json(std::vector<Series>{run, other}, options);
  EXPECT_EQ(key_paths(json::parse(shown[0])), key_paths(written));
}

TEST(Docs, ExtendingNamesTheTablesAndTheirFiles) {
  const std::string page = text_of("docs/extending.md");
  const std::regex line("\\| `([A-Za-z_.]+)` in `(ticopd/[a-z_/.]+)`");
  int found = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), line), end; it != end; ++it, ++found)
    EXPECT_TRUE(has(text_of((*it)[2].str()), (*it)[1].str())) << (*it)[0];
  EXPECT_EQ(found, 10);
}

TEST(Docs, ContentsNamesAndCountsAllAlgorithmsAndCodecs) {
  const std::string page = text_of("docs/contents.md");
  for (const AlgorithmInfo& a : algorithm_table())
    EXPECT_TRUE(has(page, "`" + std::string(a.name) + "`")) << a.name;
  for (const CodecInfo& c : codec_table())
    EXPECT_TRUE(has(page, "`" + std::string(c.name) + "`")) << c.name;
  for (const auto& [count, noun] :
       {std::pair{algorithm_table().size(), "algorithms"},
        std::pair{codec_table().size(), "codecs"}, std::pair{graph_table().size(), "graphs"},
        std::pair{objective_table().size(), "objectives"}})
    EXPECT_TRUE(has(page, fmt::format("- **{} {}**", count, noun))) << count << " " << noun;
}

TEST(Docs, AlgorithmsPageHasARowPerAlgorithm) {
  const std::string page = text_of("docs/algorithms.md");
  for (const AlgorithmInfo& a : algorithm_table())
    EXPECT_TRUE(has(page, fmt::format("\n| `{}` |", a.name))) << a.name;
}

TEST(Docs, ConfigurationHasEveryWordOfTheTables) {
  const std::string page = text_of("docs/configuration.md");
  const auto expect = [&](const std::string& key, std::string_view word) {
    const std::size_t at = page.find("\n| `" + key + "` |");
    ASSERT_NE(at, std::string::npos) << key;
    const std::string row = page.substr(at, page.find('\n', at + 1) - at);
    EXPECT_TRUE(has(row, fmt::format("`{}`", word))) << key << " has no " << word << ": " << row;
  };
  for (const CodecInfo& c : codec_table()) expect("codec.kind", c.name);
  for (const GraphInfo& g : graph_table()) expect("graph.kind", g.name);
  for (const ObjectiveInfo& o : objective_table()) expect("problem.objective", o.name);
}

TEST(Docs, ArchitectureGivesEveryFolderItsFloor) {
  const std::string page = text_of("docs/architecture.md");
  int folders = 0;
  for (const auto& entry : fs::directory_iterator(root / "ticopd")) {
    if (!entry.is_directory()) continue;
    EXPECT_TRUE(has(page, "| `" + entry.path().filename().string() + "/` |")) << entry.path();
    ++folders;
  }
  EXPECT_GT(folders, 10);
}

TEST(Docs, ChangelogAndCitationKnowTheVersion) {
  EXPECT_TRUE(has(text_of("CHANGELOG.md"), "## [" + std::string(version) + "]"));
  EXPECT_TRUE(has(text_of("CITATION.cff"), "\nversion: " + std::string(version) + "\n"));
}

TEST(Docs, RelativeLinksPointToFiles) {
  std::vector<fs::path> pages;
  for (const fs::path& folder : {root, root / "docs"})
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
  ASSERT_GT(pages.size(), 6u);
  int links = 0;
  for (const fs::path& page : pages)
    for (const std::string& link : matches(text_of(page), "\\]\\(([^)#: ]+)[)#]")) {
      EXPECT_TRUE(fs::exists(page.parent_path() / link)) << page << ": " << link;
      ++links;
    }
  EXPECT_GT(links, 10);
}

}  // namespace
}  // namespace ticopd
