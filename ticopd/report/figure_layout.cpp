#include "ticopd/report/figure_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ticopd/error.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

// Inches at 8 pt; all of them grow with the letters.
constexpr double panel_height = 1.38, least_height = 0.5, least_width = 1.05;
constexpr double left = 0.36, gap = 0.40, right = 0.06;
constexpr double above = 0.20, under = 0.36, margin = 0.03;

// A row of panels. Its panels have the width that `columns` of them would have.
struct Row {
  std::vector<std::size_t> panels;
  std::size_t columns = 1;
  bool titled = false;
};

// Panels `first` to `panels` - 1, at most `fit` in a row, in rows of nearly equal length.
void append_rows(std::vector<Row>& rows, std::size_t first, std::size_t panels, std::size_t fit) {
  if (first >= panels) return;
  const std::size_t count = (panels - first + fit - 1) / fit;
  const std::size_t columns = (panels - first + count - 1) / count;
  for (std::size_t p = first; p < panels; ++p) {
    if ((p - first) % columns == 0) rows.push_back({{}, columns});
    rows.back().panels.push_back(p);
  }
}

std::vector<Row> rows_of(std::size_t panels, std::size_t usual, std::size_t fit) {
  std::vector<Row> rows;
  if (panels == 0) return {{}, {}};  // no run has a value: the page stays, with the legend
  if (usual > 0 && usual <= fit) {   // a row against iterations, a row against bits
    rows.resize(2);
    for (std::size_t p = 0; p < 2 * usual; ++p) rows[p % 2].panels.push_back(p);
    for (Row& row : rows) row.columns = usual;
  } else if (usual > 0) {
    append_rows(rows, 0, 2 * usual, std::min<std::size_t>(fit, 2));
  }
  append_rows(rows, 2 * usual, panels, fit);
  return rows;
}

std::string title_in(const std::string& title, double width, double font_size) {
  std::string text = title;
  for (std::size_t letters = characters(title); letters > 4; --letters) {
    text = shortened(title, letters, letters);
    if (text_width(text, font_size) <= width) break;
  }
  return text;
}

// Titles stand over the rows in which a panel differs from the one above it.
void set_titles(std::vector<Row>& rows, std::span<const std::string> titles,
                const std::function<double(const Row&)>& room, double font_size,
                std::vector<PanelPlace>& places) {
  const Row* last = nullptr;
  for (Row& row : rows) {
    for (std::size_t i = 0; i < row.panels.size(); ++i) {
      const std::string& title = titles[row.panels[i]];
      const bool same = last != nullptr && last->columns == row.columns &&
                        i < last->panels.size() && titles[last->panels[i]] == title;
      if (same) continue;
      places[row.panels[i]].title = title_in(title, room(row), font_size);
      row.titled = true;
    }
    last = &row;
  }
}

// The legend. A slide keeps its height, and most of it is for panels.
void set_key(FigureLayout& layout, const FigureOptions& options, std::span<const std::string> names,
             std::span<const std::string> labels, std::span<const std::string> parts) {
  const bool below = options.legend == "below";
  std::size_t wanted = FigureKey::readable, most = 2 * wanted;
  if (options.height && !options.height_is_fixed)
    wanted = most = FigureKey::lines_in((below ? 0.35 : 0.9) * *options.height, options.font_size);
  const auto make = [&](std::span<const std::string> long_texts,
                        std::span<const std::string> texts) {
    layout.key.emplace(
        long_texts, texts, below ? options.width : 0.45 * options.width, options.font_size,
        below ? options.legend_columns : std::max<std::size_t>(options.legend_columns, 1), wanted,
        most);
  };
  make(names, labels);
  if (layout.key->is_whole() || parts.empty()) return;
  make(parts, parts);
  layout.key_in_parts = true;
}

}  // namespace

FigureLayout lay_out(const FigureOptions& options, std::span<const std::string> names,
                     std::span<const std::string> labels, std::span<const std::string> titles,
                     std::size_t usual, std::span<const std::string> parts,
                     std::span<const std::string> notes) {
  const double s = options.font_size / 8;
  FigureLayout layout;
  double page = options.width;  // what panels may use of it
  double below = 0;
  if (options.legend != "off") set_key(layout, options, names, labels, parts);
  if (options.legend == "below") below = layout.key->height();
  if (options.legend == "right") page -= layout.key->width() + 0.1 * s;
  const double note_height =
      layout.key ? static_cast<double>(notes.size()) * layout.key->note_height() : 0;
  below += note_height;
  const auto fit = static_cast<std::size_t>(
      std::max(1.0, std::floor((page - (left + right - gap) * s) / ((least_width + gap) * s))));
  std::vector<Row> rows = rows_of(titles.size(), usual, fit);
  const auto width = [&](const Row& row) {
    const auto columns = static_cast<double>(row.columns);
    return (page - (left + right + gap * (columns - 1)) * s) / columns;
  };
  layout.panels.resize(titles.size());
  set_titles(
      rows, titles, [&](const Row& row) { return width(row) + 0.8 * gap * s; }, options.font_size,
      layout.panels);

  const auto count = static_cast<double>(rows.size());
  const auto titled = static_cast<double>(std::ranges::count(rows, true, &Row::titled));
  const double text_height = (count * under + titled * above) * s + below + 2 * margin;
  double height = std::min(panel_height * s, std::max(width(rows.front()), 0.8 * s));
  if (options.height) height = (*options.height - text_height) / count;
  if (height < least_height * s && !options.height_is_fixed) height = least_height * s;
  if (height < least_height * s)
    throw ConfigError(fmt::format(
        "figure.height = {:.3g} in: too small for {} rows of panels and a legend of {} lines; "
        "give at least {:.2f} in, or legend = \"off\"",
        *options.height, rows.size(), layout.key ? layout.key->lines() : 0,
        text_height + count * least_height * s));
  layout.height = count * height + text_height;
  if (layout.key && options.legend == "right")
    layout.height = std::max(layout.height, layout.key->height() + below + 2 * margin);

  double top = layout.height;
  for (const Row& row : rows) {
    if (row.titled) top -= above * s;
    for (std::size_t i = 0; i < row.panels.size(); ++i) {
      PanelPlace& panel = layout.panels[row.panels[i]];
      panel.left = left * s + static_cast<double>(i) * (width(row) + gap * s);
      panel.top = top;
      panel.width = width(row);
      panel.height = height;
    }
    top -= height + under * s;
  }
  if (!layout.key) return layout;
  layout.key_y = margin + note_height;
  layout.key_x = std::max(0.05, (options.width - layout.key->width()) / 2);
  if (options.legend == "right") {
    layout.key_x = page + 0.05 * s;
    layout.key_y = std::max(layout.key_y, layout.height - above * s - layout.key->height());
  }
  return layout;
}

}  // namespace ticopd
