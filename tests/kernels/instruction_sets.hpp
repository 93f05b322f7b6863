#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace ticopd {

// Runs `test` once for each instruction set that the vector code was compiled for and this machine
// has, and leaves the choice as it was.
template <class Test>
void on_every_instruction_set(const Test& test) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace ticopd
