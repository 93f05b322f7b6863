#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "ticopd/codecs/source.hpp"

namespace ticopd {

// Numbers on the wire: IEEE 754, little endian, in the run's precision where a codec sends them as
// they are.

// Compares exponents as integers: unlike std::isfinite this loop is vectorised.
template <class T>
bool all_finite(std::span<const T> v) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits exponent =
      sizeof(T) == 4 ? static_cast<Bits>(0x7f800000u) : static_cast<Bits>(0x7ff0000000000000ull);
  Bits bad = 0;
  for (const T x : v) bad |= static_cast<Bits>((std::bit_cast<Bits>(x) & exponent) == exponent);
  return bad == 0;
}

// max |v_k|, 0 for an empty row. Compared as integers, where a NaN is above every number: it is not
// lost, as std::max would lose it.
template <class T>
T largest_magnitude(Source<T> v) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  Bits most = 0;
  for (std::size_t k = 0; k < v.size(); ++k)
    most = std::max(most, std::bit_cast<Bits>(std::abs(v[k])));
  return std::bit_cast<T>(most);
}

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
