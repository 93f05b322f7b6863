#include "ticopd/report/curve.hpp"

#include <algorithm>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

std::size_t place_of(std::string_view column) {
  const std::vector<std::string_view> names = column_names();
  const auto at = std::ranges::find(names, column);
  if (at == names.end()) throw ConfigError(not_allowed("column", column, names));
  return static_cast<std::size_t>(at - names.begin());
}

Curve curve_of(const Group& group, std::span<const Series> runs, std::span<const Style> style) {
  std::vector<double> rates;
  for (const std::size_t r : group.counted)
    if (const auto rate = runs[r].rate()) rates.push_back(*rate);
  const std::optional<Spread> rate = spread_of(rates, Band::range);
  Curve curve{.name = legend(group.label, rate ? std::optional(rate->mid) : std::nullopt),
              .label = group.label,
              .style = style[group.runs.front()],
              .color = color_of(style[group.runs.front()])};
  for (const std::size_t r : group.counted) curve.blew_up = curve.blew_up || runs[r].blew_up();
  for (const Group::Column& column : group.columns) {
    curve.mid.emplace_back();
    for (const auto& spread : column)
      curve.mid.back().push_back(spread ? std::optional(spread->mid) : std::nullopt);
    if (group.counted.size() < 2) continue;
    curve.low.emplace_back();
    curve.high.emplace_back();
    for (const auto& spread : column) {
      curve.low.back().push_back(spread ? std::optional(spread->low) : std::nullopt);
      curve.high.back().push_back(spread ? std::optional(spread->high) : std::nullopt);
    }
  }
  return curve;
}

}  // namespace

const Series::Column& Curve::at(std::string_view column) const {
  return mid[place_of(column)];
}
const Series::Column& Curve::low_of(std::string_view column) const {
  return has_band() ? low[place_of(column)] : at(column);
}
const Series::Column& Curve::high_of(std::string_view column) const {
  return has_band() ? high[place_of(column)] : at(column);
}

std::vector<Curve> curves_of(std::span<const Series> runs, std::span<const Group> groups) {
  const std::vector<Style> style = styles(runs);
  std::vector<Curve> curves;
  if (has_groups(runs)) {
    for (const Group& group : groups) curves.push_back(curve_of(group, runs, style));
    return curves;
  }
  for (std::size_t r = 0; r < runs.size(); ++r)
    curves.push_back({legend(runs[r]),
                      runs[r].label,
                      style[r],
                      color_of(style[r]),
                      runs[r].blew_up(),
                      runs[r].columns,
                      {},
                      {}});
  return curves;
}

}  // namespace ticopd
