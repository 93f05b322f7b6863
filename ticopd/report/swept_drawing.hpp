#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ticopd/report/axis.hpp"
#include "ticopd/report/figure_layout.hpp"
#include "ticopd/report/swept.hpp"

namespace ticopd {

// Draws a panel against a swept key. Each point looks as its group does in the other panels.
struct SweptDrawing {
  const SweptPanel& swept;
  const FigurePanel& panel;
  std::span<const Curve> curves;  // one for each group
  const FigureOptions& options;

  // Blocks of x, middle, low and high for the panel number `p`, and the commands that plot them.
  std::string data(std::size_t p) const;
  std::string commands(std::size_t p, const PanelPlace& at, const std::string& titles) const;

 private:
  AxisWish wish() const;
  Axis axis() const;
};

}  // namespace ticopd
