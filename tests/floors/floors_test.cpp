// Folders form floors, and an include points down, never up (docs/architecture.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "places.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
const fs::path root = places::tree();

// From the ground up. A folder may include itself, every floor below, and the folders to its left
// on its own floor.
const std::vector<std::vector<std::string>> floors{
    {"error", "bytes", "table", "option", "numeric", "system"},
    {"graph", "codecs", "data", "transport", "kernels"},
    {"objectives", "network"},
    {"algorithms"},
    {"cuda", "theory", "run"},
    {"experiment", "site", "sim", "report", "tune", "studies", "live", "plugin"},
    {"capi"},
};

// Inside ticopd/cuda the rule is stricter: folders on one floor do not know each other, so that
// neither gradient path leans on the other. "cuda" stands for the files directly in it.
const std::vector<std::vector<std::string>> cuda_floors{
    {"runtime", "hopper"},
    {"gradients"},
    {"codecs", "fused", "general"},
    {"cuda"},
};

struct Include {
  std::string from, to;  // paths below the root of the tree
};

std::vector<Include> includes_below(const fs::path& folder) {
  const std::regex line("^\\s*#\\s*include\\s*[<\"](ticopd/[^>\"]+)[>\"]");
  std::vector<Include> all;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string ending = entry.path().extension();
    if (ending != ".hpp" && ending != ".cpp" && ending != ".cu" && ending != ".cuh") continue;
    std::ifstream in(entry.path());
    std::smatch found;
    for (std::string text; std::getline(in, text);)
      if (text.find("include") != std::string::npos && std::regex_search(text, found, line))
        all.push_back({entry.path().lexically_relative(root).string(), found[1]});
  }
  return all;
}

// "ticopd/codecs/qsgd.hpp" is in codecs; "ticopd/error.hpp" counts as a folder "error".
std::string folder_of(const std::string& path) {
  const fs::path below = fs::path(path).lexically_relative("ticopd");
  return below.has_parent_path() ? below.begin()->string() : below.stem().string();
}

// "ticopd/cuda/fused/forward.cuh" is in fused; "ticopd/cuda/mirror.cu" is in cuda itself.
std::string cuda_folder_of(const std::string& path) {
  return fs::path(path).parent_path().filename();
}

enum class Neighbours { those_to_the_left, none };

bool may_include(const std::vector<std::vector<std::string>>& plan, const std::string& from,
                 const std::string& to, Neighbours neighbours = Neighbours::those_to_the_left) {
  if (from == to) return true;
  const auto place = [&](const std::string& folder) {
    for (std::size_t floor = 0; floor < plan.size(); ++floor) {
      const auto at = std::ranges::find(plan[floor], folder);
      if (at != plan[floor].end()) return std::pair(floor, at - plan[floor].begin());
    }
    ADD_FAILURE() << folder << "/ has no floor: give it one in tests/floors/floors_test.cpp";
    return std::pair(plan.size(), std::ptrdiff_t{0});
  };
  return neighbours == Neighbours::none ? place(to).first < place(from).first
                                        : place(to) < place(from);
}

TEST(Floors, IncludesPointDown) {
  const auto all = includes_below("ticopd");
  ASSERT_GT(all.size(), 500u);
  for (const auto& [from, to] : all) {
    if (from == "ticopd/ticopd.hpp") continue;  // the roof: it includes what users need
    EXPECT_NE(folder_of(to), "ticopd") << from << " includes the roof, " << to;
    EXPECT_TRUE(may_include(floors, folder_of(from), folder_of(to)))
        << from << " may not include " << to << ": an include points down (docs/architecture.md)";
  }
}

TEST(Floors, IncludesInsideCudaPointDown) {
  std::size_t inside = 0;
  for (const auto& [from, to] : includes_below("ticopd/cuda")) {
    if (!to.starts_with("ticopd/cuda/")) continue;
    ++inside;
    EXPECT_TRUE(
        may_include(cuda_floors, cuda_folder_of(from), cuda_folder_of(to), Neighbours::none))
        << from << " may not include " << to << ": an include points down (docs/architecture.md)";
  }
  EXPECT_GT(inside, 100u);
}

std::set<std::string> public_headers() {
  std::set<std::string> all;
  std::ifstream in(places::public_headers());
  for (std::string header; std::getline(in, header);) all.insert("ticopd/" + header);
  return all;
}

TEST(Floors, PublicHeadersIncludePublicHeadersOnly) {
  const auto installed = public_headers();
  ASSERT_GT(installed.size(), 50u);
  for (const std::string& header : installed) EXPECT_TRUE(fs::exists(root / header)) << header;
  for (const auto& [from, to] : includes_below("ticopd"))
    EXPECT_TRUE(!installed.contains(from) || installed.contains(to))
        << from << " is installed, " << to << " is not: cmake/TicopdPublicHeaders.cmake";
}

TEST(Floors, AppsIncludePublicHeadersOnly) {
  const auto installed = public_headers();
  for (const char* folder : {"apps", "examples"})
    for (const auto& [from, to] : includes_below(folder))
      EXPECT_TRUE(installed.contains(to))
          << from << " includes a private header, " << to << ": cmake/TicopdPublicHeaders.cmake";
}

TEST(Floors, EveryIncludedFileExists) {
  for (const char* folder : {"ticopd", "apps", "tests", "bench", "examples", "fuzz"})
    for (const auto& [from, to] : includes_below(folder))
      EXPECT_TRUE(fs::exists(root / to)) << from << " includes " << to;
}

// Tests the test: may_include must reject an include that points up.
TEST(Floors, AnUpwardIncludeIsFound) {
  EXPECT_FALSE(may_include(floors, "numeric", "network"));
  EXPECT_FALSE(may_include(floors, "experiment", "report"));
  EXPECT_TRUE(may_include(floors, "report", "experiment"));
  EXPECT_TRUE(may_include(floors, "kernels", "data"));
  EXPECT_FALSE(may_include(floors, "data", "kernels"));
  EXPECT_FALSE(may_include(cuda_floors, "general", "fused", Neighbours::none));
  EXPECT_FALSE(may_include(cuda_floors, "runtime", "codecs", Neighbours::none));
  EXPECT_TRUE(may_include(cuda_floors, "general", "hopper", Neighbours::none));
}

}  // namespace
}  // namespace ticopd
