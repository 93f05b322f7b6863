#include "ticopd/transport/frame.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

namespace ticopd {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little endian");

constexpr std::array<char, 4> magic{'T', 'i', 'C', 'o'};
constexpr std::size_t checksum_at = frame_header_bytes - sizeof(std::uint64_t);

// The header as it stands on the wire. The static_asserts make the struct's layout that of
// docs/wire_format.md, so that a memcpy reads and writes it.
struct Wire {
  std::array<char, 4> magic;
  std::uint8_t version;
  std::uint8_t type;
  std::uint16_t channel;
  std::uint64_t round;
  std::uint32_t agent;
  std::uint32_t scalar_bytes;
  std::uint64_t d;
  std::uint64_t body_bytes;
  std::uint64_t surrogate;
  std::uint64_t checksum;
};
static_assert(sizeof(Wire) == frame_header_bytes);
static_assert(offsetof(Wire, type) == 5 && offsetof(Wire, channel) == 6);
static_assert(offsetof(Wire, round) == 8 && offsetof(Wire, agent) == 16);
static_assert(offsetof(Wire, scalar_bytes) == 20 && offsetof(Wire, d) == 24);
static_assert(offsetof(Wire, body_bytes) == 32 && offsetof(Wire, surrogate) == 40);
static_assert(offsetof(Wire, checksum) == checksum_at);

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

// Over the header up to the checksum, then the body. False if there is no memory for the state.
bool checksum_of(std::span<const std::byte> frame, std::uint64_t& sum) {
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  if (!state || XXH3_64bits_reset(state.get()) != XXH_OK) return false;
  const auto body = frame.subspan(frame_header_bytes);
  if (XXH3_64bits_update(state.get(), frame.data(), checksum_at) != XXH_OK) return false;
  if (!body.empty() && XXH3_64bits_update(state.get(), body.data(), body.size()) != XXH_OK)
    return false;
  sum = XXH3_64bits_digest(state.get());
  return true;
}

}  // namespace

Bytes make_frame(const FrameHeader& header, std::span<const std::byte> body) {
  const Wire wire{magic,
                  frame_version,
                  static_cast<std::uint8_t>(header.type),
                  header.channel,
                  header.round,
                  header.agent,
                  header.scalar_bytes,
                  header.d,
                  body.size(),
                  header.surrogate,
                  0};
  Bytes frame(frame_header_bytes + body.size());
  std::memcpy(frame.data(), &wire, sizeof wire);
  std::copy(body.begin(), body.end(), frame.begin() + frame_header_bytes);
  std::uint64_t sum = 0;
  if (!checksum_of(frame, sum)) throw std::bad_alloc();
  std::memcpy(frame.data() + checksum_at, &sum, sizeof sum);
  return frame;
}

bool parse_frame(std::span<const std::byte> bytes, FrameHeader& header,
                 std::span<const std::byte>& body) noexcept {
  if (bytes.size() < frame_header_bytes) return false;
  Wire wire;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  if (wire.magic != magic || wire.version != frame_version) return false;
  if (wire.body_bytes != bytes.size() - frame_header_bytes) return false;
  std::uint64_t sum = 0;
  if (!checksum_of(bytes, sum) || sum != wire.checksum) return false;
  // The checksum is right, so a wrong value here comes from the sender.
  if (wire.type < 1 || wire.type > 3) return false;
  if (wire.scalar_bytes != 4 && wire.scalar_bytes != 8) return false;
  header = {static_cast<FrameType>(wire.type),
            wire.channel,
            wire.round,
            wire.agent,
            wire.scalar_bytes,
            wire.d,
            wire.body_bytes,
            wire.surrogate};
  body = bytes.subspan(frame_header_bytes);
  return true;
}

std::uint64_t hash_row(std::span<const std::byte> row) {
  return XXH3_64bits(row.data(), row.size());
}

}  // namespace ticopd
