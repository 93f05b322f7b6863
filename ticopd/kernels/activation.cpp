#include "ticopd/kernels/activation.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "ticopd/error.hpp"
#include "ticopd/kernels/clones.hpp"

namespace ticopd {
namespace {

#define TICOPD_INLINE inline __attribute__((always_inline))

// exp(x) = 2^n exp(r) with |r| <= ln(2)/2, and exp(r) - 1 = `rest` by its Taylor polynomial, whose
// next term is below 6e-9. Kept as rest, not 1 + rest, so that tanh has no cancellation at 0.
struct Reduced {
  std::int32_t n;
  float rest;
};

TICOPD_INLINE Reduced reduce(float x) {
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  constexpr float round_to_integer = 12582912.0f;
  constexpr float log2_e = 1.44269504f;
  constexpr float ln2_high = 0.693359375f;  // 9 bits: n * ln2_high is exact
  constexpr float ln2_low = -2.12194440e-4f;
  const float shifted = x * log2_e + round_to_integer;
  const float n = shifted - round_to_integer;
  const float r = (x - n * ln2_high) - n * ln2_low;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * (r * r) + r;
  return {std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(round_to_integer), p};
}

// 2^n for -126 <= n <= 127; any other n comes from a NaN and gives an arbitrary float.
TICOPD_INLINE float power_of_two(std::int32_t n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

// Comparisons are written so that NaN falls through to x.
TICOPD_INLINE float exponential(float x) {
  x = x > 89.0f ? 89.0f : x;      // exp(89) overflows
  x = x < -104.0f ? -104.0f : x;  // exp(-104) rounds to 0
  const Reduced e = reduce(x);
  const std::int32_t half = e.n >> 1;  // 2^n itself may be no normal float
  return (1.0f + e.rest) * power_of_two(half) * power_of_two(e.n - half);
}
TICOPD_INLINE double exponential(double x) {
  return std::exp(x);
}

// 1 / (1 + e) or e / (1 + e) with e = exp(-|x|) <= 1. The rounding error of 1 + e is added back to
// the quotient, so the output is rounded almost only once; logits are sums of a hundred such
// outputs.
template <class T>
TICOPD_INLINE T sigmoid(T x) {
  const T e = exponential(-std::fabs(x));
  const T sum = T(1) + e;
  const T lost = e - (sum - T(1));
  T quotient = T(1) / sum;
  quotient -= quotient * quotient * lost;
  return x < T(0) ? e * quotient : quotient;
}

// tanh |x| = E / (E + 2) with E = exp(2|x|) - 1 = (2^n - 1) + 2^n rest, right to the last digits at
// 0.
TICOPD_INLINE float tangent(float x) {
  float a = std::fabs(x);
  a = a > 10.0f ? 10.0f : a;  // there tanh is 1
  const Reduced e = reduce(a + a);
  const float scale = power_of_two(e.n);
  const float E = (scale - 1.0f) + scale * e.rest;
  return std::copysign(E / (E + 2.0f), x);
}
TICOPD_INLINE double tangent(double x) {
  return std::tanh(x);
}

// relu must keep NaN too, so that a diverged run is seen and not hidden.
template <class T>
TICOPD_INLINE T rectified(T x) {
  return x < T(0) ? T(0) : x;
}

template <class T>
TICOPD_INLINE void activate_loop(Activation phi, T* v, std::size_t count) {
  switch (phi) {
    case Activation::sigmoid:
      for (std::size_t k = 0; k < count; ++k) v[k] = sigmoid(v[k]);
      break;
    case Activation::tanh:
      for (std::size_t k = 0; k < count; ++k) v[k] = tangent(v[k]);
      break;
    case Activation::relu:
      for (std::size_t k = 0; k < count; ++k) v[k] = rectified(v[k]);
      break;
  }
}

template <class T>
TICOPD_INLINE void derivative_loop(Activation phi, const T* __restrict h, T* __restrict delta,
                                   std::size_t count) {
  switch (phi) {
    case Activation::sigmoid:
      for (std::size_t k = 0; k < count; ++k) delta[k] *= h[k] * (T(1) - h[k]);
      break;
    case Activation::tanh:
      for (std::size_t k = 0; k < count; ++k) delta[k] *= (T(1) - h[k]) * (T(1) + h[k]);
      break;
    case Activation::relu:
      for (std::size_t k = 0; k < count; ++k) delta[k] = h[k] > T(0) ? delta[k] : T(0) * h[k];
      break;
  }
}

// target_clones works with functions only, not with templates.
TICOPD_CLONES void activate_all(Activation phi, float* v, std::size_t count) {
  activate_loop(phi, v, count);
}
void activate_all(Activation phi, double* v, std::size_t count) {
  activate_loop(phi, v, count);
}

TICOPD_CLONES void derive_all(Activation phi, const float* h, float* delta, std::size_t count) {
  derivative_loop(phi, h, delta, count);
}
TICOPD_CLONES void derive_all(Activation phi, const double* h, double* delta, std::size_t count) {
  derivative_loop(phi, h, delta, count);
}

TICOPD_CLONES void exponentials_all(float* v, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) v[k] = exponential(v[k]);
}
void exponentials_all(double* v, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) v[k] = exponential(v[k]);
}

}  // namespace

Activation activation_of(std::string_view name) {
  constexpr auto names = words_of(Activation{});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Activation>(i);
  throw ConfigError(not_allowed("problem.activation", name, names));
}

template <class T>
void activate(Activation phi, T* v, std::size_t count) {
  activate_all(phi, v, count);
}

template <class T>
void times_derivative(Activation phi, const T* h, T* delta, std::size_t count) {
  derive_all(phi, h, delta, count);
}

template <class T>
void exponentials(T* v, std::size_t count) {
  exponentials_all(v, count);
}

template void activate(Activation, float*, std::size_t);
template void activate(Activation, double*, std::size_t);
template void times_derivative(Activation, const float*, float*, std::size_t);
template void times_derivative(Activation, const double*, double*, std::size_t);
template void exponentials(float*, std::size_t);
template void exponentials(double*, std::size_t);

}  // namespace ticopd
