#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/report/series.hpp"

namespace ticopd {

// How a run is drawn, both in the figure and on the page: one colour per algorithm, one dash per
// codec, one marker per group, which without seeds is a run. Each is an index, in the order of
// first appearance. If a sweep is of one algorithm alone, each group has its own colour. If there
// are more codecs than dashes, the codecs of each algorithm have an order of their own.
struct Style {
  int color = 0;
  int dash = 0;
  int marker = 0;
};
std::vector<Style> styles(std::span<const Series> runs);

inline constexpr std::size_t dash_count = 5;  // that a reader can tell apart

// Okabe and Ito's colours, which colour-blind readers can tell apart. Brown replaces their yellow,
// which is too light for lines on paper.
inline constexpr std::array<std::string_view, 8> colors = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F"};

std::string color_of(const Style& style);  // "#0072B2"

// Their names in a config, in the same order.
inline constexpr std::array<std::string_view, 8> color_names = {
    "blue", "vermilion", "green", "pink", "orange", "sky", "black", "brown"};

// "TiCoPD 8-bit (9 bit)": the label, and the encoded bits per coordinate and round.
std::string legend(const Series& run);
std::string legend(const std::string& label, const std::optional<double>& rate);

}  // namespace ticopd
