#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace ticopd {

// Runs `test` once on each instruction set that the vector code was compiled for and this machine
// has. Afterwards the best one is active again.
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
