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

}  // namespace ticopd
