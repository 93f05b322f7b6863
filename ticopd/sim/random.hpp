#pragma once

#include <cstdint>

namespace ticopd {

// SplitMix64 (Steele, Lea and Flood 2014): whole numbers only, so that a seed gives the same faults
// with every compiler.
class SimRandom {
 public:
  explicit SimRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // low ... high
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(std::int64_t in_a_thousand) { return between(0, 999) < in_a_thousand; }

 private:
  std::uint64_t state_;
};

}  // namespace ticopd
