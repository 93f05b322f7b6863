#include "ticopd/system/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace ticopd {
namespace {

// Linux keeps the peak apart from the present size and less exactly. Threads that take memory on
// several processors bring the two apart.
TEST(Memory, PeakIsNeverBelowWhatWasSeen) {
  std::size_t most = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::vector<std::vector<char>> blocks(8);
    {
      std::vector<std::jthread> threads;
      for (auto& block : blocks) threads.emplace_back([&block] { block.assign(1 << 20, 'x'); });
    }
    most = std::max(most, resident_bytes());
    blocks.clear();
    EXPECT_GE(peak_resident_bytes(), most);
  }
  EXPECT_GT(most, 0u);
}

}  // namespace
}  // namespace ticopd
