#pragma once

#include <cstddef>

#include "ticopd/codecs/codec.hpp"

namespace ticopd {

// How many of d coordinates top_k and rand_k keep: `k`, or a fraction of d; at least one and at
// most d.
class SubsetSize {
 public:
  explicit SubsetSize(const CodecOptions& options);  // ConfigError unless just one is given

  std::size_t of(std::size_t d) const;
  double kept_share(std::size_t d) const;  // k / d, the share of ||v||^2 at least on average

 private:
  std::size_t k_;
  double fraction_;  // 0: k_ was given
};

}  // namespace ticopd
