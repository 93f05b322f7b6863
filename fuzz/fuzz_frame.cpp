// Frames: first the input itself as a frame, which is almost surely rejected. Then the input as a
// body: it must round-trip, and the frame must be rejected after one bit, chosen by the input, is
// flipped.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ticopd/transport/frame.hpp"

using namespace ticopd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  FrameHeader header;
  std::span<const std::byte> body;
  if (parse_frame(input, header, body) && body.size() + frame_header_bytes != size) std::abort();

  FrameHeader sent;
  sent.agent = static_cast<std::uint32_t>(size);
  sent.d = size;
  Bytes frame = make_frame(sent, input);
  if (!parse_frame(frame, header, body)) std::abort();
  sent.body_bytes = size;
  if (header != sent || !std::equal(body.begin(), body.end(), input.begin(), input.end()))
    std::abort();

  const std::size_t choice = size < 4 ? size : data[0] | data[1] << 8 | data[2] << 16;
  const std::size_t bit = choice % (8 * frame.size());
  frame[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  if (parse_frame(frame, header, body)) std::abort();
  return 0;
}
