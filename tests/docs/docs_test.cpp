// The documentation says what the code does: programs, keys, defaults, columns, versions, links.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/machine.hpp"
#include "ticopd/experiment/metrics.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path root = TICOPD_SOURCE_DIR;

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

TEST(Docs, ReadmeShowsTheProgramThatIsTested) {
  const std::string program = text_of("tests/install/outside.cpp");
  EXPECT_TRUE(has(text_of("README.md"), "```cpp\n" + program + "```\n"));
}

TEST(Docs, ConfigurationHasEveryKeyWithItsDefault) {
  const std::string page = text_of("docs/configuration.md");
  const json tree = Config::parse("", ".").tree();
  const auto keys = matches(text_of("ticopd/experiment/config.cpp"), "\n +\\{\"([a-z0-9_.]+)\", ");
  ASSERT_GT(keys.size(), 40u);
  for (const std::string& key : keys) {
    std::string at = "/" + key;
    std::ranges::replace(at, '.', '/');
    const json::json_pointer pointer(at);
    const bool defaulted = key != "name" && tree.contains(pointer);
    const std::string cell = defaulted ? "| `" + tree[pointer].dump() + "` |" : "| |";
    EXPECT_TRUE(has(page, "\n| `" + key + "` " + cell)) << key << " " << cell;
  }
}

TEST(Docs, ConfigurationHasNoKeyThatDoesNotExist) {
  const std::string code = text_of("ticopd/experiment/config.cpp");
  const auto keys = matches(text_of("docs/configuration.md"), "\n\\| `([a-z]+\\.[a-z0-9_]+)` \\|");
  int found = 0;
  for (const std::string& key : keys) {
    if (key.ends_with(".csv") || key.ends_with(".json") || key.ends_with(".npy") ||
        key.ends_with(".safetensors"))
      continue;  // the files of a run folder
    EXPECT_TRUE(has(code, "{\"" + key + "\", ")) << key;
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
  std::istringstream header{std::string(metrics_header)};
  for (std::string column; std::getline(header, column, ',');)
    EXPECT_TRUE(has(page, "\n| `" + column + "` |")) << column;
}

TEST(Docs, ReadmeNamesEveryAlgorithm) {
  const std::string page = text_of("README.md");
  for (const AlgorithmInfo& a : algorithm_table())
    EXPECT_TRUE(has(page, "`" + std::string(a.name) + "`")) << a.name;
}

TEST(Docs, ChangelogAndCitationKnowTheVersion) {
  EXPECT_TRUE(has(text_of("CHANGELOG.md"), "## [" + std::string(version) + "]"));
  EXPECT_TRUE(has(text_of("CITATION.cff"), "\nversion: " + std::string(version) + "\n"));
}

TEST(Docs, RelativeLinksLeadToFiles) {
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
