#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ticopd/kernels/lanes.hpp"
#include "ticopd/kernels/tiles.hpp"

namespace ticopd {

// Pixels as the second operand of the tile unit: entry k of a sum by column. Panels of 32 columns,
// each over its own range of steps of 64 entries; entries outside are zero and are not kept. A step
// of a panel is a pair of tiles, the next step follows it in memory, then the next panel.
class PixelPanels {
 public:
  struct Steps {
    std::size_t from, to;
  };

  PixelPanels() = default;
  explicit PixelPanels(std::vector<Steps> steps) : steps_(std::move(steps)) {
    std::size_t pairs = 0;
    for (const Steps& s : steps_) {
      begin_.push_back(pairs);
      pairs += s.to - s.from;
    }
    tiles_ = Aligned<std::uint8_t>(pairs * tile_pair);
    std::fill_n(tiles_.data(), tiles_.size(), std::uint8_t{0});
  }

  std::size_t size() const { return steps_.size(); }
  const Steps& steps(std::size_t panel) const { return steps_[panel]; }
  std::size_t bytes() const { return tiles_.bytes(); }

  std::uint8_t* pair(std::size_t panel, std::size_t step) const {
    return tiles_.data() + (begin_[panel] + step - steps_[panel].from) * tile_pair;
  }

  // For k within the steps of the column's panel. Four entries of a column are neighbours.
  std::uint8_t& entry(std::size_t k, std::size_t column) const {
    const std::size_t c = column % panel_columns;
    return pair(column / panel_columns,
                k / tile_row_bytes)[c / 16 * tile_bytes + k % tile_row_bytes / 4 * tile_row_bytes +
                                    c % 16 * 4 + k % 4];
  }

 private:
  std::vector<Steps> steps_;
  std::vector<std::size_t> begin_;  // of each panel, in pairs of tiles
  Aligned<std::uint8_t> tiles_;
};

}  // namespace ticopd
