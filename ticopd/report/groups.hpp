#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/report/series.hpp"

namespace ticopd {

// What a group shows of the values of its runs: median, smallest and largest; or mean, and mean
// minus and plus the sample standard deviation.
enum class Band { range, deviation };
std::string_view name_of(Band band);  // as [report] band says it

// Middle and ends of the values of a group's runs.
struct Spread {
  double mid = 0, low = 0, high = 0;
};
// Empty without values. A NaN among them makes all three NaN; one value is middle and both ends.
std::optional<Spread> spread_of(std::vector<double> values, Band band);

// Runs that differ in their seed alone.
struct Group {
  using Column = std::vector<std::optional<Spread>>;

  std::string label;
  nlohmann::json swept = nlohmann::json::object();
  std::vector<std::size_t> runs;  // their numbers in the list that the groups were made of
  // Those of them that count: the finished ones, or all if none has finished.
  std::vector<std::size_t> counted;
  // The rounds that all counted runs logged, and their values there: a column for each of
  // column_names(), empty where one of the runs has no value.
  std::vector<std::uint32_t> rounds;
  std::vector<Column> columns;

  const Column& column(std::string_view name) const;  // ConfigError for an unknown name
};

// In the order of their first runs.
std::vector<Group> groups_of(std::span<const Series> runs, Band band);

// True if seeds or a sweep made these runs, so that there is something to group: some group has
// two runs, or some run a swept key.
bool has_groups(std::span<const Series> runs);

}  // namespace ticopd
