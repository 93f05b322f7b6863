#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

// The arithmetic of the codecs, each formula once and for one coordinate. Scalar loops and GPU
// kernels call it: everything is constexpr, which nvcc accepts as device code. Vector loops cannot
// call it, because Highway compiles their file anew for each instruction set, and nothing from
// outside can be inlined there. tests/codecs/vector_test.cpp compares them with the scalar loops
// bit by bit. The order of operations is frozen in docs/wire_format.md. Every file that includes
// this is compiled without contraction: a fused multiply-add rounds once where the formulas round
// twice.
namespace ticopd {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
inline constexpr BitsOf<T> sign_mask = BitsOf<T>{1} << (8 * sizeof(T) - 1);

// |v| as an integer. The bits of magnitudes have the order of the numbers, with infinity above them
// and NaN above infinity. So a maximum over bits loses no NaN.
template <class T>
constexpr BitsOf<T> magnitude_bits(T v) {
  return std::bit_cast<BitsOf<T>>(v) & ~sign_mask<T>;
}

// Reads the sign bit: -0.0 is negative, and a sign costs no comparison.
template <class T>
constexpr bool is_negative(T v) {
  return (std::bit_cast<BitsOf<T>>(v) & sign_mask<T>) != 0;
}

}  // namespace ticopd
