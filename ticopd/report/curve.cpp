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

std::vector<Curve> curves_of(std::span<const Series> runs) {
  const std::vector<Style> style = styles(runs);
  std::vector<Curve> curves;
  for (std::size_t r = 0; r < runs.size(); ++r)
    curves.push_back({legend(runs[r]), runs[r].label, style[r], color_of(style[r]),
                      runs[r].blew_up(), runs[r].columns, {}, {}});
  return curves;
}

}  // namespace ticopd
