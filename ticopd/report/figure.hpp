#pragma once

#include <atomic>
#include <filesystem>
#include <span>
#include <string>

#include "ticopd/report/series.hpp"

namespace ticopd {

// Draws the paper's figure: loss, squared gradient norm, consensus error and worst test accuracy
// (left out if no run has one), each against iterations and against bits. It is as wide as the text
// of a two-column paper. Writes stem.svg, stem.pdf and stem.png.
void draw_figure(std::span<const Series> runs, const std::string& bits,
                 const std::filesystem::path& stem, const std::atomic<bool>* stop = nullptr);

}  // namespace ticopd
