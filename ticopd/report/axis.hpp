#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ticopd/report/curve.hpp"
#include "ticopd/report/figure_options.hpp"

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
Axis x_axis(std::span<const Curve> curves, std::string_view column, const AxisWish& wish = {});

// The range of what is drawn in a panel: the rows whose x is on the axis `x`. Runs that blew up
// leave through the top edge. If they set the range, all other curves would be flat.
Axis y_axis(std::span<const Curve> curves, std::string_view metric, std::string_view x_column,
            const Axis& x, const AxisWish& wish = {});

// True if the value is on the axis.
bool on_axis(const std::optional<double>& v, const Axis& axis);

// The range that a person gave in place of the found one.
Axis as_wished(Axis axis, const AxisWish& wish);

// The axis with a margin at both ends: `share` of its length. An end that a person gave stays.
Axis widened(Axis axis, double share, const AxisWish& wish = {});

// If the axis of a metric is logarithmic.
bool is_log(std::string_view metric, const AxisWish& wish);

// gnuplot's range, scale and tics for the axis `name`, x or y. `room`: the axis' length by the size
// of the letters, in inches per point; the labels of a short axis stand further apart.
std::string axis_commands(char name, const Axis& axis, double room = 1.38 / 8);

}  // namespace ticopd
