#pragma once

#include <math_constants.h>

#include <type_traits>

#include "ticopd/cuda/hopper/ptx.cuh"
#include "ticopd/kernels/activation.hpp"

namespace ticopd::cuda::general {

// Calls act with the activation as a constant: a choice per unit would cost more than the
// activation.
template <class Act>
__host__ __device__ void for_phi(Activation phi, const Act& act) {
  if (phi == Activation::sigmoid)
    act(std::integral_constant<Activation, Activation::sigmoid>());
  else if (phi == Activation::tanh)
    act(std::integral_constant<Activation, Activation::tanh>());
  else
    act(std::integral_constant<Activation, Activation::relu>());
}

// 1 / (1 + e) or e / (1 + e) with e = exp(-|x|) <= 1. One correction adds what 1 + e loses, as on
// the CPU (kernels/activation.cpp), and what the quotient loses.
__device__ inline float sigmoid(float x) {
  const float e = expf(-fabsf(x));
  const float sum = 1.0f + e;
  const float lost = e - (sum - 1.0f);
  float quotient = hopper::reciprocal_fast(sum);
  const float missing = fmaf(-lost, quotient, fmaf(-sum, quotient, 1.0f));
  quotient = fmaf(quotient, missing, quotient);
  return x < 0.0f ? e * quotient : quotient;
}

// NaN stays NaN, in relu too, so that a diverged run shows.
template <Activation kPhi>
__device__ float activated(float x) {
  if constexpr (kPhi == Activation::sigmoid) return sigmoid(x);
  if constexpr (kPhi == Activation::tanh) return tanhf(x);
  return x < 0.0f ? 0.0f : x;
}

// delta phi'(z), computed from h = phi(z).
template <Activation kPhi>
__device__ float times_derivative(float h, float delta) {
  if constexpr (kPhi == Activation::sigmoid) return delta * (h * (1.0f - h));
  if constexpr (kPhi == Activation::tanh) return delta * ((1.0f - h) * (1.0f + h));
  return h > 0.0f ? delta : 0.0f * h;
}

}  // namespace ticopd::cuda::general
