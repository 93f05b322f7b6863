#include "ticopd/report/figure_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/error.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

// Inches at 8 pt; all of them grow with the letters.
constexpr double panel_height = 1.38, least_height = 0.5, least_width = 1.05;
constexpr double left = 0.36, gap = 0.40, right = 0.06;
constexpr double above = 0.20, under = 0.36, margin = 0.03;

struct Grid {
  std::size_t columns = 1, rows = 1;
  bool by_column = false;  // panels come column by column
};

Grid grid_of(std::size_t panels, std::size_t usual, std::size_t fit) {
  if (panels == 0) return {1, 2};  // no run has a value: the page stays, with the legend
  if (usual > 0 && usual <= fit) return {usual, 2, true};
  if (usual > 0 && fit >= 2) return {2, usual};
  const std::size_t rows = (panels + fit - 1) / fit;
  return {(panels + rows - 1) / rows, rows};
}

std::string title_in(const std::string& title, double width, double font_size) {
  std::string text = title;
  for (std::size_t letters = characters(title); letters > 4; --letters) {
    text = shortened(title, letters, letters);
    if (text_width(text, font_size) <= width) break;
  }
  return text;
}

}  // namespace

FigureLayout lay_out(const FigureOptions& options, std::span<const std::string> names,
                     std::span<const std::string> titles, std::size_t usual) {
  const double s = options.font_size / 8;
  FigureLayout layout;
  double page = options.width;  // what panels may use of it
  double below = 0;
  if (options.legend == "below") {
    layout.key.emplace(names, page, options.font_size, options.legend_columns);
    below = layout.key->height();
  } else if (options.legend == "right") {
    layout.key.emplace(names, 0.45 * page, options.font_size,
                       std::max<std::size_t>(options.legend_columns, 1));
    page -= layout.key->width() + 0.1 * s;
  }
  const auto fit = static_cast<std::size_t>(
      std::max(1.0, std::floor((page - (left + right - gap) * s) / ((least_width + gap) * s))));
  const Grid grid = grid_of(titles.size(), usual, fit);
  const auto columns = static_cast<double>(grid.columns), rows = static_cast<double>(grid.rows);
  const double width = (page - (left + right + gap * (columns - 1)) * s) / columns;

  layout.panels.resize(titles.size());
  std::vector<bool> titled(grid.rows);
  const auto place_of = [&](std::size_t p) {
    return grid.by_column ? std::pair(p % grid.rows, p / grid.rows)
                          : std::pair(p / grid.columns, p % grid.columns);
  };
  std::vector<const std::string*> last(grid.columns, nullptr);
  std::vector<std::size_t> order(titles.size());
  for (std::size_t p = 0; p < order.size(); ++p) order[p] = p;
  std::ranges::sort(order, {}, place_of);
  for (const std::size_t p : order) {
    const auto [row, column] = place_of(p);
    if (last[column] == nullptr || *last[column] != titles[p]) {
      layout.panels[p].title = title_in(titles[p], width + 0.8 * gap * s, options.font_size);
      titled[row] = true;
    }
    last[column] = &titles[p];
  }

  const double text_height =
      rows * under * s + static_cast<double>(std::ranges::count(titled, true)) * above * s +
      below + 2 * margin;
  double height = std::min(panel_height * s, std::max(width, 0.8 * s));
  if (options.height) height = (*options.height - text_height) / rows;
  if (height < least_height * s)
    throw ConfigError(fmt::format(
        "figure.height = {:.3g} in: too small for {} panels below each other and a legend of {} "
        "lines; give at least {:.2f} in, or legend = \"off\"",
        *options.height, grid.rows, layout.key ? layout.key->lines() : 0,
        text_height + rows * least_height * s));
  layout.height = rows * height + text_height;
  if (layout.key && options.legend == "right")
    layout.height = std::max(layout.height, layout.key->height() + 2 * margin);

  double top = layout.height;
  std::vector<double> tops;
  for (std::size_t row = 0; row < grid.rows; ++row) {
    if (titled[row]) top -= above * s;
    tops.push_back(top);
    top -= height + under * s;
  }
  for (std::size_t p = 0; p < titles.size(); ++p) {
    const auto [row, column] = place_of(p);
    PanelPlace& panel = layout.panels[p];
    panel.left = left * s + static_cast<double>(column) * (width + gap * s);
    panel.top = tops[row];
    panel.width = width;
    panel.height = height;
  }
  if (layout.key && options.legend == "below") {
    layout.key_x = std::max(0.05, (options.width - layout.key->width()) / 2);
    layout.key_y = margin;
  } else if (layout.key) {
    layout.key_x = page + 0.05 * s;
    layout.key_y = layout.height - above * s - layout.key->height();
    layout.key_y = std::max(layout.key_y, margin);
  }
  return layout;
}

}  // namespace ticopd
