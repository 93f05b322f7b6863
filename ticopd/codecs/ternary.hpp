#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// Digits 0, 1 and 2, five per byte. Digit i of a byte has weight 3^i, so byte values from 3^5 = 243
// on are unused. 8/5 bits per digit is within one percent of log2(3).
inline constexpr std::size_t digits_per_byte = 5;
constexpr std::uint32_t ternary_weight(std::size_t place) {
  constexpr std::uint32_t weights[digits_per_byte] = {1, 3, 9, 27, 81};
  return weights[place];
}
constexpr std::size_t ternary_bytes(std::size_t digits) {
  return digits / digits_per_byte + (digits % digits_per_byte != 0);
}

// Appends packed digits to `out`.
class TernaryWriter {
 public:
  explicit TernaryWriter(Bytes& out) : out_(out) {}

  void put(unsigned digit) {
    byte_ += digit * weight_;
    weight_ *= 3;
    if (weight_ == 243) finish();
  }

  // Writes the last byte, filled up with zero digits.
  void finish() {
    if (weight_ > 1) out_.push_back(static_cast<std::byte>(byte_));
    byte_ = 0, weight_ = 1;
  }

 private:
  Bytes& out_;
  unsigned byte_ = 0, weight_ = 1;
};

// Reads packed digits from `in`, which may hold anything.
class TernaryReader {
 public:
  explicit TernaryReader(std::span<const std::byte> in) : in_(in) {}

  // Returns 3 past the end, and in a byte that no writer makes.
  unsigned get() {
    if (left_ == 0) {
      if (in_.empty()) return 3;
      byte_ = std::to_integer<unsigned>(in_[0]);
      if (byte_ >= 243) return 3;
      in_ = in_.subspan(1);
      left_ = digits_per_byte;
    }
    const unsigned digit = byte_ % 3;
    byte_ /= 3;
    --left_;
    return digit;
  }

  // True if nothing is left but the zero digits of the last byte.
  bool at_end() const { return in_.empty() && byte_ == 0; }

 private:
  std::span<const std::byte> in_;
  unsigned byte_ = 0;
  std::size_t left_ = 0;
};

}  // namespace ticopd
