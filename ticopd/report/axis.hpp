#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ticopd/report/series.hpp"

namespace ticopd {

// A stretch of an axis, and whether it is divided by powers.
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

// A finite number, and above zero where its logarithm is drawn.
bool drawable(const std::optional<double>& v, bool log);

// From the first round on where it is logarithmic, because a logarithm has no zero.
Axis x_axis(std::span<const Series> runs, std::string_view column);

// Runs that blew up leave through the top edge: they would press all others flat.
Axis y_axis(std::span<const Series> runs, std::string_view metric);

// A little room before the first and behind the last value.
Axis widened(Axis axis, double share);

// gnuplot's range, scale and tics for the axis `name`, x or y.
std::string axis_commands(char name, const Axis& axis);

}  // namespace ticopd
