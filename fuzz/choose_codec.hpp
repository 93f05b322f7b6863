#pragma once

#include <cstdint>

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// The codec that two bytes of an input choose. Never one that make_codec refuses.
inline CodecOptions choose_codec(std::uint8_t kind, std::uint8_t choice) {
  const auto table = codec_table();
  CodecOptions o;
  o.kind = table[kind % table.size()].kind;
  o.bits = 1 + choice % 16;
  o.scaled = (choice & 16) != 0;
  o.unbiased = (choice & 16) != 0;
  o.bucket = (choice & 32) != 0 ? 1 + choice / 8 : 0;
  if ((choice & 64) != 0)
    o.k = 1 + choice % 32;
  else
    o.fraction = (1 + choice % 64) / 64.0;
  return o;
}

}  // namespace ticopd
