#pragma once

#include <cmath>
#include <cstdint>

namespace ticopd {

// Decides which rounds are logged: 0, 1, then log-spaced rounds such that 10^5 rounds (the paper's
// length) give about `points` rows, and the last. If `every` is not 0, every `every` rounds instead
// of log-spaced ones. It is a pure function of the round, so that a longer run logs the same early
// rounds.
struct LogRounds {
  std::uint32_t points = 60;
  std::uint32_t every = 0;

  bool operator()(std::uint32_t round, std::uint32_t last) const {
    if (round <= 1 || round == last) return true;
    if (every > 0) return round % every == 0;
    // True if the round is one of the points r_k = ceil(10^(5 k / points)). The small terms absorb
    // rounding errors of log10 and pow.
    const double k = std::floor(std::log10(static_cast<double>(round)) * points / 5 + 1e-9);
    return std::ceil(std::pow(10.0, 5 * k / points) - 1e-6) == static_cast<double>(round);
  }
};

}  // namespace ticopd
