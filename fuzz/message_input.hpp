#pragma once

#include <array>

#include "fuzz/script.hpp"
#include "ticopd/site/messages.hpp"

namespace ticopd {

// A small number, one at which counters and sums go wrong, or one that the input spells out.
inline std::uint64_t odd_number(Script& script) {
  constexpr std::array<std::uint64_t, 16> odd{
      0x7f,       0xff,       0x100,      0xffff,     0x10000,     0x40000,
      0x40001,    0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
      1ull << 63, 1ull << 62, ~0ull - 1,  ~0ull};
  const std::size_t which = script.byte();
  if (which < 224) return which;
  return which < 224 + odd.size() ? odd[which - 224] : script.number();
}

// Changes one field of a message, or its body.
inline void change(Message& m, Script& script) {
  const std::size_t field = script.byte() % 14;
  if (field == 12) m.gap = !m.gap;
  if (field == 13) {
    const std::string body = script.bytes();
    m.body = to_bytes<char>(std::span(body));
  }
  if (field >= 12) return;
  const std::uint64_t number = odd_number(script);
  if (field == 0) m.type = static_cast<MessageType>(number & 0xff);
  if (field == 1) m.channel = static_cast<std::uint32_t>(number);
  const std::array numbers{&m.network,  &m.from, &m.to,    &m.nonce,  &m.sequence,
                           &m.sequence, &m.safe, &m.chain, &m.offset, &m.length};
  if (field >= 2) *numbers[field - 2] = number;
}

}  // namespace ticopd
