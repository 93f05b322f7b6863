#pragma once

#include <algorithm>
#include <bit>

#include "ticopd/codecs/arithmetic/magnitude.hpp"

namespace ticopd {

// threshold.hpp keeps |v| >= share ||v||_inf, but for zeros: the bits of the least magnitude that
// is kept. top_k.hpp compares magnitudes as bits, too.
template <class T>
constexpr BitsOf<T> least_kept(T share, T largest) {
  return std::max(BitsOf<T>{1}, std::bit_cast<BitsOf<T>>(share * largest));
}

}  // namespace ticopd
