#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/report/figure_key.hpp"
#include "ticopd/report/figure_options.hpp"

namespace ticopd {

// A panel's frame, in inches from the lower left corner of the page, and its title; none if the
// panel above has the same.
struct PanelPlace {
  double left = 0, top = 0, width = 0, height = 0;
  std::string title;
};

struct FigureLayout {
  double height = 0;
  std::vector<PanelPlace> panels;
  std::optional<FigureKey> key;
  bool key_in_parts = false;  // the key is of `parts`
  double key_x = 0, key_y = 0;
};

// Puts panels and legend on the page, so that text has room. `usual`: the panels are of so many
// metrics, each against iterations and against bits, and what is left in a row of its own; 0: they
// are any panels. If the legend of all names does not fit well, one of `parts` takes its place,
// unless there are none. `notes` stand below the legend. ConfigError if the height that the options
// ask for is too small.
FigureLayout lay_out(const FigureOptions& options, std::span<const std::string> names,
                     std::span<const std::string> labels, std::span<const std::string> titles,
                     std::size_t usual, std::span<const std::string> parts = {},
                     std::span<const std::string> notes = {});

}  // namespace ticopd
