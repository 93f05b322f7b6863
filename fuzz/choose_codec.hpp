#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// What follows the kinds of the table: a codec of the values that another keeps.
inline constexpr std::array<std::pair<const char*, const char*>, 4> fuzzed_compositions{
    {{"top_k", "qsgd"}, {"top_k", "natural"}, {"threshold", "infinity"}, {"rand_k", "norm_sign"}}};

inline std::size_t fuzzed_kinds() {
  return codec_table().size() + fuzzed_compositions.size();
}

// The codec that two bytes of an input choose. Never one that make_codec refuses.
inline CodecOptions choose_codec(std::uint8_t kind, std::uint8_t choice) {
  const auto table = codec_table();
  const std::size_t number = kind % fuzzed_kinds();
  CodecOptions o;
  if (number < table.size())
    o.kind = table[number].kind;
  else
    std::tie(o.kind, o.then) = fuzzed_compositions[number - table.size()];
  o.bits = 1 + choice % 16;
  o.scaled = (choice & 16) != 0;
  o.unbiased = (choice & 16) != 0;
  o.bucket = (choice & 32) != 0 ? 1 + choice / 8 : 0;
  if ((choice & 64) != 0)
    o.k = 1 + choice % 32;
  else
    o.fraction = (1 + choice % 64) / 64.0;
  o.threshold = (choice & 16) != 0 ? 0.25 : 0.01;
  o.p = (choice & 16) != 0 ? 0.75 : 0.25;
  o.omega = (choice % 8) / 8.0;
  o.step = (choice & 16) != 0 ? 1e-3 : 1e20;
  o.kappa = (choice & 16) != 0 ? 0.5 : 1;
  if ((choice & 128) != 0 && has_coding(o.kind))
    o.coding = (choice & 1) != 0 ? Coding::entropy : Coding::elias;
  return o;
}

// For the names of files.
inline std::string name_of(const CodecOptions& o) {
  return o.then.empty() ? o.kind : o.kind + "_then_" + o.then;
}

}  // namespace ticopd
