#pragma once

#include <string>

#include "ticopd/report/curve.hpp"
#include "ticopd/report/figure_options.hpp"

namespace ticopd {

// How gnuplot draws a curve and its markers: "lc rgb '#0072B2' lw 1.2 dt solid" and the like.
struct Pen {
  std::string line, marker;
};
Pen pen_of(const Curve& curve, const FigureOptions& options);

// A line without markers; a number beyond the last dash begins again.
std::string line_of(const std::string& color, int dash, const FigureOptions& options);
int dash_of(const Curve& curve);  // among those that a reader can tell apart

}  // namespace ticopd
