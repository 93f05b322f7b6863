#pragma once

#include <chrono>

namespace ticopd {

// Seconds on a clock that never goes back; only differences are meaningful.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace ticopd
