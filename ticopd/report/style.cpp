#include "ticopd/report/style.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

// The index of `word` in `seen`; a new word is appended.
int place(std::vector<std::string>& seen, const std::string& word) {
  const auto found = std::ranges::find(seen, word);
  const auto at = found - seen.begin();
  if (found == seen.end()) seen.push_back(word);
  return static_cast<int>(at);
}

}  // namespace

std::vector<Style> styles(std::span<const Series> runs) {
  std::vector<std::string> algorithms, codecs;
  std::vector<Style> all;
  for (const Series& run : runs)
    all.push_back({place(algorithms, run.algorithm()), place(codecs, run.codec()),
                   static_cast<int>(all.size())});
  return all;
}

std::string color_of(const Style& style) {
  return std::string(colors[static_cast<std::size_t>(style.color) % colors.size()]);
}

std::string legend(const Series& run) {
  const std::string label = plain(run.label);
  const std::optional<double> rate = run.rate();
  return rate ? fmt::format("{} ({:.3g} bit)", label, *rate) : label;
}

}  // namespace ticopd
