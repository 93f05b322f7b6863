#include "ticopd/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/error.hpp"
#include "ticopd/report/axis.hpp"
#include "ticopd/report/curve.hpp"
#include "ticopd/report/figure_key.hpp"
#include "ticopd/report/figure_layout.hpp"
#include "ticopd/report/gnuplot.hpp"
#include "ticopd/report/text.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {
namespace {

// gnuplot point types that a reader can tell apart without colour, the most different ones first.
constexpr int shapes[] = {7, 4, 9, 12, 5, 6, 11, 2, 13, 8, 1, 10, 15, 3, 14};
constexpr const char* dashes[] = {"solid", "(7,3)", "(1.5,2.2)", "(8,2.5,1.5,2.5)", "(14,4)"};

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
  Figure(std::span<const Series> runs, const FigureOptions& options, std::string bits)
      : options_(options), bits_(std::move(bits)), curves_(curves_of(runs)) {
    for (Curve& curve : curves_)
      if (const auto at = options_.colours.find(curve.label); at != options_.colours.end())
        curve.color = at->second;
    choose_panels();
    std::vector<std::string> names, titles;
    for (const Curve& curve : curves_) names.push_back(curve.name);
    for (const FigurePanel& panel : panels_) titles.push_back(title_of(panel));
    layout_ = lay_out(options_, names, titles, usual_);
    for (const FigurePanel& panel : panels_) {
      add(x_columns_, panel.x);
      add(metrics_, panel.metric);
    }
    if (!options_.panels.empty() || options_.usual > 0) return;
    x_columns_ = {"iteration", bits_};
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
      std::vector<Pen> pens;
      for (const Curve& curve : curves_) pens.push_back(pen(curve));
      text += layout_.key->commands(pens, layout_.key_x, layout_.key_y, options_.width, height());
    }
    return text + "unset multiplot\n";
  }

 private:
  void choose_panels() {
    if (!options_.panels.empty()) {
      for (const FigurePanel& panel : options_.panels)
        if (has_values(panel)) panels_.push_back(panel);
      if (panels_.empty())
        throw ConfigError("figure.panels: no run has a value to draw in any of these panels");
      return;
    }
    std::vector<std::string> metrics;
    for (const MetricInfo& metric : metric_table())
      if (!metric.panel.empty() && has_values({FigurePanel::Kind::curves, metric.column, bits_}))
        metrics.push_back(metric.column);
    if (options_.usual > 0) {
      std::vector<std::string> first;
      for (const char* metric :
           {"loss_max", "loss_local", "accuracy_min", "grad_norm2_max", "consensus"})
        if (std::ranges::find(metrics, metric) != metrics.end()) first.emplace_back(metric);
      first.resize(std::min(first.size(), options_.usual));
      for (const std::string& metric : first)
        panels_.push_back({FigurePanel::Kind::curves, metric, bits_});
      return;
    }
    usual_ = metrics.size();
    for (const std::string& metric : metrics)
      for (const std::string& x : {std::string("iteration"), bits_})
        panels_.push_back({FigurePanel::Kind::curves, metric, x});
  }

  AxisWish wish(const std::string& column) const {
    const auto at = options_.axes.find(column);
    return at == options_.axes.end() ? AxisWish() : at->second;
  }

  bool has_values(const FigurePanel& panel) const {
    const Axis x = x_axis(curves_, panel.x, wish(panel.x));
    return !y_axis(curves_, panel.metric, panel.x, x, {wish(panel.metric).log, {}, {}}).empty();
  }

  static std::string title_of(const FigurePanel& panel) {
    const MetricInfo* metric = find_metric(panel.metric);
    return std::string(metric->panel.empty() ? metric->title : metric->panel);
  }

  std::string x_title(const FigurePanel& panel) const {
    if (panel.x == "iteration") return "iterations";
    if (panel.x == "bits_paper") return "bits per agent (paper's count)";
    if (panel.x == "bits_link") return "bits per agent (all links)";
    return panel.x == "bits_payload" ? "bits per agent" : std::string(metric_title(panel.x));
  }

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
    for (const std::string& m : metrics_) cell(curve.at(m), is_log(m, wish(m)));
    return text + '\n';
  }

  Pen pen(const Curve& curve) const {
    const char* dash = dashes[static_cast<std::size_t>(curve.style.dash) % std::size(dashes)];
    const double lw = options_.line_width, s = options_.font_size / 8;
    return {fmt::format("lc rgb '{}' lw {:g} dt {}", curve.color, 1.2 * lw, dash),
            fmt::format("lc rgb '{}' lw {:g} pt {} ps {:g}*mark", curve.color, 0.9 * lw,
                        shapes[static_cast<std::size_t>(curve.style.marker) % std::size(shapes)],
                        0.42 * s)};
  }

  std::string panel(std::size_t p) const {
    const FigurePanel& panel = panels_[p];
    const PanelPlace& at = layout_.panels[p];
    const AxisWish x_wish = wish(panel.x), y_wish = wish(panel.metric);
    const Axis x = x_axis(curves_, panel.x, x_wish);
    const Axis y = y_axis(curves_, panel.metric, panel.x, x, y_wish);
    std::string text = fmt::format(
        "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
        "set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n",
        at.left / options_.width, (at.left + at.width) / options_.width, at.top / height(),
        (at.top - at.height) / height());
    text += axis_commands('x', widened(x, 0.02, x_wish), at.width / options_.font_size);
    text += axis_commands('y', widened(y, 0.04, y_wish), at.height / options_.font_size);
    text += at.title.empty()
                ? "unset title\n"
                : fmt::format("set title {} offset 0,-0.6\n", gnuplot_text(at.title));
    text += fmt::format("set xlabel {} offset 0,0.7\n", gnuplot_text(x_title(panel)));
    const std::size_t column = place(x_columns_, panel.x) + 1;
    const std::size_t value = x_columns_.size() + place(metrics_, panel.metric) + 1;
    text += "plot";  // the key is off, but an SVG shows the titles on hovering
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      const Pen drawn = pen(curves_[c]);
      const std::string name = gnuplot_text(shortened(curves_[c].name, 100));
      text += fmt::format(
          "{} $run{} using {}:{} with lines {} title {}, \\\n"
          "  $marks{} using {}:{} with points {} title {}",
          c > 0 ? ", \\\n " : "", c, column, value, drawn.line, name, c, column, value,
          drawn.marker, name);
    }
    return text + "\n";
  }

  const FigureOptions& options_;
  std::string bits_;
  std::vector<Curve> curves_;
  std::vector<FigurePanel> panels_;
  std::size_t usual_ = 0;  // metrics of the usual two rows of panels; 0: another arrangement
  FigureLayout layout_;
  std::vector<std::string> x_columns_, metrics_;  // of the data
};

}  // namespace

void draw_figure(std::span<const Series> runs, const FigureOptions& options,
                 const std::string& bits, const std::filesystem::path& stem,
                 const std::atomic<bool>* stop) {
  const Figure figure(runs, options, bits);
  const Drawing drawing{.body = figure.script(),
                        .data = figure.data(),
                        .width = options.width,
                        .height = figure.height(),
                        .font = options.font,
                        .font_size = options.font_size,
                        .formats = options.formats,
                        .keep_script = true};
  Gnuplot::draw(drawing, stem, stop);
}

}  // namespace ticopd
