#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/report/groups.hpp"
#include "ticopd/report/series.hpp"
#include "ticopd/report/style.hpp"

namespace ticopd {

// One curve of the figure, in all panels: a run, or a group of runs with a band around its middle.
struct Curve {
  std::string name;   // in the legend
  std::string label;  // of the run or group
  Style style;
  std::string color;  // "#RRGGBB"
  bool blew_up = false;
  // One for each of column_names(), all of the same length. `low` and `high` are empty for a run.
  std::vector<Series::Column> mid = {}, low = {}, high = {};

  bool has_band() const { return !low.empty(); }
  std::size_t rows() const { return mid.front().size(); }
  const Series::Column& at(std::string_view column) const;  // the middle
  const Series::Column& low_of(std::string_view column) const;
  const Series::Column& high_of(std::string_view column) const;
};

// One for each group if there are groups, else one for each run.
std::vector<Curve> curves_of(std::span<const Series> runs, std::span<const Group> groups);

}  // namespace ticopd
