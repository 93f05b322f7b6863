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

// The next larger of 1, 2 and 5 times a power of ten.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double digit : {1.0, 2.0, 5.0})
    if (digit * power >= step) return digit * power;
  return 10 * power;
}

}  // namespace

bool drawable(const std::optional<double>& v, bool log) {
  return v && std::isfinite(*v) && (!log || *v > 0);
}

bool on_axis(const std::optional<double>& v, const Axis& axis) {
  return drawable(v, axis.log) && *v >= axis.low && *v <= axis.high;
}

Axis as_wished(Axis axis, const AxisWish& wish) {
  axis.low = wish.low.value_or(axis.low);
  axis.high = wish.high.value_or(axis.high);
  return axis;
}

Axis x_axis(std::span<const Curve> curves, std::string_view name, const AxisWish& wish) {
  const auto range = [&](bool log) {
    Axis axis;
    axis.log = log;
    for (const Curve& curve : curves)
      for (const auto& v : curve.at(name))
        if (drawable(v, log)) axis.hold(*v);
    return axis;
  };
  const Axis positive = as_wished(range(true), wish);
  if (wish.log.value_or(!positive.empty() && positive.low > 0 &&
                        positive.high >= 10 * positive.low))
    return positive;
  return as_wished(range(false), wish);
}

bool is_log(std::string_view metric, const AxisWish& wish) {
  return wish.log.value_or(!higher_is_better(metric) && wish.low.value_or(1) > 0);
}

Axis y_axis(std::span<const Curve> curves, std::string_view metric, std::string_view x_column,
            const Axis& x, const AxisWish& wish) {
  const bool log = is_log(metric, wish);
  // Runs that blew up set the range only if there are no others. Otherwise they raise the top of a
  // logarithmic axis by at most a factor of ten.
  Axis calm, wild;
  for (const Curve& curve : curves) {
    Axis& axis = curve.blew_up ? wild : calm;
    for (std::size_t row = 0; row < curve.rows(); ++row)
      if (on_axis(curve.at(x_column)[row], x))
        for (const Series::Column* ends :
             {&curve.at(metric), &curve.low_of(metric), &curve.high_of(metric)})
          if (drawable((*ends)[row], log)) axis.hold(*(*ends)[row]);
  }
  Axis axis = calm.empty() ? wild : calm;
  axis.log = log;
  if (!calm.empty() && !wild.empty() && log)
    axis.hold(std::clamp(wild.high, calm.low, 10 * calm.high));
  // A value that is zero up to rounding would stretch the axis over hundreds of decades.
  if (log) axis.low = std::max(axis.low, 1e-14 * axis.high);
  return as_wished(axis, wish);
}

Axis widened(Axis axis, double share, const AxisWish& wish) {
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
  return as_wished(axis, wish);
}

std::string axis_commands(char name, const Axis& axis, double room) {
  std::string text = fmt::format("set {}range [{:.6e}:{:.6e}]\n", name, axis.low, axis.high);
  constexpr double usual = 1.38 / 8;
  const double labels = std::clamp(std::round(6 * room / usual), 2.0, 6.0);  // with room between
  if (!axis.log && room < 0.9 * usual)
    return text + fmt::format("unset logscale {0}\nset format {0} '%g'\nset {0}tics {1:g}\n", name,
                              round_step((axis.high - axis.low) / labels));
  if (!axis.log && axis.high - axis.low > 0.5 && axis.high - axis.low < 1.5)
    return text + fmt::format("unset logscale {0}\nset format {0} '%g'\nset {0}tics 0.2\n", name);
  if (!axis.log)
    return text +
           fmt::format("unset logscale {0}\nset format {0} '%g'\nset {0}tics autofreq\n", name);
  text += fmt::format("set logscale {} 10\n", name);
  const double decades = std::log10(axis.high / axis.low);
  if (decades < 2.2) return text + short_log_tics(name, axis);
  // Give the first and last tic too: with the step alone gnuplot counts from the end of the axis,
  // which is no power of ten, and %T would round the labels.
  const int first = static_cast<int>(std::ceil(std::log10(axis.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
  int every = static_cast<int>(std::ceil(decades / labels));
  every = std::clamp(every, 1, std::max(1, last - first));  // two labels at least
  return text + fmt::format("set format {0} '10^{{%T}}'\nset {0}tics 1e{1},1e{2},1e{3}\n", name,
                            first, every, last);
}

}  // namespace ticopd
