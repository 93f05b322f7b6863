#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "ticopd/report/figure_options.hpp"
#include "ticopd/report/series.hpp"

namespace ticopd {

// Draws the figure: without further wishes loss, squared gradient norm, consensus error and worst
// test accuracy (left out if no run has one), each against iterations and against bits, as wide as
// the text of a two-column paper. Writes stem.svg and the other formats, and stem.gp with stem.dat,
// which draw them again. ConfigError if the height leaves no room for the panels.
// Groups have a line each, with a band around it; with a sweep there are two panels more.
void draw_figure(std::span<const Series> runs, const FigureOptions& options,
                 const ReportOptions& report, const std::filesystem::path& stem);

}  // namespace ticopd
