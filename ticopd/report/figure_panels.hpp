#pragma once

#include <span>
#include <string>
#include <vector>

#include "ticopd/report/curve.hpp"
#include "ticopd/report/figure_options.hpp"

namespace ticopd {

// Which panels a figure has. Those without a value to draw are left out.
struct ChosenPanels {
  std::vector<FigurePanel> panels;
  std::size_t usual = 0;  // metrics of the usual panels, which come first; 0: others were asked for
};
// ConfigError if none of the panels that were asked for has a value.
ChosenPanels choose_panels(std::span<const Series> runs, std::span<const Group> groups,
                           std::span<const Curve> curves, const FigureOptions& options,
                           const ReportOptions& report);

std::string title_of(const FigurePanel& panel);
std::string x_title_of(const FigurePanel& panel);

}  // namespace ticopd
