#pragma once

#include "ticopd/codecs/bit_stream.hpp"

namespace ticopd {

// The offsets of the parts of a payload: `norms` floats, a plane of levels and a plane of signs.
struct PlaneOffsets {
  constexpr PlaneOffsets(std::size_t norms, std::size_t d, unsigned level_bits,
                         bool has_signs = true)
      : levels_at(norms * sizeof(float)),
        signs_at(levels_at + plane_bytes(d, level_bits)),
        bytes(signs_at + (has_signs ? plane_bytes(d, 1) : 0)) {}

  std::size_t levels_at, signs_at, bytes;
};

}  // namespace ticopd
