#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ticopd {

enum class Activation { sigmoid, tanh, relu };
constexpr std::array<std::string_view, 3> words_of(Activation) {
  return {"sigmoid", "tanh", "relu"};
}

// The activation named by problem.activation; ConfigError for another word.
Activation activation_of(std::string_view name);

// v = phi(v), elementwise. Float runs use a polynomial that the compiler vectorises: a call of libm
// for each of millions of hidden units would cost as much as the matrix products. NaN stays NaN.
template <class T>
void activate(Activation phi, T* v, std::size_t count);

// delta *= phi'(z), computed from h = phi(z), so that z need not be kept.
template <class T>
void times_derivative(Activation phi, const T* h, T* delta, std::size_t count);

// v = exp(v), within 2 ulp in float; overflow gives infinity, underflow goes through denormals to
// 0.
template <class T>
void exponentials(T* v, std::size_t count);

}  // namespace ticopd
