#pragma once

#include <span>
#include <string>
#include <vector>

#include "ticopd/report/figure_options.hpp"
#include "ticopd/report/groups.hpp"

namespace ticopd {

// The lines below the legend: what bands and error bars are, and which runs diverged. Their curves
// soon leave the panels, and a run that diverged at once has none.
std::vector<std::string> notes_of(std::span<const Series> runs, std::span<const Group> groups,
                                  Band band, const FigureOptions& options);

// Letters of the notes, in points.
double note_font_size(const FigureOptions& options);

}  // namespace ticopd
