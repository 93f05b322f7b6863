#pragma once

#include <cstddef>

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// How many of d coordinates top_k and rand_k keep: `k`, or a fraction of d, at least one and never
// more than there are.
class SubsetSize {
 public:
  explicit SubsetSize(const CodecOptions& options);  // ConfigError unless just one is given

  std::size_t of(std::size_t d) const;
  double kept_share(std::size_t d) const;  // of ||v||^2, at least on average: k / d

 private:
  std::size_t k_;
  double fraction_;  // 0: k_ was given
};

}  // namespace ticopd
