#include "ticopd/report/swept_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/report/gnuplot.hpp"
#include "ticopd/report/pen.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {

std::string SweptDrawing::data(std::size_t p) const {
  std::string text;
  const double beyond = 1e3;  // an end of a bar that is not on the axis
  const Axis y = axis();
  for (std::size_t l = 0; l < swept.lines.size(); ++l) {
    text += fmt::format("$swept{}_{} << END\n", p, l);
    for (const SweptPanel::Point& point : swept.lines[l]) {
      const bool deep = y.log && point.y.low <= 0;
      text += fmt::format("{:.9g} {:.9g} {:.9g} {:.9g}\n", point.x, point.y.mid,
                          deep ? y.low / beyond : point.y.low,
                          std::isfinite(point.y.high) ? point.y.high : y.high * beyond);
    }
    text += "END\n";
  }
  return text;
}

AxisWish SweptDrawing::wish() const {
  if (panel.kind == FigurePanel::Kind::end) return options.axis(panel.metric);
  return {options.axis("bits_payload").log, {}, {}};  // a range is in bits, this axis in megabits
}

Axis SweptDrawing::axis() const {
  Axis axis;
  for (const std::vector<SweptPanel::Point>& line : swept.lines)
    for (const SweptPanel::Point& point : line)
      for (const double v : {point.y.mid, point.y.low, point.y.high})
        if (std::isfinite(v)) axis.hold(v);
  const AxisWish wished = wish();
  const bool bits = panel.kind == FigurePanel::Kind::bits_to;
  axis.log = bits ? wished.log.value_or(axis.low > 0 && axis.high >= 10 * axis.low)
                  : is_log(panel.metric, wished);
  if (axis.log && !(axis.low > 0)) {  // a bar of a deviation may end below zero
    axis.low = axis.high;
    for (const std::vector<SweptPanel::Point>& line : swept.lines)
      for (const SweptPanel::Point& point : line)
        if (drawable(point.y.mid, true)) axis.hold(point.y.mid);
    axis.log = axis.low > 0;
  }
  return as_wished(axis, wished);
}

std::string SweptDrawing::commands(std::size_t p, const PanelPlace& at,
                                   const std::string& titles) const {
  Axis x;
  std::vector<std::pair<double, std::string>> tics;
  for (const std::vector<SweptPanel::Point>& line : swept.lines)
    for (const SweptPanel::Point& point : line) {
      x.hold(point.x);
      const std::pair<double, std::string> tic{
          point.x, swept.words.empty() ? fmt::format("{:g}", point.x)
                                       : swept.words[static_cast<std::size_t>(point.x)]};
      if (std::ranges::find(tics, tic) == tics.end()) tics.push_back(tic);
    }
  x.log = swept.words.empty() && !x.empty() && x.low > 0 && x.high >= 8 * x.low;
  std::string text = axis_commands('x', widened(x, 0.08), at.width / options.font_size);
  constexpr std::size_t most_tics = 8;
  if (tics.size() <= most_tics || !swept.words.empty()) {
    std::string list;
    for (const auto& [value, word] : tics)
      list += fmt::format("{}{} {:g}", list.empty() ? "" : ", ", gnuplot_text(shortened(word, 12)),
                          value);
    text += fmt::format("set xtics ({}) noenhanced\n", list);
  }
  const AxisWish wished = wish();
  text += axis_commands('y', widened(axis(), 0.06, wished), at.height / options.font_size);
  text += titles + "set pointintervalbox 0\nplot";  // no halo: points of other lines are near
  std::string plots;
  for (std::size_t l = 0; l < swept.lines.size(); ++l) {
    const std::vector<SweptPanel::Point>& line = swept.lines[l];
    // Each point looks as its group does elsewhere. The line is grey if they differ in colour.
    const bool one = std::ranges::all_of(line, [&](const SweptPanel::Point& point) {
      return curves[point.group].color == curves[line.front().group].color;
    });
    plots += fmt::format("{} $swept{}_{} using 1:2 with lines lc rgb '{}' lw {:g} title ''",
                         plots.empty() ? "" : ", \\\n ", p, l,
                         one ? curves[line.front().group].color : "#808080", options.line_width);
    for (std::size_t i = 0; i < line.size(); ++i)
      plots += fmt::format(
          ", \\\n  $swept{}_{} every ::{}::{} using 1:2:3:4 with yerrorbars {} "
          "title {}",
          p, l, i, i, pen_of(curves[line[i].group], options).marker,
          gnuplot_text(shortened(curves[line[i].group].name, 100)));
  }
  return text + (plots.empty() ? " 2 title ''" : plots) + "\nset xtics enhanced\n";
}

}  // namespace ticopd
