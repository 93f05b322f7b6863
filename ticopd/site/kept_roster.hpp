#pragma once

#include "ticopd/site/world.hpp"

namespace ticopd {

// The newest signed roster that a site has taken, as a file of its folder. It is kept before
// anything is done because of it: a site must not forget whom it follows.
class KeptRoster {
 public:
  explicit KeptRoster(Store& store) : store_(store) {}

  Bytes read();                                          // empty: there is none
  void write(std::span<const std::byte> signed_roster);  // DiskError: it may not be acted on

 private:
  Store& store_;
};

}  // namespace ticopd
