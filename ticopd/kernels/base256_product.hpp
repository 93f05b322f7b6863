#pragma once

#include <algorithm>

#include "ticopd/kernels/base256.hpp"
#include "ticopd/kernels/tiles.hpp"

namespace ticopd {

// Prefetches the memory of the next product into the second-level cache, a few lines at a time,
// while this product multiplies. So the tile unit never waits for a panel of pixels.
class Ahead {
 public:
  Ahead() = default;
  Ahead(const std::uint8_t* at, std::size_t bytes) : at_(at), end_(at + bytes) {}

  // To be done in `turns` turns.
  void divide(std::size_t turns) {
    const std::size_t lines = static_cast<std::size_t>(end_ - at_) / line;
    share_ = turns > 0 ? (lines + turns - 1) / turns * line : 0;
  }
  void turn() {
    const std::uint8_t* stop = at_ + std::min(share_, static_cast<std::size_t>(end_ - at_));
    for (; at_ != stop; at_ += line) __builtin_prefetch(at_, 0, 2);
  }

 private:
  static constexpr std::size_t line = 64;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::size_t share_ = 0;
};

// Two tiles of rows (the last may be one) times two of columns, over `steps` steps: four sums in
// registers 0 ... 3, so each loaded tile is used twice.
template <bool TwoRows, class Tiles>
void multiply_tiles(Tiles& tiles, const std::int8_t* a, const std::uint8_t* b, std::size_t steps,
                    std::int32_t* sums, Ahead& next) {
  tiles.template zero<0>();
  tiles.template zero<1>();
  if constexpr (TwoRows) {
    tiles.template zero<2>();
    tiles.template zero<3>();
  }
  for (std::size_t s = 0; s < steps; ++s, a += tile_pair, b += tile_pair) {
    tiles.template load<4>(a, tile_row_bytes);
    tiles.template load<6>(b, tile_row_bytes);
    tiles.template multiply_add<0, 4, 6>();
    tiles.template load<7>(b + tile_bytes, tile_row_bytes);
    tiles.template multiply_add<1, 4, 7>();
    if constexpr (TwoRows) {
      tiles.template load<5>(a + tile_bytes, tile_row_bytes);
      tiles.template multiply_add<2, 5, 6>();
      tiles.template multiply_add<3, 5, 7>();
    }
    next.turn();
  }
  constexpr std::size_t stride = panel_columns * sizeof(std::int32_t);
  tiles.template store<0>(sums, stride);
  tiles.template store<1>(sums + panel_columns / 2, stride);
  if constexpr (TwoRows) {
    sums += tile_rows * panel_columns;
    tiles.template store<2>(sums, stride);
    tiles.template store<3>(sums + panel_columns / 2, stride);
  }
}

// A panel: 32 columns of `out`, for all outputs, from the steps [from, from + steps) of the digits
// and as many of the pixels at b.
template <class Tiles>
void multiply_panel(Tiles& tiles, const DigitRows& a, std::size_t from, const std::uint8_t* b,
                    std::size_t steps, bool add, float* out, std::size_t stride, Ahead next) {
  // 32 outputs are 3 pairs of tiles; their sums stay in the first-level cache until they are
  // joined.
  constexpr std::size_t group = 32, group_pairs = digit_count * group / DigitRows::rows;
  alignas(64) std::int32_t sums[digit_count * group * panel_columns];
  // 65,536 products of -128 and 255 stay within 32 bits; sums of more are joined in parts.
  constexpr std::size_t most_steps = 1024;

  const std::size_t row_tiles = a.row_tiles();
  next.divide((row_tiles + 1) / 2 * steps);
  do {
    const std::size_t now = std::min(steps, most_steps);
    for (std::size_t j = 0; j < a.outputs(); j += group) {
      const std::size_t pair = j / group * group_pairs;
      for (std::size_t p = 0; p < group_pairs && 2 * (pair + p) < row_tiles; ++p) {
        std::int32_t* c = sums + p * DigitRows::rows * panel_columns;
        if (2 * (pair + p) + 1 < row_tiles)
          multiply_tiles<true>(tiles, a.tiles(pair + p, from), b, now, c, next);
        else
          multiply_tiles<false>(tiles, a.tiles(pair + p, from), b, now, c, next);
      }
      join_digits(sums, std::min(group, a.outputs() - j), a.step(j), add, out + j * stride, stride);
    }
    add = true;
    from += now;
    b += now * tile_pair;
    steps -= now;
  } while (steps > 0);
}

}  // namespace ticopd
