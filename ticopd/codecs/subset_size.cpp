#include "ticopd/codecs/subset_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/error.hpp"

namespace ticopd {

SubsetSize::SubsetSize(const CodecOptions& options)
    : k_(options.k.value_or(0)), fraction_(options.fraction.value_or(0)) {
  if (options.k && options.fraction)
    throw ConfigError(
        fmt::format("codec.k = {} and codec.fraction = {}: {} takes one of them, not both",
                    *options.k, *options.fraction, options.kind));
  if (!options.k && !options.fraction)
    throw ConfigError(fmt::format("codec.k or codec.fraction: {} needs one of them", options.kind));
}

std::size_t SubsetSize::of(std::size_t d) const {
  const std::size_t share =
      fraction_ > 0 ? static_cast<std::size_t>(std::floor(fraction_ * static_cast<double>(d))) : k_;
  return std::min(d, std::max<std::size_t>(1, share));
}

double SubsetSize::kept_share(std::size_t d) const {
  return d == 0 ? 1.0 : static_cast<double>(of(d)) / static_cast<double>(d);
}

}  // namespace ticopd
