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
  // As many columns as fit in `width`, or `columns` of them, each as wide as its widest name. If
  // the key would have more lines than a reader follows, the labels take the place of the names,
  // and are shortened.
  FigureKey(std::span<const std::string> names, std::span<const std::string> labels, double width,
            double font_size, std::size_t columns = 0);

  double height() const;
  double width() const;
  std::size_t lines() const { return lines_; }

  // Draws the key over the whole page, with its lower left corner at (x, y), and
  // the note below it.
  std::string commands(std::span<const Pen> pens, double x, double y, double page_width,
                       double page_height, const std::string& note = "") const;
  double note_height() const;

 private:
  void lay_out(double width, std::size_t columns);

  double scale_;
  std::vector<std::string> names_;
  std::size_t lines_ = 1;
  std::vector<double> columns_;  // their widths
};

// Approximate width of a text in Helvetica: a capital is about twice as wide as an i or l.
double text_width(std::string_view text, double font_size);

}  // namespace ticopd
