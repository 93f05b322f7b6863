#include "ticopd/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/report/axis.hpp"
#include "ticopd/report/curve.hpp"
#include "ticopd/report/figure_key.hpp"
#include "ticopd/report/figure_layout.hpp"
#include "ticopd/report/figure_notes.hpp"
#include "ticopd/report/figure_panels.hpp"
#include "ticopd/report/gnuplot.hpp"
#include "ticopd/report/groups.hpp"
#include "ticopd/report/key_parts.hpp"
#include "ticopd/report/pen.hpp"
#include "ticopd/report/swept_drawing.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

// The rows that get a marker. Markers are spaced evenly along the axis, and each run has its own
// positions, so that coinciding curves can still be told apart.
std::vector<std::size_t> marked_rows(const Curve& curve, const Axis& x, std::size_t number,
                                     std::size_t curves) {
  constexpr int wanted = 6;
  const Series::Column& rounds = curve.at("iteration");
  std::vector<std::size_t> rows;
  for (int m = 0; m < wanted; ++m) {
    const double share =
        (m + (static_cast<double>(number) + 0.5) / static_cast<double>(curves)) / wanted;
    const double at =
        x.log ? x.low * std::pow(x.high / x.low, share) : x.low + share * (x.high - x.low);
    const auto found =
        std::ranges::find_if(rounds, [&](const std::optional<double>& v) { return *v >= at; });
    if (found == rounds.end()) break;
    const auto row = static_cast<std::size_t>(found - rounds.begin());
    if (rows.empty() || rows.back() != row) rows.push_back(row);
  }
  // A run that ends before its first position still gets one marker.
  if (rows.empty()) rows.push_back(curve.rows() - 1);
  return rows;
}

// The place of `word` in `seen`; a new word is appended.
void add(std::vector<std::string>& seen, const std::string& word) {
  if (std::ranges::find(seen, word) == seen.end()) seen.push_back(word);
}

std::size_t place(const std::vector<std::string>& words, const std::string& word) {
  return static_cast<std::size_t>(std::ranges::find(words, word) - words.begin());
}

// Writes gnuplot's commands and numbers.
class Figure {
 public:
  Figure(std::span<const Series> runs, const FigureOptions& options, const ReportOptions& report)
      : options_(options),
        groups_(groups_of(runs, report.band)),
        notes_(notes_of(runs, groups_, report.band, options)),
        curves_(curves_of(runs, groups_)) {
    for (Curve& curve : curves_)
      if (const auto at = options_.colours.find(curve.label); at != options_.colours.end())
        curve.color = at->second;
    const ChosenPanels chosen = choose_panels(runs, groups_, curves_, options, report);
    panels_ = chosen.panels;
    for (const FigurePanel& panel : panels_)
      swept_.push_back(panel.kind == FigurePanel::Kind::curves
                           ? SweptPanel()
                           : swept_panel(runs, groups_, panel, report.band));
    std::vector<std::string> names, labels, titles;
    for (const Curve& curve : curves_) names.push_back(curve.name);
    for (const Curve& curve : curves_) labels.push_back(plain(curve.label));
    for (const FigurePanel& panel : panels_) titles.push_back(title_of(panel));
    parts_ = key_parts(curves_, options_);
    layout_ = lay_out(options_, names, labels, titles, chosen.usual, parts_.names, notes_);
    for (const FigurePanel& panel : panels_)
      if (panel.kind == FigurePanel::Kind::curves) {
        add(x_columns_, panel.x);
        add(metrics_, panel.metric);
      }
    if (panels_.empty()) x_columns_ = {"iteration", report.bits};
  }

  double height() const { return layout_.height; }

