#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "ticopd/cuda/cuda.hpp"
#include "ticopd/error.hpp"

namespace ticopd {

// The reason why these tests cannot run on this machine; empty if they can.
inline std::string why_no_device() {
  try {
    cuda::require_device();
    return "";
  } catch (const UnavailableError& e) {
    return e.what();
  }
}

// True under a tool that makes the device a thousand times slower (sanitize.py sets the variable).
// Long tests then run the same kernels fewer times.
inline bool briefly() {
  return std::getenv("TICOPD_TEST_BRIEFLY") != nullptr;
}

// Runs work(0) and work(1), each in its own thread. Under compute-sanitizer (sanitize.py sets the
// variable) they run one after the other: the tool loses track when two threads launch graphs at
// once.
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
