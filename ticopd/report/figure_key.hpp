#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/report/pen.hpp"

namespace ticopd {

// The legend of the figure, with a sample of each curve. gnuplot's own would make all columns as
// wide as the widest. Lengths are inches.
class FigureKey {
 public:
  static constexpr std::size_t readable = 20;  // lines that a reader follows

  // As many columns as fit in `width`, or `columns` of them, each as wide as its widest name. If
  // the key would have more than `wanted` lines, the labels take the place of the names, and are
  // shortened. If it still has more than `most`, the last line counts those that are left out.
  FigureKey(std::span<const std::string> names, std::span<const std::string> labels, double width,
            double font_size, std::size_t columns = 0, std::size_t wanted = readable,
            std::size_t most = 2 * readable);

  double height() const;
  double width() const;
  std::size_t lines() const { return lines_; }
  // Every name or label can be read to its end, in no more than the wanted lines.
  bool is_whole() const { return whole_; }
  // Lines that fit in a height.
  static std::size_t lines_in(double height, double font_size);

  // Draws the key over the whole page, with its lower left corner at (x, y), and
  // the notes below it.
  std::string commands(std::span<const Pen> pens, double x, double y, double page_width,
                       double page_height, std::span<const std::string> notes = {}) const;
  double note_height() const;

 private:
  void lay_out(double width, std::size_t columns);
  void cut(std::size_t most);

  double scale_;
  std::vector<std::string> names_;
  std::size_t lines_ = 1;
  std::size_t shown_ = 0;  // names with a sample; behind them may stand how many are left out
  bool whole_ = false;
  std::vector<double> columns_;  // their widths
};

// Approximate width of a text in Helvetica: a capital is about twice as wide as an i or l.
double text_width(std::string_view text, double font_size);

}  // namespace ticopd
