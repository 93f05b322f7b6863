#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>

namespace ticopd {

// The most values a dense data set may have: 32 GiB of floats. Checked before memory is taken.
inline constexpr std::size_t max_values = std::size_t{1} << 33;

// The number of items that a header claims, or nothing if the product overflows. Readers compare it
// with the bytes that really exist before they allocate.
inline std::optional<std::size_t> items(std::span<const std::size_t> shape) {
  std::size_t product = 1;
  bool empty = false;
  for (const std::size_t extent : shape) {
    if (extent == 0)
      empty = true;
    else if (product > std::numeric_limits<std::size_t>::max() / extent)
      return std::nullopt;
    else
      product *= extent;
  }
  return empty ? 0 : product;
}

}  // namespace ticopd
