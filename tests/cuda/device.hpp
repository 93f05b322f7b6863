#pragma once

#include <gtest/gtest.h>

#include "ticopd/cuda/cuda.hpp"
#include "ticopd/error.hpp"

namespace ticopd {

// Why the tests of this program cannot run here; empty where they can.
inline std::string why_no_device() {
  try {
    cuda::require_device();
    return "";
  } catch (const UnavailableError& e) {
    return e.what();
  }
}

}  // namespace ticopd

#define TICOPD_NEEDS_DEVICE() \
  if (const std::string why = ticopd::why_no_device(); !why.empty()) GTEST_SKIP() << why
