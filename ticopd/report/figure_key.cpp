#include "ticopd/report/figure_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "ticopd/report/gnuplot.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

// At 8 pt.
constexpr double line_height = 0.118, sample_width = 0.42, between_columns = 0.2;
constexpr std::size_t most_lines = 20, longest = 100;

}  // namespace

double text_width(std::string_view text, double font_size) {
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
  return font_size / 72 * width;
}

FigureKey::FigureKey(std::span<const std::string> names, std::span<const std::string> labels,
                     double width, double font_size, std::size_t columns)
    : scale_(font_size / 8) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  FigureKey best = *this;
  constexpr std::size_t lengths[] = {longest, 80, 60, 48, 40, 34, 28, 24, 20, 17, 14};
  for (const std::size_t letters : lengths) {
    names_ = shortened_apart(letters == longest ? names : labels, letters);
    lay_out(width, columns);
    if (lines_ < fewest && this->width() <= width) {
      fewest = lines_;
      best = *this;
    }
    if (fewest <= most_lines) break;
  }
  if (fewest < std::numeric_limits<std::size_t>::max()) *this = best;
}

void FigureKey::lay_out(double width, std::size_t columns) {
  const std::size_t count = names_.size();
  const std::size_t least = columns > 0 ? (count + columns - 1) / columns : 1;
  for (lines_ = std::max<std::size_t>(least, 1);; ++lines_) {
    columns_.clear();
    for (std::size_t first = 0; first < count; first += lines_) {
      double widest = 0;
      for (std::size_t r = first; r < std::min(first + lines_, count); ++r)
        widest = std::max(widest, text_width(names_[r], 8 * scale_));
      columns_.push_back(sample_width * scale_ + widest + between_columns * scale_);
    }
    const double used = std::accumulate(columns_.begin(), columns_.end(), 0.0);
    if (used <= width || columns_.size() <= 1) break;
  }
}

double FigureKey::height() const {
  return line_height * scale_ * static_cast<double>(lines_);
}

double FigureKey::note_height() const {
  return 1.3 * line_height * scale_;
}

double FigureKey::width() const {
  return std::accumulate(columns_.begin(), columns_.end(), 0.0) - between_columns * scale_;
}

std::string FigureKey::commands(std::span<const Pen> pens, double x, double y, double page_width,
                                double page_height, const std::string& note) const {
  std::string text = "reset\n", plots;
  if (!note.empty())
    text += fmt::format("set label {} at first {:.4f},{:.4f} center font ',{:g}'\n",
                        gnuplot_text(note), page_width / 2, 0.5 * note_height(), 7 * scale_);
  for (std::size_t r = 0; r < names_.size(); ++r) {
    const std::size_t line = r % lines_;
    if (r > 0 && line == 0) x += columns_[r / lines_ - 1];
    const double at = y + line_height * scale_ * (static_cast<double>(lines_ - line) - 0.5);
    const double end = x + (sample_width - 0.06) * scale_;
    text += fmt::format(
        "$key{0} << END\n{1:.4f} {2:.4f}\n{3:.4f} {2:.4f}\nEND\n"
        "$sign{0} << END\n{4:.4f} {2:.4f}\nEND\n"
        "set label {5} at first {6:.4f},{2:.4f} left noenhanced\n",
        r, x, at, end, (x + end) / 2, gnuplot_text(names_[r]), x + sample_width * scale_);
    plots += fmt::format("{} $key{} with lines {} title {}, $sign{} with points {} title {}",
                         r > 0 ? ", \\\n" : "", r, pens[r].line, gnuplot_text(names_[r]), r,
                         pens[r].marker, gnuplot_text(names_[r]));
  }
  return text + fmt::format(
                    "unset border\nunset tics\nunset key\n"
                    "set lmargin at screen 0\nset rmargin at screen 1\n"
                    "set bmargin at screen 0\nset tmargin at screen 1\n"
                    "set xrange [0:{}]\nset yrange [0:{}]\nplot {}\n",
                    page_width, page_height, plots);
}

}  // namespace ticopd
