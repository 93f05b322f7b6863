#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ticopd {

// An input of fuzz_mirror is four bytes of choices and then the rest:
//   0  the number of the codec (low six bits) and the exchange (mirror_sends_raw, ...)
//   1  the codec's options
//   2  the dimension, one of mirror_dimensions
//   3  how the rest becomes the frame (low two bits), and which bit of the hash other_hash flips
enum MirrorInput : std::uint8_t {
  whole_frame = 0,   // the rest is the frame
  body_only = 1,     // the rest is the body of an otherwise right frame
  other_header = 2,  // the first bytes are XORed into the right header; the body follows
  other_hash = 3,    // like body_only, but with a wrong hash of the surrogate
};

inline constexpr std::size_t mirror_input_bytes = 4;
inline constexpr std::size_t mirror_header_bytes = 35;
inline constexpr std::array<std::size_t, 4> mirror_dimensions{1, 7, 24, 130};

// Flags in byte 0: exchange by send_raw; exchange with a gain of one half.
inline constexpr std::uint8_t mirror_sends_raw = 64;
inline constexpr std::uint8_t mirror_half_gain = 128;

}  // namespace ticopd
