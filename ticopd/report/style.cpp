#include "ticopd/report/style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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
  std::vector<std::string> algorithms, codecs, groups;
  for (const Series& run : runs) place(codecs, run.codec());
  // With more codecs than dashes those of each algorithm are counted apart: its curves then differ.
  const bool few = codecs.size() <= dash_count;
  std::map<std::string, std::vector<std::string>> codecs_of;
  std::vector<Style> all, of_group;
  bool swept = false;
  for (const Series& run : runs) {
    const auto group = static_cast<std::size_t>(place(groups, run.group));
    if (group == of_group.size())
      of_group.push_back({place(algorithms, run.algorithm()),
                          place(few ? codecs : codecs_of[run.algorithm()], run.codec()),
                          static_cast<int>(group)});
    all.push_back(of_group[group]);
    swept = swept || !run.swept.empty();
  }
  if (swept && algorithms.size() == 1)
    for (Style& style : all) style.color = style.marker;
  return all;
}

std::string color_of(const Style& style) {
  return std::string(colors[static_cast<std::size_t>(style.color) % colors.size()]);
}

std::string legend(const Series& run) {
  return legend(run.label, run.rate());
}

std::string legend(const std::string& label, const std::optional<double>& rate) {
  return rate ? fmt::format("{} ({:.3g} bit)", plain(label), *rate) : plain(label);
}

}  // namespace ticopd
