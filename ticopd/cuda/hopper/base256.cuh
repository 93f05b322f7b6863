#pragma once

#include <cstdint>

// Floats as signed base-256 digits (kernels/base256.hpp explains the idea).
namespace ticopd::cuda::hopper {

// 127 (65536 + 256 + 1) = 8,355,711 is the most that three digits hold; the room above is for the
// rounding of scales.
inline constexpr float most_of_three_digits = 8355000.f;

// A digit is the low byte, read as signed. q minus the digit is a multiple of 256.
__device__ inline int next_digit(int& q) {
  const int digit = static_cast<std::int8_t>(q);
  q = (q + 128) >> 8;
  return digit;
}

__device__ inline std::uint32_t packed(int a, int b, int c, int d) {
  return static_cast<std::uint32_t>(a & 255) | static_cast<std::uint32_t>(b & 255) << 8 |
         static_cast<std::uint32_t>(c & 255) << 16 | static_cast<std::uint32_t>(d & 255) << 24;
}

// All digits of |q| <= 2^30 as bytes, the highest digit on top. Adding one half of 256 to every
// lower digit makes all carries at once. Three digits leave the fourth byte to the sign.
__device__ __forceinline__ std::uint32_t digit_bytes(int q) {
  return (static_cast<std::uint32_t>(q) + 0x00808080u) ^ 0x00808080u;
}

// Transposes four words of four bytes: of[d] becomes the bytes 3 - d of the old words.
__device__ inline void turn_bytes(std::uint32_t (&of)[4]) {
  const std::uint32_t low0 = __byte_perm(of[0], of[1], 0x5140);
  const std::uint32_t low1 = __byte_perm(of[2], of[3], 0x5140);
  const std::uint32_t high0 = __byte_perm(of[0], of[1], 0x7362);
  const std::uint32_t high1 = __byte_perm(of[2], of[3], 0x7362);
  of[3] = __byte_perm(low0, low1, 0x5410);
  of[2] = __byte_perm(low0, low1, 0x7632);
  of[1] = __byte_perm(high0, high1, 0x5410);
  of[0] = __byte_perm(high0, high1, 0x7632);
}

}  // namespace ticopd::cuda::hopper
