#pragma once

#include <cstdint>

namespace ticopd::cuda {

// A warp writes the fields of its 128 coordinates to `to`. Each lane has four fields, in the low
// 4 * bits bits of `mine`. `to` is a multiple of four and ends after `bytes` bytes; the memory
// behind it is not ours. All lanes call it.
__device__ __forceinline__ void store_fields(std::uint64_t mine, std::uint32_t bits,
                                             std::uint8_t* to, std::uint64_t bytes) {
  const std::uint32_t lane = threadIdx.x % 32, width = 4 * bits;
  const auto store = [&](std::uint32_t word, std::uint32_t value) {
    if (4 * word + 4 <= bytes)
      *reinterpret_cast<std::uint32_t*>(to + 4 * word) = value;
    else
      for (std::uint32_t i = 4 * word; i < bytes; ++i, value >>= 8)
        to[i] = static_cast<std::uint8_t>(value);
  };
  if (bits == 8) return store(lane, static_cast<std::uint32_t>(mine));
  // Word w combines the lanes that hold some of the bits 32 w ... 32 w + 31.
  const std::uint32_t lanes = bits > 8 ? 2 : 32 % width == 0 ? 32 / width : 32 / width + 2;
  for (std::uint32_t first = 0; first < width; first += 32) {
    const std::uint32_t word = first + lane, from = 32 * word / width;
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < lanes; ++i) {
      const std::uint64_t theirs = __shfl_sync(~0u, mine, (from + i) % 32);
      const int shift = static_cast<int>((from + i) * width) - static_cast<int>(32 * word);
      if (from + i < 32 && shift < 32)
        value |= static_cast<std::uint32_t>(shift >= 0 ? theirs << shift : theirs >> -shift);
    }
    if (word < width) store(word, value);
  }
}

// The same for signs, which may begin at any byte: lane l has those of coordinates 4 l ... 4 l + 3.
__device__ __forceinline__ void store_signs(std::uint32_t mine, std::uint8_t* to,
                                            std::uint64_t bytes) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t next = __shfl_down_sync(~0u, mine, 1);
  if (lane % 2 == 0 && lane / 2 < bytes) to[lane / 2] = static_cast<std::uint8_t>(mine | next << 4);
}

}  // namespace ticopd::cuda
