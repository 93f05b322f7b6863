#pragma once

#include <algorithm>
#include <bit>

#include "ticopd/codecs/arithmetic/magnitude.hpp"

namespace ticopd {

// The bits of the least magnitude that threshold.hpp keeps: nonzero |v| >= share ||v||_inf.
// Magnitudes are compared as bits, as in top_k.hpp.
template <class T>
constexpr BitsOf<T> least_kept(T share, T largest) {
  return std::max(BitsOf<T>{1}, std::bit_cast<BitsOf<T>>(share * largest));
}

}  // namespace ticopd
