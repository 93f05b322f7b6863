#include "ticopd/run/epoch.hpp"

#include <array>
#include <span>

#include "ticopd/transport/frame.hpp"

namespace ticopd {

std::uint64_t epoch_seed(std::uint64_t seed, std::uint32_t epoch) {
  if (epoch == 1) return seed;
  const std::array<std::uint64_t, 2> parts{seed, epoch};
  return hash_row(std::as_bytes(std::span(parts)));
}

}  // namespace ticopd
