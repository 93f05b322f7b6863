#include "ticopd/site/messages.hpp"

#include <array>
#include <cstring>

#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

constexpr std::array<char, 4> magic{'T', 'C', 'S', 'M'};
constexpr std::uint16_t version = 1;

// The header as it travels, little endian (docs/wire_format.md). Its last field is the XXH3-64 of
// header and body with this field zero.
struct Header {
  std::array<char, 4> magic;
  std::uint16_t version;
  std::uint8_t type;
  std::uint8_t gap;
  std::uint64_t network, from, to, nonce, sequence, safe, chain, offset, length;
  std::uint32_t channel, body;
  std::uint64_t check;
};
static_assert(sizeof(Header) == message_header_bytes);

std::uint64_t check_of(Header header, std::span<const std::byte> body) {
  header.check = 0;
  const std::array parts{hash_row(std::as_bytes(std::span(&header, 1))), hash_row(body)};
  return hash_row(std::as_bytes(std::span(parts)));
}

}  // namespace

Bytes encode(const Message& m) {
  Header h{magic,    version,   static_cast<std::uint8_t>(m.type),
           m.gap,    m.network, m.from,
           m.to,     m.nonce,   m.sequence,
           m.safe,   m.chain,   m.offset,
           m.length, m.channel, static_cast<std::uint32_t>(m.body.size()),
           0};
  h.check = check_of(h, m.body);
  Bytes bytes(sizeof h + m.body.size());
  std::memcpy(bytes.data(), &h, sizeof h);
  if (!m.body.empty()) std::memcpy(bytes.data() + sizeof h, m.body.data(), m.body.size());
  return bytes;
}

std::optional<Message> decode_message(std::span<const std::byte> bytes) {
  Header h;
  if (bytes.size() < sizeof h || bytes.size() > sizeof h + piece_bytes) return std::nullopt;
  std::memcpy(&h, bytes.data(), sizeof h);
  const std::span<const std::byte> body = bytes.subspan(sizeof h);
  if (h.magic != magic || h.version != version || h.body != body.size() ||
      h.check != check_of(h, body))
    return std::nullopt;
  if (h.type < 1 || h.type > static_cast<std::uint8_t>(MessageType::done) || h.gap > 1)
    return std::nullopt;
  Message m{.type = static_cast<MessageType>(h.type),
            .network = h.network,
            .from = h.from,
            .to = h.to,
            .nonce = h.nonce,
            .sequence = h.sequence,
            .safe = h.safe,
            .chain = h.chain,
            .offset = h.offset,
            .length = h.length,
            .channel = h.channel,
            .gap = h.gap == 1};
  if (m.type == MessageType::data) {
    if (m.offset > m.length || body.size() > m.length - m.offset) return std::nullopt;
    if (body.empty() && m.length != 0) return std::nullopt;
    m.body.assign(body.begin(), body.end());
  } else if (!body.empty() || m.safe > m.sequence) {
    return std::nullopt;
  }
  return m;
}

}  // namespace ticopd
