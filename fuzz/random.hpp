#pragma once

#include <cstddef>
#include <cstdint>

namespace ticopd {

// xorshift64*: three shifts and a multiplication for 64 random bits.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u | 1) {}
  std::uint64_t operator()() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  std::size_t below(std::size_t end) { return ((*this)() >> 32) * end >> 32; }
  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace ticopd
