#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ticopd/bytes.hpp"

namespace ticopd {

enum class FrameType : std::uint8_t {
  difference = 1,  // the body is ENC(v - h), or ENC(v) where that is lossless; h moves by it
  raw = 2,         // the body is ENC(v); h becomes what it decodes to
  skip = 3,        // nothing this round: sent so that the receiver does not wait
};

// The header of a frame. It tells the receiver whose noise to draw (round, agent, channel), exposes
// a frame that belongs elsewhere, and lets the receiver compare its ghost row with the sender's
// surrogate.
struct FrameHeader {
  FrameType type = FrameType::difference;
  std::uint16_t channel = 0;
  std::uint64_t round = 0;
  std::uint32_t agent = 0;
  std::uint32_t scalar_bytes = 4;  // 4: float, 8: double
  std::uint64_t d = 0;
  std::uint64_t body_bytes = 0;  // make_frame takes it from the body
  std::uint64_t surrogate = 0;   // hash_row of the sender's surrogate after this frame

  bool operator==(const FrameHeader&) const = default;
};

inline constexpr std::size_t frame_header_bytes = 56;
inline constexpr std::uint8_t frame_version = 1;

Bytes make_frame(const FrameHeader& header, std::span<const std::byte> body);

// False unless `bytes` is one whole undamaged frame, no shorter and no longer; `body` then points
// into `bytes`. Never throws.
[[nodiscard]] bool parse_frame(std::span<const std::byte> bytes, FrameHeader& header,
                               std::span<const std::byte>& body) noexcept;

// XXH3-64.
std::uint64_t hash_row(std::span<const std::byte> row);

}  // namespace ticopd
