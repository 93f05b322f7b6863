#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

// This folder has the arithmetic of the codecs, each formula once and for one coordinate. Scalar
// loops call it, and so do the kernels of a GPU: all of it is constexpr, which nvcc takes as device
// code. Loops in vectors cannot call it, since Highway compiles their file anew for each
// instruction set and nothing from outside can be inlined there; tests/codecs/vector_test.cpp
// compares them with the scalar loops bit by bit. The order of operations is frozen in
// docs/wire_format.md, and every file that includes this is compiled without contraction: a fused
// multiply-add rounds once where the formulas round twice.
namespace ticopd {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
inline constexpr BitsOf<T> sign_mask = BitsOf<T>{1} << (8 * sizeof(T) - 1);

// |v| as an integer. Magnitudes are ordered as their bits are, with infinity above all numbers and
// NaN above infinity: a maximum over bits loses no NaN.
template <class T>
constexpr BitsOf<T> magnitude_bits(T v) {
  return std::bit_cast<BitsOf<T>>(v) & ~sign_mask<T>;
}

// The sign bit of the number, so that -0.0 is negative and a sign costs no comparison.
template <class T>
constexpr bool is_negative(T v) {
  return (std::bit_cast<BitsOf<T>>(v) & sign_mask<T>) != 0;
}

}  // namespace ticopd
