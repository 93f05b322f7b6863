#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

struct FuzzedCodec {
  std::string_view kind;
  std::string_view then = "";  // the codec for the values that `kind` keeps
};

// An input names its codec by the index in this list. Append new codecs at the end, in any order
// with respect to the library's table: otherwise stored inputs would mean another codec. Numbers
// beyond the end wrap around to 0, so a stored input must contain the exact index.
inline constexpr std::array fuzzed_codecs{
    FuzzedCodec{"identity"},
    FuzzedCodec{"qsgd"},
    FuzzedCodec{"top_k"},
    FuzzedCodec{"rand_k"},
    FuzzedCodec{"sign"},
    FuzzedCodec{"natural"},
    FuzzedCodec{"norm_sign"},
    FuzzedCodec{"random_gossip"},
    FuzzedCodec{"adaptive"},
    FuzzedCodec{"threshold"},
    FuzzedCodec{"grid"},
    FuzzedCodec{"infinity"},
    FuzzedCodec{"top_k", "qsgd"},
    FuzzedCodec{"top_k", "natural"},
    FuzzedCodec{"threshold", "infinity"},
    FuzzedCodec{"rand_k", "norm_sign"},
};
static_assert(fuzzed_codecs.size() <= 64, "fuzz_mirror has six bits for the number");

// The codec that two bytes of an input choose. make_codec accepts all of them.
inline CodecOptions choose_codec(std::uint8_t number, std::uint8_t choice) {
  const auto [kind, then] = fuzzed_codecs[number % fuzzed_codecs.size()];
  CodecOptions o;
  o.kind = kind;
  o.then = then;
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

// The name of the codec in file names.
inline std::string name_of(const CodecOptions& o) {
  return o.then.empty() ? o.kind : o.kind + "_then_" + o.then;
}

}  // namespace ticopd
