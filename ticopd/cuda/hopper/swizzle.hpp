#pragma once

// Where a byte of an operand of wgmma lies in its tile.
namespace ticopd::cuda::hopper {

// Tiles have rows of 64 bytes along what is summed over. Their 16-byte units are swizzled (by 64
// bytes) such that those of eight neighbouring rows lie in different banks; tensor cores undo it as
// they read. Groups of eight rows are 512 bytes apart, and a tile begins at a multiple of 512.
inline constexpr int tile_row_bytes = 64;

constexpr int swizzled(int row, int unit) {
  return row * tile_row_bytes + ((unit ^ ((row >> 1) & 3)) << 4);
}

}  // namespace ticopd::cuda::hopper
