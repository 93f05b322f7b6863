#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/report/report.hpp"

namespace ticopd {

// One panel of the figure: curves of a metric against a column, or a number for each run against a
// swept key.
struct FigurePanel {
  enum class Kind { curves, end, bits_to };

  Kind kind = Kind::curves;
  std::string metric;
  std::string x;     // a column; a swept key, or empty for the first one
  double value = 0;  // bits_to: the target's
};

// What a person wants of an axis; the rest follows from what is drawn.
struct AxisWish {
  std::optional<bool> log = {};
  std::optional<double> low = {}, high = {};
};

// [figure] of a comparison, and --figure of `ticopd report`. Lengths are inches.
struct FigureOptions {
  double width = 7.16;  // the text of a two-column paper
  std::optional<double> height;
  bool height_is_fixed = false;  // asked for; that of a preset gives way to a long legend
  std::string font;      // empty: Arial, or what has its widths
  double font_size = 8;  // points
  double line_width = 1;
  std::vector<FigurePanel> panels;  // none: `usual` of them, or all
  std::size_t usual = 0;            // panels of a preset: the first so many that have values
  std::map<std::string, AxisWish, std::less<>> axes;        // by column
  std::map<std::string, std::string, std::less<>> colours;  // "#RRGGBB" by label or group
  std::string legend = "below";
  std::size_t legend_columns = 0;  // 0: as many as fit
  std::vector<std::string> formats{"svg", "pdf", "png"};

  AxisWish axis(std::string_view column) const;  // what is wanted of it, maybe nothing
};

// ConfigError that names the key, what was given, and what is allowed. `bits` stands for "bits".
FigureOptions read_figure(const nlohmann::json& given, const std::string& bits);

// ConfigError for a colour of a label that no run has, and for a panel against a key that is not
// swept. A name is a label, or a group.
void check_figure(const FigureOptions& figure, const std::vector<std::string>& names,
                  const std::vector<std::string>& swept);

// "8.5 cm" in inches; empty if it is no length above 0.
std::optional<double> length_in_inches(std::string_view text);

}  // namespace ticopd
