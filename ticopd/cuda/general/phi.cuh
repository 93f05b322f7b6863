#pragma once

#include <math_constants.h>

#include "ticopd/kernels/activation.hpp"

namespace ticopd::cuda::general {

// 1 / (1 + e) or e / (1 + e) with e = exp(-|x|) <= 1; what 1 + e loses is put back, as on the CPU
// (kernels/activation.cpp).
__device__ inline float sigmoid(float x) {
  const float e = expf(-fabsf(x));
  const float sum = 1.0f + e;
  const float lost = e - (sum - 1.0f);
  float quotient = __frcp_rn(sum);
  quotient -= quotient * quotient * lost;
  return x < 0.0f ? e * quotient : quotient;
}

// NaN stays NaN, also in relu: a run that has left the numbers is to be seen.
__device__ inline float activated(Activation phi, float x) {
  if (phi == Activation::sigmoid) return sigmoid(x);
  if (phi == Activation::tanh) return tanhf(x);
  return x < 0.0f ? 0.0f : x;
}

// delta phi'(z), by h = phi(z)
__device__ inline float times_derivative(Activation phi, float h, double delta) {
  if (phi == Activation::sigmoid) return static_cast<float>(delta * (h * (1.0f - h)));
  if (phi == Activation::tanh) return static_cast<float>(delta * ((1.0f - h) * (1.0f + h)));
  return h > 0.0f ? static_cast<float>(delta) : 0.0f * h;
}

}  // namespace ticopd::cuda::general
