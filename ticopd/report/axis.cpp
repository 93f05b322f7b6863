#include "ticopd/report/axis.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ticopd {
namespace {

// Tics for a short logarithmic axis: gnuplot labels only powers of ten, and such an axis may hold
// none.
std::string short_log_tics(char name, const Axis& axis) {
  std::string list;
  const double decades = std::log10(axis.high / axis.low);
  const auto with = [&](std::initializer_list<double> steps) {
    list.clear();
    int count = 0;
    for (int e = static_cast<int>(std::floor(std::log10(axis.low))); e <= std::log10(axis.high);
         ++e)
      for (const double step : steps)
        if (const double v = step * std::pow(10, e); v >= axis.low && v <= axis.high) {
          list += fmt::format("{}'{:.4g}' {:.4g}", count++ > 0 ? ", " : "", v, v);
        }
    return count;
  };
  if (with({1, 3}) < 3 && with({1, 2, 5}) < 3) with({1, 1.5, 2, 3, 4, 5, 7});
  if (decades < 0.3) return fmt::format("set format {0} '%.3g'\nset {0}tics autofreq\n", name);
  return fmt::format("set {}tics ({})\n", name, list);
}

}  // namespace

bool drawable(const std::optional<double>& v, bool log) {
  return v && std::isfinite(*v) && (!log || *v > 0);
}

Axis x_axis(std::span<const Series> runs, std::string_view name) {
  Axis axis;
  for (const Series& run : runs)
    for (const auto& v : run.column(name))
      if (drawable(v, true)) axis.hold(*v);
  axis.log = !axis.empty() && axis.high >= 10 * axis.low;
  if (!axis.log)
    for (const Series& run : runs)
      for (const auto& v : run.column(name))
        if (drawable(v, false)) axis.hold(*v);
  return axis;
}

Axis y_axis(std::span<const Series> runs, std::string_view metric) {
  const bool log = !higher_is_better(metric);
  // Runs that blew up set the range only if there are no others. Otherwise they raise the top of a
  // logarithmic axis by at most a factor of ten.
  Axis calm, wild;
  for (const Series& run : runs) {
    const bool wild_run = run.blew_up();
    for (const auto& v : run.column(metric))
      if (drawable(v, log)) (wild_run ? wild : calm).hold(*v);
  }
  Axis axis = calm.empty() ? wild : calm;
  axis.log = log;
  if (!calm.empty() && !wild.empty() && log)
    axis.hold(std::clamp(wild.high, calm.low, 10 * calm.high));
  // A value that is zero up to rounding would stretch the axis over hundreds of decades.
  if (log) axis.low = std::max(axis.low, 1e-14 * axis.high);
  return axis;
}

Axis widened(Axis axis, double share) {
  if (axis.empty()) return {0, 1, false};
  if (axis.log) {
    const double factor = std::max(std::pow(axis.high / axis.low, share), 1.02);
    axis.low /= factor;
    axis.high *= factor;
  } else {
    const double size = std::max(std::abs(axis.low), std::abs(axis.high));
    // If all values are nearly equal, widen the axis enough for gnuplot to tell its ends and labels
    // apart.
    const double more = axis.high - axis.low > 1e-4 * size ? share * (axis.high - axis.low)
                                                           : std::max(0.02 * size, 1e-9);
    axis.low -= more;
    axis.high += more;
  }
  return axis;
}

std::string axis_commands(char name, const Axis& axis) {
  std::string text = fmt::format("set {}range [{:.6e}:{:.6e}]\n", name, axis.low, axis.high);
  if (!axis.log && axis.high - axis.low > 0.5 && axis.high - axis.low < 1.5)
    return text + fmt::format("unset logscale {0}\nset format {0} '%g'\nset {0}tics 0.2\n", name);
  if (!axis.log)
    return text +
           fmt::format("unset logscale {0}\nset format {0} '%g'\nset {0}tics autofreq\n", name);
  text += fmt::format("set logscale {} 10\n", name);
  const double decades = std::log10(axis.high / axis.low);
  if (decades < 2.2) return text + short_log_tics(name, axis);
  const int every = static_cast<int>(std::ceil(decades / 6));
  // Give the first and last tic too: with the step alone gnuplot counts from the end of the axis,
  // which is no power of ten, and %T would round the labels.
  const int first = static_cast<int>(std::ceil(std::log10(axis.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
  return text + fmt::format("set format {0} '10^{{%T}}'\nset {0}tics 1e{1},1e{2},1e{3}\n", name,
                            first, every, last);
}

}  // namespace ticopd
