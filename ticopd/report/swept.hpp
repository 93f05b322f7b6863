#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ticopd/report/figure_options.hpp"
#include "ticopd/report/groups.hpp"

namespace ticopd {

// A number of each group against a swept key: the metric at the end, or the megabits until a target.
struct SweptPanel {
  struct Point {
    std::size_t group = 0;  // its number
    double x = 0;
    Spread y;  // the ends may be infinite: a run did not reach the target
  };

  std::vector<std::vector<Point>> lines;  // one for each [[run]] entry; by ascending x
  // The values of the key where they are not numbers: x counts them. Else empty.
  std::vector<std::string> words;

  bool empty() const { return lines.empty(); }
};

// Groups without the key or without the number have no point.
SweptPanel swept_panel(std::span<const Series> runs, std::span<const Group> groups,
                       const FigurePanel& panel, Band band);

}  // namespace ticopd