  std::string data() const {
    std::string text;
    const Axis x = x_axis(curves_, "iteration");
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      text += fmt::format("# {}\n$run{} << END\n", in_comment(curves_[c].label), c);
      for (std::size_t row = 0; row < curves_[c].rows(); ++row) text += data_row(c, row);
      text += fmt::format("END\n$marks{} << END\n", c);
      for (const std::size_t row : marked_rows(curves_[c], x, c, curves_.size()))
        text += data_row(c, row);
      text += "END\n";
    }
    for (std::size_t p = 0; p < panels_.size(); ++p)
      if (panels_[p].kind != FigurePanel::Kind::curves) text += swept_drawing(p).data(p);
    return text;
  }

  std::string script() const {
    const double s = options_.font_size / 8;
    std::string text = fmt::format(
        "set multiplot\n"
        "set border lw {:g} lc rgb '#404040'\n"
        "set tics scale {:g},{:g} font ',{:g}' nomirror\n"
        "set mxtics\nset mytics\n"
        "set grid xtics ytics lt 1 lc rgb '#DDDDDD' lw {:g}\n"
        "unset key\n",
        0.6 * options_.line_width, 0.5, 0.25, 7 * s, 0.5 * options_.line_width);
    for (std::size_t p = 0; p < panels_.size(); ++p) text += panel(p);
    if (layout_.key) {
      std::vector<Pen> pens = parts_.pens;
      if (!layout_.key_in_parts) {
        pens.clear();
        for (const Curve& curve : curves_) pens.push_back(pen_of(curve, options_));
      }
      text += layout_.key->commands(pens, layout_.key_x, layout_.key_y, options_.width, height(),
                                    notes_);
    }
    return text + "unset multiplot\n";
  }

 private:
  // A label is somebody's text: only what means nothing to gnuplot may stand outside quotes.
  static std::string in_comment(const std::string& label) {
    std::string text = plain(label);
    for (char& c : text)
      if (std::string_view("\\`@$#{}'\"").find(c) != std::string_view::npos) c = '?';
    return text;
  }

  // A value that cannot be drawn becomes NaN: gnuplot then breaks the line, it does not go to zero.
  std::string data_row(std::size_t c, std::size_t row) const {
    const Curve& curve = curves_[c];
    std::string text;
    const auto cell = [&](const Series::Column& column, bool log) {
      const auto& v = column[row];
      text += text.empty() ? "" : " ";
      text += drawable(v, log) ? fmt::format("{:.9g}", *v) : std::string("NaN");
    };
    for (const std::string& x : x_columns_) cell(curve.at(x), false);
    for (const std::string& m : metrics_) cell(curve.at(m), is_log(m, options_.axis(m)));
    if (curve.has_band())
      for (const std::string& m : metrics_) {
        // Below a logarithmic axis a band goes down to its edge.
        const std::optional<double>& low = curve.low_of(m)[row];
        const bool deep =
            is_log(m, options_.axis(m)) && low && *low <= 0 && drawable(curve.at(m)[row], true);
        if (deep)
          text += " 1e-300";
        else
          cell(curve.low_of(m), is_log(m, options_.axis(m)));
        cell(curve.high_of(m), is_log(m, options_.axis(m)));
      }
    return text + '\n';
  }

  SweptDrawing swept_drawing(std::size_t p) const {
    return {swept_[p], panels_[p], curves_, options_};
  }

  std::string frame(std::size_t p) const {
    const PanelPlace& at = layout_.panels[p];
    return fmt::format(
        "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
        "set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n",
        at.left / options_.width, (at.left + at.width) / options_.width, at.top / height(),
        (at.top - at.height) / height());
  }

  std::string titles(std::size_t p) const {
    const std::string& title = layout_.panels[p].title;
    const bool key = panels_[p].kind != FigurePanel::Kind::curves;  // text with _ in it
    return (title.empty() ? "unset title\n"
                          : fmt::format("set title {} offset 0,-0.6\n", gnuplot_text(title))) +
           fmt::format("set xlabel {} offset 0,0.7{}\n", gnuplot_text(x_title_of(panels_[p])),
                       key ? " noenhanced" : "");
  }

  std::string panel(std::size_t p) const {
    const FigurePanel& panel = panels_[p];
    const PanelPlace& at = layout_.panels[p];
    if (panel.kind != FigurePanel::Kind::curves)
      return frame(p) + swept_drawing(p).commands(p, at, titles(p));
    const AxisWish x_wish = options_.axis(panel.x), y_wish = options_.axis(panel.metric);
    const Axis x = x_axis(curves_, panel.x, x_wish);
    const Axis y = y_axis(curves_, panel.metric, panel.x, x, y_wish);
    std::string text = frame(p);
    text += axis_commands('x', widened(x, 0.02, x_wish), at.width / options_.font_size);
    text += axis_commands('y', widened(y, 0.04, y_wish), at.height / options_.font_size);
    text += titles(p);
    const std::size_t column = place(x_columns_, panel.x) + 1;
    const std::size_t value = x_columns_.size() + place(metrics_, panel.metric) + 1;
    text += "plot";  // the key is off, but an SVG shows the titles on hovering
    const std::size_t low =
        x_columns_.size() + metrics_.size() + 1 + 2 * place(metrics_, panel.metric);
    // A band would begin at the left edge with a value that a logarithmic axis does not have.
    const std::string on_x =
        x.log ? fmt::format("(${0} > 0 ? ${0} : NaN)", column) : fmt::format("{}", column);
    for (std::size_t c = 0; c < curves_.size(); ++c)  // bands first: no line is below one
      if (curves_[c].has_band())
        text += fmt::format(
            " $run{} using {}:{}:{} with filledcurves fc rgb '{}' fs transparent solid 0.18 "
            "noborder title '', \\\n ",
            c, on_x, low, low + 1, curves_[c].color);
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      const Pen drawn = pen_of(curves_[c], options_);
      const std::string name = gnuplot_text(shortened(curves_[c].name, 100));
      text += fmt::format("{} $run{} using {}:{} with lines {} title {}", c > 0 ? ", \\\n " : "", c,
                          column, value, drawn.line, name);
      // A legend of colours and dashes does not say what a marker means.
      if (!layout_.key_in_parts)
        text += fmt::format(", \\\n  $marks{} using {}:{} with points {} title {}", c, column,
                            value, drawn.marker, name);
    }
    return text + "\n";
  }

  const FigureOptions& options_;
  std::vector<Group> groups_;
  std::vector<std::string> notes_;
  std::vector<Curve> curves_;
  std::vector<FigurePanel> panels_;
  std::vector<SweptPanel> swept_;  // one for each panel; empty for those of curves
  KeyParts parts_;
  FigureLayout layout_;
  std::vector<std::string> x_columns_, metrics_;  // of the data
};

}  // namespace

void draw_figure(std::span<const Series> runs, const FigureOptions& options,
                 const ReportOptions& report, const std::filesystem::path& stem) {
  const Figure figure(runs, options, report);
  const Drawing drawing{.body = figure.script(),
                        .data = figure.data(),
                        .width = options.width,
                        .height = figure.height(),
                        .font = options.font,
                        .font_size = options.font_size,
                        .formats = options.formats,
                        .keep_script = true};
  Gnuplot::draw(drawing, stem, report.stop);
}

}  // namespace ticopd
