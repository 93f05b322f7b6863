#pragma once

#include <cstdint>
#include <string>

#include "ticopd/site/world.hpp"

namespace ticopd {

// A file in a site's folder that says why the run has ended, so that the site says it again when it
// is started again. It counts for one run in one epoch.
class EndNote {
 public:
  explicit EndNote(Store& store) : store_(store) {}

  std::string read(std::uint64_t network);  // empty: there is none for this run
  void write(std::uint64_t network, const std::string& reason);  // DiskError

 private:
  Store& store_;
};

}  // namespace ticopd
