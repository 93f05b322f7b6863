#include "ticopd/report/pen.hpp"

#include <fmt/format.h>

namespace ticopd {
namespace {

// gnuplot point types that a reader can tell apart without colour, the most different ones first.
constexpr int shapes[] = {7, 4, 9, 12, 5, 6, 11, 2, 13, 8, 1, 10, 15, 3, 14};
constexpr const char* dashes[dash_count] = {"solid", "(7,3)", "(1.5,2.2)", "(8,2.5,1.5,2.5)",
                                            "(14,4)"};

}  // namespace

std::string line_of(const std::string& color, int dash, const FigureOptions& options) {
  return fmt::format("lc rgb '{}' lw {:g} dt {}", color, 1.2 * options.line_width,
                     dashes[static_cast<std::size_t>(dash) % dash_count]);
}

int dash_of(const Curve& curve) {
  return curve.style.dash % static_cast<int>(dash_count);
}

Pen pen_of(const Curve& curve, const FigureOptions& options) {
  const double lw = options.line_width, s = options.font_size / 8;
  return {line_of(curve.color, curve.style.dash, options),
          fmt::format("lc rgb '{}' lw {:g} pt {} ps {:g}*mark", curve.color, 0.9 * lw,
                      shapes[static_cast<std::size_t>(curve.style.marker) % std::size(shapes)],
                      0.42 * s)};
}

}  // namespace ticopd
