#pragma once

#include <cstdint>

namespace ticopd {

// The seed of a run whose config or program names none. Apart from noise.hpp, so that tables of
// options need not include a random number generator.
inline constexpr std::uint64_t default_seed = 1;

}  // namespace ticopd
