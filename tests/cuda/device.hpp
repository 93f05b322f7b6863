#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

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

// Under a tool that makes the device a thousand times slower (sanitize.py sets this): long tests
// then go through the same kernels fewer times.
inline bool briefly() {
  return std::getenv("TICOPD_TEST_BRIEFLY") != nullptr;
}

// work(0) and work(1), each in a thread of its own. Under compute-sanitizer (sanitize.py sets this)
// one after the other: it loses track where two threads launch graphs at once.
template <class Work>
void in_two_threads(const Work& work) {
  std::thread first(work, 0);
  if (std::getenv("TICOPD_TEST_IN_TURN") != nullptr) first.join();
  std::thread second(work, 1);
  second.join();
  if (first.joinable()) first.join();
}

}  // namespace ticopd

#define TICOPD_NEEDS_DEVICE() \
  if (const std::string why = ticopd::why_no_device(); !why.empty()) GTEST_SKIP() << why
