#include "ticopd/report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ticopd/report/axis.hpp"
#include "ticopd/report/gnuplot.hpp"
#include "ticopd/report/style.hpp"
#include "ticopd/report/text.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {
namespace {

// All lengths are inches. The page has the text width of a two-column paper, with margins around
// the panels. Text is 8 pt.
constexpr double page_width = 7.16;
constexpr double panel_height = 1.38;
constexpr double left = 0.36, gap = 0.40, right = 0.06;
constexpr double above = 0.20, under = 0.36;
constexpr double line_height = 0.118;
constexpr double sample_width = 0.42;

// gnuplot point types that a reader can tell apart without colour, the most different ones first.
constexpr int shapes[] = {7, 4, 9, 12, 5, 6, 11, 2, 13, 8, 1, 10, 15, 3, 14};
constexpr const char* dashes[] = {"solid", "(7,3)", "(1.5,2.2)", "(8,2.5,1.5,2.5)", "(14,4)"};

// Approximate width of a text in 8 pt Helvetica: a capital is about twice as wide as an i or l.
double inches(std::string_view text) {
  constexpr double em = 8.0 / 72;
  double width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;  // inside a UTF-8 character
    const std::string_view letters(&c, 1);
    if (letters.find_first_of("ijltfrI .,:;()[]|!'-/") == 0)
      width += 0.31;
    else if (letters.find_first_of("mwMW@%") == 0 || (c >= 'A' && c <= 'Z'))
      width += 0.75;
    else
      width += 0.556;
  }
  return em * width;
}

// The rows that get a marker. Markers are spaced evenly along the axis, and each run has its own
// positions, so that coinciding curves can still be told apart.
std::vector<std::size_t> marked_rows(const Series& run, const Axis& x, std::size_t number,
                                     std::size_t runs) {
  constexpr int wanted = 6;
  const Series::Column& rounds = run.column("iteration");
  std::vector<std::size_t> rows;
  for (int m = 0; m < wanted; ++m) {
    const double share =
        (m + (static_cast<double>(number) + 0.5) / static_cast<double>(runs)) / wanted;
    const double at =
        x.log ? x.low * std::pow(x.high / x.low, share) : x.low + share * (x.high - x.low);
    const auto found =
        std::ranges::find_if(rounds, [&](const std::optional<double>& v) { return *v >= at; });
    if (found == rounds.end()) break;
    const auto row = static_cast<std::size_t>(found - rounds.begin());
    if (rows.empty() || rows.back() != row) rows.push_back(row);
  }
  // A run that ends before its first position still gets one marker.
  if (rows.empty()) rows.push_back(run.rows() - 1);
  return rows;
}

// Writes the gnuplot script of the figure: a row of panels against iterations, a row against bits,
// and the key below them.
class Figure {
 public:
  Figure(std::span<const Series> runs, std::string bits)
      : runs_(runs), bits_(std::move(bits)), styles_(styles(runs)) {
    for (const MetricInfo& metric : metric_table())
      if (!metric.panel.empty() && !y_axis(runs, metric.column).empty()) panels_.push_back(metric);
    for (const Series& run : runs_) names_.push_back(shortened(legend(run), 100));
    lay_out_key();
  }

  double height() const {
    return 2 * (panel_height + under) + above + line_height * static_cast<double>(key_lines_) +
           0.06;
  }

  std::string script() const {
    std::string text = data();
    text +=
        "set multiplot\n"
        "set border lw 0.6 lc rgb '#404040'\n"
        "set tics scale 0.5,0.25 font ',7' nomirror\n"
        "set mxtics\nset mytics\n"
        "set grid xtics ytics lt 1 lc rgb '#DDDDDD' lw 0.5\n"
        "unset key\n";
    for (std::size_t p = 0; p < panels_.size(); ++p)
      for (const bool against_bits : {false, true}) text += panel(p, against_bits);
    return text + key() + "unset multiplot\n";
  }

