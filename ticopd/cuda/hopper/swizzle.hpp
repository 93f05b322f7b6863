#pragma once

// The place of a byte of a wgmma operand in its tile.
namespace ticopd::cuda::hopper {

// Tiles have rows of 64 bytes along the sum. Their 16-byte units are swizzled (by 64 bytes), so
// that those of eight neighbouring rows lie in different banks. Tensor cores undo the swizzle as
// they read. Groups of eight rows are 512 bytes apart, and a tile begins at a multiple of 512.
inline constexpr int tile_row_bytes = 64;

constexpr int swizzled(int row, int unit) {
  return row * tile_row_bytes + ((unit ^ ((row >> 1) & 3)) << 4);
}

}  // namespace ticopd::cuda::hopper
