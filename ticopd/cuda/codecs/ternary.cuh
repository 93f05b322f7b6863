#pragma once

#include "ticopd/codecs/ternary.hpp"
#include "ticopd/cuda/codecs/code_length.cuh"
#include "ticopd/cuda/codecs/message.cuh"
#include "ticopd/cuda/codecs/quantisers.cuh"

namespace ticopd::cuda {

// The digits of ticopd/codecs/arithmetic/points.hpp, five per byte. A level has one digit per bit,
// and one to end it. So the place of a coordinate's digits depends on all coordinates before it:
// one sweep counts the digits of each tile, the next adds these counts and writes.
struct TernaryDigits {
  std::uint32_t* of_tiles;      // by message and tile
  std::uint8_t* payload;        // null: no bytes are made
  std::uint64_t stride;         // a multiple of four
  std::uint32_t tiles, unused;  // no padding: launches are compared byte by byte

  __device__ void clear(const Tile& tile) const {
    auto* words = reinterpret_cast<std::uint32_t*>(payload + tile.message * stride);
    for (std::uint64_t w = tile.index * block_threads + threadIdx.x; w < stride / 4;
         w += std::uint64_t{tiles} * block_threads)
      words[w] = 0;
  }

  // The place of the first of this thread's `mine` digits. All threads of the block call it.
  __device__ std::uint64_t begin(const Tile& tile, std::uint32_t mine) const {
    std::uint64_t before = 0, all = 0;
    for (std::uint32_t t = threadIdx.x; t < tile.index; t += block_threads)
      before += of_tiles[std::uint64_t{tile.message} * tiles + t];
    before = over_block(before, Sum());
    return before + scan_block(mine, all);
  }

  // Digits of several threads may lie in one word, so they are added to it; a byte never overflows.
  __device__ void put(std::uint32_t message, std::uint64_t& at, std::uint32_t digit) const {
    const std::uint64_t byte = at / digits_per_byte;
    const std::uint32_t value = digit * ternary_weight(at % digits_per_byte);
    auto* words = reinterpret_cast<std::uint32_t*>(payload + message * stride);
    if (value != 0) atomicAdd(&words[byte / 4], value << byte % 4 * 8);
    ++at;
  }

  __device__ void put(std::uint32_t message, std::uint64_t& at, const Symbol& s) const {
    put_ternary(s.level, s.negative, [&](unsigned digit) { put(message, at, digit); });
  }
};

}  // namespace ticopd::cuda
