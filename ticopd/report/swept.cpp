#include "ticopd/report/swept.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace ticopd {
namespace {

using nlohmann::json;

// The number that a panel shows of a run. A target that is not reached counts as infinitely far: it
// must not make the median of a group better.
std::optional<double> number_of(const Series& run, const FigurePanel& panel) {
  if (panel.kind == FigurePanel::Kind::end) return run.column(panel.metric).back();
  if (!run.has(panel.metric)) return std::nullopt;
  const auto when = reached(run, {panel.metric, panel.value});
  return when ? when->megabits : std::numeric_limits<double>::infinity();
}

std::optional<Spread> spread_in(std::span<const Series> runs, const Group& group,
                                const FigurePanel& panel, Band band) {
  std::vector<double> values;
  for (const std::size_t r : group.counted)
    if (const auto v = number_of(runs[r], panel)) values.push_back(*v);
  if (values.size() != group.counted.size()) return std::nullopt;
  const std::optional<Spread> spread = spread_of(values, band);
  return spread && std::isfinite(spread->mid) ? spread : std::nullopt;
}

// The groups of one line differ in the key alone.
std::string line_of(const Group& group, const std::string& key) {
  json others = group.swept;
  others.erase(key);
  // The label ends with the swept values, by which the groups of one entry differ.
  std::size_t end = group.label.size();
  for (const auto& [name, value] : group.swept.items())
    end = std::min(end, group.label.rfind(", " + name + " = "));
  return group.label.substr(0, end) + others.dump();
}

}  // namespace

SweptPanel swept_panel(std::span<const Series> runs, std::span<const Group> groups,
                       const FigurePanel& panel, Band band) {
  SweptPanel all;
  std::vector<json> values;
  for (const Group& group : groups)
    if (group.swept.contains(panel.x) &&
        std::ranges::find(values, group.swept[panel.x]) == values.end())
      values.push_back(group.swept[panel.x]);
  const bool numbers = std::ranges::all_of(values, [](const json& v) { return v.is_number(); });
  if (!numbers)
    for (const json& v : values)
      all.words.push_back(v.is_string() ? v.get<std::string>() : v.dump());
  std::map<std::string, std::size_t> places;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!groups[g].swept.contains(panel.x)) continue;
    const auto y = spread_in(runs, groups[g], panel, band);
    if (!y) continue;
    const json& value = groups[g].swept[panel.x];
    const auto place = std::ranges::find(values, value) - values.begin();
    const auto [at, is_new] = places.emplace(line_of(groups[g], panel.x), all.lines.size());
    if (is_new) all.lines.emplace_back();
    all.lines[at->second].push_back(
        {g, numbers ? value.get<double>() : static_cast<double>(place), *y});
  }
  for (std::vector<SweptPanel::Point>& line : all.lines)
    std::ranges::sort(line, {}, &SweptPanel::Point::x);
  return all;
}

}  // namespace ticopd
