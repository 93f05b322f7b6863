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
constexpr std::size_t longest = 100, readable_letters = 28;

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
                     double width, double font_size, std::size_t columns, std::size_t wanted,
                     std::size_t most)
    : scale_(font_size / 8) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  FigureKey best = *this;
  constexpr std::size_t lengths[] = {longest, 80, 60, 48, 40, 34, 28, 24, 20, 17, 14};
  for (const std::size_t letters : lengths) {
    const std::span<const std::string> texts = letters == longest ? names : labels;
    names_ = shortened_apart(texts, letters);
    lay_out(width, columns);
    whole_ = lines_ <= wanted && std::ranges::equal(names_, texts);
    if (lines_ < fewest && this->width() <= width) {
      fewest = lines_;
      best = *this;
    }
    if (fewest <= wanted) break;
  }
  if (fewest < std::numeric_limits<std::size_t>::max()) *this = best;
  if (lines_ > most) {  // some must go: then the others shall be readable
    names_ = shortened_apart(labels, readable_letters);
    lay_out(width, columns);
  }
  shown_ = names_.size();
  if (lines_ > most) cut(most);
}

// Every column keeps its first lines, so that it stays as wide as it was.
void FigureKey::cut(std::size_t most) {
  std::vector<std::string> kept;
  const std::size_t room = std::max<std::size_t>(most, 1) * columns_.size();
  if (names_.size() <= room) return;
  kept.assign(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(room - 1));
  kept.push_back(fmt::format("and {} more", names_.size() - kept.size()));
  names_ = std::move(kept);
  shown_ = names_.size() - 1;
  lines_ = std::max<std::size_t>(most, 1);
}

std::size_t FigureKey::lines_in(double height, double font_size) {
  return static_cast<std::size_t>(std::max(1.0, height / (line_height * font_size / 8)));
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
                                double page_height, std::span<const std::string> notes) const {
  std::string text = "reset\n", plots;
  for (std::size_t n = 0; n < notes.size(); ++n)
    text += fmt::format("set label {} at first {:.4f},{:.4f} center noenhanced font ',{:g}'\n",
                        gnuplot_text(notes[n]), page_width / 2,
                        (static_cast<double>(notes.size() - n) - 0.5) * note_height(), 7 * scale_);
  for (std::size_t r = 0; r < names_.size(); ++r) {
    const std::size_t line = r % lines_;
    if (r > 0 && line == 0) x += columns_[r / lines_ - 1];
    const double at = y + line_height * scale_ * (static_cast<double>(lines_ - line) - 0.5);
    const double end = x + (sample_width - 0.06) * scale_;
    const std::string name = gnuplot_text(names_[r]);
    text += fmt::format("set label {} at first {:.4f},{:.4f} left noenhanced\n", name,
                        x + sample_width * scale_, at);
    if (r >= shown_) break;  // how many are left out: nothing to draw a sample of
    text += fmt::format(
        "$key{0} << END\n{1:.4f} {2:.4f}\n{3:.4f} {2:.4f}\nEND\n"
        "$sign{0} << END\n{4:.4f} {2:.4f}\nEND\n",
        r, x, at, end, (x + end) / 2);
    plots += fmt::format("{} $key{} with lines {} title {}", r > 0 ? ", \\\n" : "", r, pens[r].line,
                         name);
    if (!pens[r].marker.empty())
      plots += fmt::format(", $sign{} with points {} title {}", r, pens[r].marker, name);
  }
  return text + fmt::format(
                    "unset border\nunset tics\nunset key\n"
                    "set lmargin at screen 0\nset rmargin at screen 1\n"
                    "set bmargin at screen 0\nset tmargin at screen 1\n"
                    "set xrange [0:{}]\nset yrange [0:{}]\nplot {}\n",
                    page_width, page_height, plots);
}

}  // namespace ticopd
