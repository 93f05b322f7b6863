#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace ticopd::testing {

// Runs `body` once on each instruction set that the library is compiled for and this CPU has, the
// best one first. Afterwards the best one is active again.
template <class Body>
void on_every_target(Body body) {
  const std::int64_t all = hwy::SupportedTargets();
#if defined(__x86_64__)
  const std::int64_t compiled = ~std::int64_t{HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL};
#else
  const std::int64_t compiled = ~std::int64_t{HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128};
#endif
  for (std::int64_t left = all & compiled; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    SCOPED_TRACE(std::string("on ") + hwy::TargetName(target));
    body();
    if (::testing::Test::HasFatalFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(all);
}

// Compares bit by bit: equal NaNs are equal, and 0 differs from -0.
inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace ticopd::testing
