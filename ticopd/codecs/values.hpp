#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

#include "ticopd/codecs/arithmetic/measures.hpp"
#include "ticopd/codecs/source.hpp"

namespace ticopd {

// Numbers on the wire: IEEE 754, little endian. Values that a codec sends unchanged have the run's
// precision.

// Compares exponents as integers: unlike std::isfinite this loop is vectorised.
template <class T>
bool all_finite(std::span<const T> v) {
  using Bits = BitsOf<T>;
  constexpr Bits exponent =
      sizeof(T) == 4 ? static_cast<Bits>(0x7f800000u) : static_cast<Bits>(0x7ff0000000000000ull);
  Bits bad = 0;
  for (const T x : v) bad |= static_cast<Bits>((std::bit_cast<Bits>(x) & exponent) == exponent);
  return bad == 0;
}

// max |v_k|; 0 for an empty row. It keeps a NaN, which std::max would lose.
template <class T>
T largest_magnitude(Source<T> v) {
  using Largest = LargestBits<T>;
  typename Largest::Value most = 0;
  for (std::size_t k = 0; k < v.size(); ++k) most = Largest::join(most, Largest::term(v[k]));
  return Largest::number(most);
}

// A payload need not be aligned for T, so numbers are copied as bytes.
template <class T>
void store_value(T value, std::size_t index, std::span<std::byte> out) {
  std::memcpy(out.data() + index * sizeof(T), &value, sizeof(T));
}

template <class T>
T load_value(std::span<const std::byte> in, std::size_t index) {
  T value;
  std::memcpy(&value, in.data() + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace ticopd
