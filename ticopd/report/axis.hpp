#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ticopd/report/series.hpp"

namespace ticopd {

// The range of an axis, and whether it is logarithmic.
struct Axis {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool log = false;

  void hold(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return !(low <= high); }
};

// True for a finite number that is above zero if the axis is logarithmic.
bool drawable(const std::optional<double>& v, bool log);

// Logarithmic if the positive values span a decade or more; it then leaves out zero (round 0).
Axis x_axis(std::span<const Series> runs, std::string_view column);

// Runs that blew up leave through the top edge. If they set the range, all other curves would be
// flat.
Axis y_axis(std::span<const Series> runs, std::string_view metric);

// The axis with a margin at both ends: `share` of its length.
Axis widened(Axis axis, double share);

// gnuplot's range, scale and tics for the axis `name`, x or y.
std::string axis_commands(char name, const Axis& axis);

}  // namespace ticopd