 private:
  std::string data() const {
    std::string text;
    const Axis x = x_axis(runs_, "iteration");
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      text += fmt::format("$run{} << END\n", r);
      for (std::size_t row = 0; row < runs_[r].rows(); ++row) text += data_row(r, row);
      text += fmt::format("END\n$marks{} << END\n", r);
      for (const std::size_t row : marked_rows(runs_[r], x, r, runs_.size()))
        text += data_row(r, row);
      text += "END\n";
    }
    return text;
  }

  // A value that cannot be drawn becomes NaN: gnuplot then breaks the line, it does not go to zero.
  std::string data_row(std::size_t r, std::size_t row) const {
    const auto cell = [&](std::string_view column, bool log) {
      const auto& v = runs_[r].column(column)[row];
      return drawable(v, log) ? fmt::format("{:.9g}", *v) : std::string("NaN");
    };
    std::string text = cell("iteration", false) + ' ' + cell(bits_, false);
    for (const MetricInfo& p : panels_) text += ' ' + cell(p.column, !higher_is_better(p.column));
    return text + '\n';
  }

  std::string line_style(std::size_t r) const {
    const Style& s = styles_[r];
    const char* dash = dashes[static_cast<std::size_t>(s.dash) % std::size(dashes)];
    return fmt::format("lc rgb '{}' lw 1.2 dt {}",
                       colors[static_cast<std::size_t>(s.color) % colors.size()], dash);
  }

  std::string marker_style(std::size_t r) const {
    const Style& s = styles_[r];
    return fmt::format("lc rgb '{}' lw 0.9 pt {} ps 0.42*mark",
                       colors[static_cast<std::size_t>(s.color) % colors.size()],
                       shapes[static_cast<std::size_t>(s.marker) % std::size(shapes)]);
  }

  std::string panel(std::size_t p, bool against_bits) const {
    const auto count = static_cast<double>(panels_.size());
    const double width = (page_width - left - right - gap * (count - 1)) / count;
    const double x0 = left + static_cast<double>(p) * (width + gap);
    const double top = height() - above - (against_bits ? panel_height + under : 0);
    const Axis x = widened(x_axis(runs_, against_bits ? bits_ : "iteration"), 0.02);
    const Axis y = widened(y_axis(runs_, panels_[p].column), 0.04);
    std::string text = fmt::format(
        "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
        "set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n",
        x0 / page_width, (x0 + width) / page_width, top / height(),
        (top - panel_height) / height());
    text += axis_commands('x', x) + axis_commands('y', y);
    text += against_bits
                ? "unset title\n"
                : fmt::format("set title {} offset 0,-0.6\n", gnuplot_text(panels_[p].panel));
    text += fmt::format("set xlabel {} offset 0,0.7\n", gnuplot_text(x_title(against_bits)));
    const int column = against_bits ? 2 : 1;
    const std::size_t value = p + 3;
    text += "plot";  // the key is off, but an SVG shows the titles on hovering
    for (std::size_t r = 0; r < runs_.size(); ++r)
      text += fmt::format(
          "{} $run{} using {}:{} with lines {} title {}, \\\n"
          "  $marks{} using {}:{} with points {} title {}",
          r > 0 ? ", \\\n " : "", r, column, value, line_style(r), gnuplot_text(names_[r]), r,
          column, value, marker_style(r), gnuplot_text(names_[r]));
    return text + "\n";
  }

  std::string x_title(bool against_bits) const {
    if (!against_bits) return "iterations";
    if (bits_ == "bits_paper") return "bits per agent (paper's count)";
    return bits_ == "bits_link" ? "bits per agent (all links)" : "bits per agent";
  }

  // Uses as many columns as fit on the page, each as wide as its widest name.
  void lay_out_key() {
    for (key_lines_ = 1;; ++key_lines_) {
      key_columns_.clear();
      double used = 0;
      for (std::size_t first = 0; first < names_.size(); first += key_lines_) {
        double widest = 0;
        for (std::size_t r = first; r < std::min(first + key_lines_, names_.size()); ++r)
          widest = std::max(widest, inches(names_[r]));
        key_columns_.push_back(sample_width + widest + 0.2);
        used += key_columns_.back();
      }
      if (used <= page_width || key_columns_.size() == 1) break;
    }
  }

  // Draws the key across the bottom. gnuplot's own key would make all columns as wide as the
  // widest.
  std::string key() const {
    const double used = std::accumulate(key_columns_.begin(), key_columns_.end(), 0.0);
    double x = std::max(0.05, (page_width - used + 0.2) / 2);
    std::string text = "reset\n", plots;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const std::size_t line = r % key_lines_;
      if (r > 0 && line == 0) x += key_columns_[r / key_lines_ - 1];
      const double y = line_height * (static_cast<double>(key_lines_ - line) - 0.5) + 0.03;
      const double end = x + sample_width - 0.06;
      text += fmt::format(
          "$key{0} << END\n{1:.4f} {2:.4f}\n{3:.4f} {2:.4f}\nEND\n"
          "$sign{0} << END\n{4:.4f} {2:.4f}\nEND\n"
          "set label {5} at first {6:.4f},{2:.4f} left noenhanced\n",
          r, x, y, end, (x + end) / 2, gnuplot_text(names_[r]), x + sample_width);
      plots += fmt::format("{} $key{} with lines {} title {}, $sign{} with points {} title {}",
                           r > 0 ? ", \\\n" : "", r, line_style(r), gnuplot_text(names_[r]), r,
                           marker_style(r), gnuplot_text(names_[r]));
    }
    return text + fmt::format(
                      "unset border\nunset tics\nunset key\n"
                      "set lmargin at screen 0\nset rmargin at screen 1\n"
                      "set bmargin at screen 0\nset tmargin at screen 1\n"
                      "set xrange [0:{}]\nset yrange [0:{}]\nplot {}\n",
                      page_width, height(), plots);
  }

  std::span<const Series> runs_;
  std::string bits_;
  std::vector<Style> styles_;
  std::vector<MetricInfo> panels_;
  std::vector<std::string> names_;
  std::size_t key_lines_ = 1;
  std::vector<double> key_columns_;  // widths in inches
};

}  // namespace

void draw_figure(std::span<const Series> runs, const std::string& bits,
                 const std::filesystem::path& stem, const std::atomic<bool>* stop) {
  const Figure figure(runs, bits);
  Gnuplot::draw(figure.script(), stem, page_width, figure.height(), stop);
}

}  // namespace ticopd
