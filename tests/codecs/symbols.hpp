#pragma once

#include <cmath>

#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/levels.hpp"
#include "ticopd/numeric/noise.hpp"

namespace ticopd::testing {

// The levels and signs that a quantiser makes from a row.
template <class Level>
struct Symbols {
  Symbols(std::size_t d, unsigned fill)
      : levels(d, static_cast<Level>(fill)),
        signs(plane_bytes(d, 1), static_cast<std::byte>(fill)) {}
  bool operator==(const Symbols&) const = default;

  std::vector<Level> levels;
  Bytes signs;
};

// A reference written from the definition, one bit at a time.
template <class Level>
Symbols<Level> without_signs_of_zeros(Symbols<Level> symbols) {
  const std::size_t d = symbols.levels.size();
  for (std::size_t k = 0; k < 8 * symbols.signs.size(); ++k)
    if (k >= d || symbols.levels[k] == 0)
      symbols.signs[k / 8] &= ~static_cast<std::byte>(1u << k % 8);
  return symbols;
}

// Shapes: 0 all zero, 1 one non-zero, 2 all = most, 3 flat, 4 small, 5 sparse, 6 every size,
// 7 runs, 8 two levels far apart.
inline constexpr int shapes = 9;

template <class Level>
Symbols<Level> random_symbols(std::size_t d, std::uint32_t most, int shape, Generator& random) {
  Symbols<Level> symbols(d, 0);
  for (std::byte& b : symbols.signs) b = static_cast<std::byte>(random.bits());
  const std::size_t one = d == 0 ? 0 : random.below(d);
  std::uint64_t run = 0;
  for (std::size_t k = 0; k < d; ++k) {
    const std::uint64_t flat = random.below(most + std::uint64_t{1});
    const double normal = std::abs(random.normal());
    std::uint64_t level = 0;
    if (shape == 1) level = k == one ? 1 + flat % most : 0;
    if (shape == 2) level = most;
    if (shape == 3) level = flat;
    if (shape == 4) level = static_cast<std::uint64_t>(normal);
    if (shape == 5) level = random.below(40) == 0 ? flat : 0;
    if (shape == 6) level = static_cast<std::uint64_t>(std::exp2(20 * random.uniform())) - 1;
    if (shape == 7) level = run = random.below(30) == 0 ? flat : run;
    if (shape == 8) level = random.below(2) * most;
    symbols.levels[k] = static_cast<Level>(std::min<std::uint64_t>(level, most));
  }
  return symbols;
}

}  // namespace ticopd::testing
