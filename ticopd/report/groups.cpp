#include "ticopd/report/groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double median_of_sorted(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[half];
  const double below = sorted[half - 1], above = sorted[half];
  return below == above ? below : below / 2 + above / 2;  // no overflow, and inf stays inf
}

Spread deviation(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / n;
  if (values.size() == 1) return {mean, mean, mean};
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double wide = std::sqrt(squares / (n - 1));
  return {mean, mean - wide, mean + wide};
}

// The rows of a run by round.
std::map<std::uint32_t, std::size_t> rows_by_round(const Series& run) {
  std::map<std::uint32_t, std::size_t> rows;
  const Series::Column& rounds = run.column("iteration");
  for (std::size_t r = 0; r < rounds.size(); ++r)
    rows[static_cast<std::uint32_t>(rounds[r].value_or(0))] = r;
  return rows;
}

void fill(Group& group, std::span<const Series> runs, Band band) {
  const auto count = [&](auto counts) {
    if (group.counted.empty())
      for (const std::size_t r : group.runs)
        if (counts(runs[r].status())) group.counted.push_back(r);
  };
  count([](const std::string& status) { return status == "finished"; });
  count([](const std::string& status) { return status != "diverged"; });
  count([](const std::string&) { return true; });
  std::vector<std::map<std::uint32_t, std::size_t>> rows;
  for (const std::size_t r : group.counted) rows.push_back(rows_by_round(runs[r]));
  for (const auto& [round, row] : rows.front()) {
    const auto has_it = [wanted = round](const auto& of_run) { return of_run.contains(wanted); };
    if (std::ranges::all_of(rows, has_it)) group.rounds.push_back(round);
  }
  group.columns.resize(column_names().size());
  std::vector<double> values;
  for (std::size_t c = 0; c < group.columns.size(); ++c)
    for (const std::uint32_t round : group.rounds) {
      values.clear();
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (const auto& v = runs[group.counted[i]].columns[c][rows[i].at(round)])
          values.push_back(*v);
      group.columns[c].push_back(values.size() == rows.size() ? spread_of(values, band)
                                                              : std::nullopt);
    }
}

}  // namespace

std::string_view name_of(Band band) {
  return band == Band::range ? "range" : "deviation";
}

std::optional<Spread> spread_of(std::vector<double> values, Band band) {
  if (values.empty()) return std::nullopt;
  if (std::ranges::any_of(values, [](double v) { return std::isnan(v); }))
    return Spread{nan, nan, nan};
  if (band == Band::deviation) return deviation(values);
  std::ranges::sort(values);
  return Spread{median_of_sorted(values), values.front(), values.back()};
}

const Group::Column& Group::column(std::string_view name) const {
  const auto names = column_names();
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) throw ConfigError(not_allowed("column", name, names));
  return columns[static_cast<std::size_t>(at - names.begin())];
}

std::vector<Group> groups_of(std::span<const Series> runs, Band band) {
  std::vector<Group> groups;
  std::map<std::string_view, std::size_t> place;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto [at, is_new] = place.emplace(runs[r].group, groups.size());
    if (is_new) {
      Group group;
      group.label = runs[r].group;
      group.swept = runs[r].swept;
      groups.push_back(std::move(group));
    }
    groups[at->second].runs.push_back(r);
  }
  for (Group& group : groups) fill(group, runs, band);
  return groups;
}

bool has_groups(std::span<const Series> runs) {
  std::set<std::string_view> seen;
  return std::ranges::any_of(runs, [&](const Series& run) {
    return !run.swept.empty() || !seen.insert(run.group).second;
  });
}

}  // namespace ticopd
