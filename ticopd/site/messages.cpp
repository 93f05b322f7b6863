#include "ticopd/site/messages.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "ticopd/transport/frame.hpp"

#ifndef TICOPD_SITE_PROTOCOL  // a test builds a program of another version
#define TICOPD_SITE_PROTOCOL 2
#endif

namespace ticopd {

const Versions own_versions{.protocol = TICOPD_SITE_PROTOCOL, .frames = frame_version};

namespace {

constexpr std::array<char, 4> magic{'T', 'C', 'S', 'M'};

// The header as it travels, little endian (docs/wire_format.md). Its last field is the XXH3-64 of
// header and body with this field zero. Magic and versions stay where they are for ever.
struct Header {
  std::array<char, 4> magic;
  std::uint8_t protocol, frames;
  std::uint8_t type;
  std::uint8_t gap;
  std::uint64_t network, owner, roster;
  std::uint32_t version, epoch;
  std::uint64_t from, to, nonce, sequence, safe, chain, offset, length;
  std::uint32_t channel, body;
  std::uint64_t check;
};
static_assert(sizeof(Header) == message_header_bytes);

std::uint64_t check_of(Header header, const SharedBytes& body) {
  header.check = 0;
  const std::array parts{hash_row(std::as_bytes(std::span(&header, 1))), body.hash()};
  return hash_row(std::as_bytes(std::span(parts)));
}

// A body that this type of message can have.
bool fits(const Header& h, const SharedBytes& body) {
  switch (static_cast<MessageType>(h.type)) {
    case MessageType::data:
      return h.offset <= h.length && body.size() <= h.length - h.offset &&
             (!body.empty() || h.length == 0);
    case MessageType::ended:
      return !body.empty() && body.size() <= most_reason_bytes;
    case MessageType::roster:
      return !body.empty();
    default:
      return body.empty() && h.safe <= h.sequence;
  }
}

}  // namespace

Bytes encode(const Message& m) {
  Header h{.magic = magic,
           .protocol = own_versions.protocol,
           .frames = own_versions.frames,
           .type = static_cast<std::uint8_t>(m.type),
           .gap = m.gap,
           .network = m.network,
           .owner = m.roster.owner,
           .roster = m.roster.bytes,
           .version = m.roster.version,
           .epoch = m.roster.epoch,
           .from = m.from,
           .to = m.to,
           .nonce = m.nonce,
           .sequence = m.sequence,
           .safe = m.safe,
           .chain = m.chain,
           .offset = m.offset,
           .length = m.length,
           .channel = m.channel,
           .body = static_cast<std::uint32_t>(m.body.size()),
           .check = 0};
  h.check = check_of(h, m.body);
  const std::span<const std::byte> head = std::as_bytes(std::span(&h, 1));
  Bytes bytes;
  bytes.reserve(sizeof h + m.body.size());
  bytes.assign(head.begin(), head.end());
  bytes.insert(bytes.end(), m.body.begin(), m.body.end());
  return bytes;
}

std::optional<Versions> versions_of(std::span<const std::byte> bytes) {
  if (bytes.size() < magic.size() + 2 || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return std::nullopt;
  return Versions{std::to_integer<std::uint8_t>(bytes[magic.size()]),
                  std::to_integer<std::uint8_t>(bytes[magic.size() + 1])};
}

std::optional<Message> decode_message(const SharedBytes& bytes) {
  Header h;
  if (versions_of(std::span(bytes)) != own_versions) return std::nullopt;
  if (bytes.size() < sizeof h || bytes.size() > sizeof h + piece_bytes) return std::nullopt;
  std::memcpy(&h, bytes.data(), sizeof h);
  SharedBytes body = bytes.part(sizeof h, bytes.size() - sizeof h);
  if (h.body != body.size() || h.check != check_of(h, body)) return std::nullopt;
  if (h.type < 1 || h.type > static_cast<std::uint8_t>(MessageType::differs) || h.gap > 1)
    return std::nullopt;
  if (!fits(h, body)) return std::nullopt;
  Message m{.type = static_cast<MessageType>(h.type),
            .network = h.network,
            .roster = {.owner = h.owner, .bytes = h.roster, .version = h.version, .epoch = h.epoch},
            .from = h.from,
            .to = h.to,
            .nonce = h.nonce,
            .sequence = h.sequence,
            .safe = h.safe,
            .chain = h.chain,
            .offset = h.offset,
            .length = h.length,
            .channel = h.channel,
            .gap = h.gap == 1,
            .body = std::move(body)};
  return m;
}

}  // namespace ticopd
