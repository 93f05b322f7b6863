#pragma once

#include <cstdint>

#include "ticopd/cuda/general_layout.hpp"

// Floats as signed base-256 digits (kernels/digits.hpp has the idea).
namespace ticopd::cuda::general {

// Digits are low bytes read as signed; what one leaves is a multiple of 256.
__device__ inline int next_digit(int& q) {
  const int digit = static_cast<std::int8_t>(q);
  q = (q + 128) >> 8;
  return digit;
}

__device__ inline std::uint32_t packed(int a, int b, int c, int d) {
  return static_cast<std::uint32_t>(a & 255) | static_cast<std::uint32_t>(b & 255) << 8 |
         static_cast<std::uint32_t>(c & 255) << 16 | static_cast<std::uint32_t>(d & 255) << 24;
}

}  // namespace ticopd::cuda::general
