#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ticopd/site/site_state.hpp"
#include "ticopd/site/world.hpp"

namespace ticopd {

// The two newest checkpoints of a site in its folder. A new one is written, flushed and given its
// name before the oldest is removed, so that a site always finds a whole one; the frames that it
// says are safe are those that the older of the two has consumed.
class Generations {
 public:
  explicit Generations(Store& store);

  // The newest that is whole; empty: there is none.
  struct Found {
    Bytes bytes;
    SiteState state;
  };
  std::optional<Found> newest();

  // DiskError if it could not be written; the old ones are then still there.
  void write(std::span<const std::byte> bytes);

 private:
  Store& store_;
  std::vector<std::uint64_t> whole_;  // ascending
  std::uint64_t last_ = 0;            // the highest number that a file has, whole or not
};

}  // namespace ticopd
