#pragma once

#include <cuda_fp16.h>

#include <cstdint>

// How the fused kernels cut a float into pieces that tensor cores multiply exactly.
namespace ticopd::cuda::fused {

// The three digits of round(v * most), each plus 128, for |v| <= 1/2. Adding 1.5 x 2^23 puts the
// integer into the mantissa. That saves the conversion, which runs at a quarter of the rate.
inline constexpr float dh_most = 2 * 4194000.f;  // half of it stays below 2^22
__device__ __forceinline__ std::uint32_t offset_digits(float v, float most) {
  return __float_as_uint(fmaf(v, most, 12582912.f)) + (0x808080u - 0x400000u);
}
// The same digits without the 128, for four of them in a word.
__device__ __forceinline__ std::uint32_t signed_digits(std::uint32_t offset) {
  return offset ^ 0x80808080u;
}

// v = hi + lo / lo_scale for v = a and b, as pairs of fp16.
__device__ __forceinline__ void split(float a, float b, std::uint32_t& hi, std::uint32_t& lo,
                                      float lo_scale = 1.f) {
  const __half2 h = __floats2half2_rn(a, b);
  const float2 f = __half22float2(h);
  const __half2 l = __floats2half2_rn((a - f.x) * lo_scale, (b - f.y) * lo_scale);
  hi = *reinterpret_cast<const std::uint32_t*>(&h);
  lo = *reinterpret_cast<const std::uint32_t*>(&l);
}

// A power of two that is not less than v, and at least 2^-100, so that its inverse is a float too.
struct PowerOfTwo {
  std::uint32_t bits;
  __device__ __forceinline__ explicit PowerOfTwo(float v) {
    bits = max((__float_as_uint(v) + 0x7FFFFFu) & 0xFF800000u, 27u << 23);
  }
  __device__ __forceinline__ float value() const { return __uint_as_float(bits); }
  __device__ __forceinline__ float inverse() const { return __uint_as_float(0x7F000000u - bits); }
};

}  // namespace ticopd::cuda::fused
