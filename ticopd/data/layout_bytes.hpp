#pragma once

#include <cstddef>
#include <string>

namespace ticopd {

// Samples in memory: the name of a layout, and its bytes.
struct LayoutBytes {
  std::string layout;
  std::size_t bytes;
};

}  // namespace ticopd
